package faults

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"chit/printer/transport/transporttest"
	"chit/printer/transport/usb"
	"chit/printer/virtual"
)

// usbBench is a printer behind Linux's usblp, whose device appears and goes with its power and its
// cable.
type usbBench struct {
	*usb.Dialer
	m      *machine
	tree   *transporttest.Tree
	device transporttest.Device
	lp     *transporttest.LP
	detach func() // nil while it is out
	over   chan struct{}
	tasks  sync.WaitGroup
}

// node is the device's name while it is in.
const node = "lp0"

func newUSB(t *testing.T, c virtual.Config) bench {
	mute := slices.ContainsFunc(c.Faults, func(f virtual.Fault) bool { return f.Name == virtual.Mute })
	b := &usbBench{m: newMachine(c), tree: transporttest.NewTree(t), over: make(chan struct{}),
		lp: transporttest.NewLP(mute),
		device: transporttest.Device{Port: "1-1.2", Vendor: "04b8", Product: "0e15", Serial: "A1",
			Maker: "EPSON", Model: "TM-T20II"}}
	if mute {
		b.device.Protocol = "01"
	}
	match, err := usb.ParseMatch("04b8:0e15:A1")
	if err != nil {
		t.Fatal(err)
	}
	b.Dialer = usb.New(match, usb.Config{
		Roots: usb.Roots{Sys: b.tree.Root + "/sys", Dev: b.tree.Root + "/dev",
			Proc: b.tree.Root + "/proc"},
		Open: func(string) (usb.Node, error) {
			f, err := b.lp.Open()
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	})
	b.look()
	b.tasks.Go(func() {
		const every = 500 * time.Millisecond
		for {
			select {
			case <-b.over:
				return
			case <-time.After(every):
				b.look()
			}
		}
	})
	return b
}

// look plugs the device in or out as power and cable are.
func (b *usbBench) look() {
	b.m.mu.Lock()
	b.m.p.Advance(time.Now())
	want, have := b.m.p.On() && !b.m.cut, b.m.line != nil
	b.lp.Paper(!slices.Contains(b.m.p.Wrong(), virtual.PaperOut))
	switch {
	case want && b.detach == nil:
		host, line := net.Pipe()
		b.m.plug(line)
		b.lp.Plug()
		b.tree.Plug(b.device, node)
		b.detach = b.lp.Attach(host)
	case b.detach != nil && (!want || !have):
		detach := b.detach
		b.detach = nil
		b.m.mu.Unlock()
		b.lp.Unplug()
		b.tree.Unplug(b.device.Port, node)
		detach()
		return
	}
	b.m.mu.Unlock()
}

func (b *usbBench) printer() *machine { return b.m }

func (b *usbBench) pull() { b.set(true) }
func (b *usbBench) push() { b.set(false) }

func (b *usbBench) set(cut bool) {
	b.m.mu.Lock()
	b.m.cut = cut
	b.m.mu.Unlock()
}

// Close takes the device out for good.
func (b *usbBench) Close() error {
	close(b.over)
	b.tasks.Wait()
	if b.detach != nil {
		b.lp.Unplug()
		b.detach()
	}
	return nil
}
