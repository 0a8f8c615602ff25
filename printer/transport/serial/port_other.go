//go:build !linux

package serial

import (
	"fmt"
	"runtime"

	"chit/printer/transport"
)

// openPort fails: the settings are Linux's.
func openPort(path string, _ Settings) (transport.Conn, error) {
	return nil, fmt.Errorf("%s on %s: %w", path, runtime.GOOS, transport.ErrNotBuilt)
}
