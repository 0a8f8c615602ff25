package faults

import (
	"context"
	"net"
	"testing"
	"time"

	"chit/printer/transport"
	"chit/printer/virtual"
)

// tcp is a printer behind a network board, in the bubble's time.
type tcp struct {
	m     *machine
	dials int
}

func newTCP(_ *testing.T, c virtual.Config) bench {
	m := newMachine(c)
	m.ghosts = true
	return &tcp{m: m}
}

func (b *tcp) Name() string      { return "tcp://printer" }
func (b *tcp) TwoWay() bool      { return true }
func (b *tcp) printer() *machine { return b.m }

func (b *tcp) Dial(context.Context) (transport.Conn, error) {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.m.p.Advance(time.Now())
	if !b.m.p.On() || b.m.cut || b.m.line != nil {
		return nil, errNoRoute
	}
	b.dials++
	host, line := net.Pipe()
	b.m.plug(line)
	return host, nil
}

// pull cuts the cable. Bytes under way wait for it to be mended until the kernel gives them up.
func (b *tcp) pull() {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.m.cut = true
	line := b.m.line
	if line == nil {
		return
	}
	b.m.running.Go(func() {
		<-time.After(userTimeout)
		b.m.mu.Lock()
		still := b.m.cut && b.m.line == line
		b.m.mu.Unlock()
		if still {
			b.m.hangUp(line)
		}
	})
}

func (b *tcp) push() {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.m.cut = false
	b.m.notify()
}
