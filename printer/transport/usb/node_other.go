//go:build !linux

package usb

import (
	"fmt"
	"runtime"

	"chit/printer/transport"
)

// openNode fails: usblp is Linux's.
func openNode(path string) (Node, error) {
	return nil, fmt.Errorf("usb: opening %s on %s: %w", path, runtime.GOOS, transport.ErrNotBuilt)
}
