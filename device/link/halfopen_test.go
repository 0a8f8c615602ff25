package link

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/wire"
)

// halfOpen is a proxy that stops carrying bytes, both ways, without closing anything.
func halfOpen(t *testing.T, to string) (address string, freeze func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	frozen := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	over := false
	carry := func(from, to net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			select {
			case <-frozen:
				return // Neither end is closed, nor ever read again.
			default:
			}
			if err != nil {
				to.Close()
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				from.Close()
				return
			}
		}
	}
	wg.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(to, "tcp://"))
			if err != nil {
				in.Close()
				return
			}
			mu.Lock()
			conns = append(conns, in, out)
			if over { // The clean-up has been round already.
				in.Close()
				out.Close()
			}
			mu.Unlock()
			wg.Go(func() { carry(in, out) })
			wg.Go(func() { carry(out, in) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		over = true
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	var once sync.Once
	return "tcp://" + listener.Addr().String(), func() { once.Do(func() { close(frozen) }) }
}

func TestAHalfOpenLinkIsNoticedIdleAndUnderLoad(t *testing.T) {
	for _, load := range []bool{false, true} {
		t.Run(fmt.Sprint("load ", load), func(t *testing.T) {
			t.Parallel()
			e, k := newEngine(t), newKitchen()
			address, freeze := halfOpen(t, e.address())
			ctx, cancel := context.WithCancel(t.Context())
			l, _ := start(t, e, k, func(c *Config) {
				c.Address, c.AckQoS = address, 0
				c.KeepAlive, c.PingTimeout = time.Second, 500*time.Millisecond
				c.WriteTimeout = 500 * time.Millisecond
				c.PublishTimeout = time.Second
			})
			e.greeted()
			within(t, k.ups, "Up")
			freeze()
			var wg sync.WaitGroup
			if load {
				wg.Go(func() {
					for ctx.Err() == nil {
						_ = l.Publish(ctx, wire.LeafAck, make([]byte, wire.MessageMax))
					}
				})
			}
			within(t, k.downs, "Down on a half-open link")
			cancel()
			wg.Wait()
		})
	}
}
