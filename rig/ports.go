package rig

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Where ports are looked for: below the range that the kernel hands to outgoing connections, so
// that a program may end and come back to its port without finding somebody's connection on it.
const (
	portMin    = 12000
	portMax    = 32000
	portsTries = 200
)

// ErrPorts says that no free port was found.
var ErrPorts = errors.New("no free loopback port")

// FreePorts chooses n loopback addresses that nobody listens on now, host:port. They are not held:
// whoever listens on them must be ready to lose the race and to ask again.
func FreePorts(n int) ([]string, error) {
	low, high := portMin, min(portMax, ephemeralMin())
	var out []string
	for range portsTries {
		if len(out) == n {
			return out, nil
		}
		address := fmt.Sprintf("127.0.0.1:%d", low+rand.IntN(high-low))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		defer l.Close() // Held until all are chosen, so that no two are the same.
		out = append(out, address)
	}
	return nil, fmt.Errorf("%w: %d tries between %d and %d", ErrPorts, portsTries, low, high)
}

// ephemeralMin is where the kernel's own range begins, as far as the machine tells it.
func ephemeralMin() int {
	raw, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return portMax
	}
	var low int
	if _, err := fmt.Sscan(string(raw), &low); err != nil || low <= portMin {
		return portMax
	}
	return low
}
