// Command chit-broker is the cloud broker: it takes orders in over HTTP, owes them to kitchens and
// keeps what could not be delivered.
package main

import (
	"os"
	_ "time/tzdata" // Small systems have no zone files.

	"chit/broker/program"
)

// version is set by the linker; empty stands for what the build knows of itself.
var version string

func main() {
	os.Exit(program.Main("chit-broker", version, os.Args[1:], os.Stdout, os.Stderr))
}
