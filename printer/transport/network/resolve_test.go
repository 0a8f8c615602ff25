package network

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"chit/printer/transport"
)

// names is a name server that gives every name the address that it holds now (RFC 1035 section 4).
func names(t *testing.T, address *atomic.Value) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		p := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(p)
			if err != nil {
				return
			}
			if _, err := server.WriteTo(answer(p[:n], address.Load().(string)), from); err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		server.Close()
		tasks.Wait()
	})
	return &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
		}}
}

// answer repeats the question; to one for an A record it adds the address.
func answer(question []byte, address string) []byte {
	const header = 12
	end := header
	for end < len(question) && question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 5 // The root, type and class.
	out := append([]byte{}, question[:end]...)
	out[2], out[3] = 0x84, 0x00                                        // an authoritative answer
	copy(out[4:header], []byte{0, 1, 0, 0, 0, 0, 0, 0})                // one question
	if kind := question[end-4 : end-2]; kind[0] == 0 && kind[1] == 1 { // A
		out[7] = 1
		out = append(out, 0xC0, header, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4) // kept for an hour
		out = append(out, net.ParseIP(address).To4()...)
	}
	return out
}

// A router that gives the printer a new address also gives its name that address.
func TestANameIsResolvedAtEachDial(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", grillMAC, "A1")
	s.place("127.0.10.3", grillMAC, "A1")
	var now atomic.Value
	now.Store("127.0.10.2")
	s.conf.Resolver = names(t, &now)
	d := NewUnit("printer.kitchen.example.", s.port, Unit{}, s.conf)
	for _, want := range []string{"127.0.10.2", "127.0.10.3"} {
		now.Store(want)
		c, err := d.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		where, moved := c.(transport.Placed).Place()
		if !strings.HasPrefix(where, want+":") || moved {
			t.Errorf("at %s, moved %v, want %s", where, moved, want)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
