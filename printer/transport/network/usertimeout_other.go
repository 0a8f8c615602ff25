//go:build !linux

package network

import (
	"net"
	"time"
)

// setUserTimeout does nothing where the system has no such option; keepalives still work.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }
