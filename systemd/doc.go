// Package systemd holds the units of the two programs and the files that go with them; its tests
// read them as systemd does. Where each file is installed stands in its first lines.
package systemd

import "embed"

// Units are chitd.service and chit-broker.service, for programs that install themselves.
//
//go:embed *.service
var Units embed.FS
