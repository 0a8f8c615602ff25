package rig

import (
	"net"
	"strconv"
	"testing"
)

func TestFreePortsAreFreeAndApartFromTheKernelsOwn(t *testing.T) {
	addresses, err := FreePorts(20)
	if err != nil || len(addresses) != 20 {
		t.Fatalf("%v, %v", addresses, err)
	}
	for _, address := range addresses {
		l, err := net.Listen("tcp", address) // Held, so that the same one twice would fail.
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, text, _ := net.SplitHostPort(address)
		if port, err := strconv.Atoi(text); err != nil || port >= ephemeralMin() {
			t.Errorf("%s is in the range of outgoing connections", address)
		}
	}
}
