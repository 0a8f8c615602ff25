package neighbour

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Sweep says how hosts are asked. Zero fields take their defaults.
type Sweep struct {
	Port int           // default 9100
	Wait time.Duration // for a connection and for each answer; default 700 ms
	Gap  time.Duration // between two addresses; default Gap
	// Skip are far ends that must not be disturbed.
	Skip map[netip.AddrPort]bool
	// IPP is the port by which an office printer is known; below 0: everybody is asked. Default
	// 631.
	IPP int
	// Progress hears how many hosts are done. It is called by one goroutine at a time.
	Progress func(done, total int)
}

const (
	portDefault = 9100
	ippDefault  = 631
	waitDefault = 700 * time.Millisecond
	askersMax   = 32 // connections at once
)

func (s Sweep) withDefaults() Sweep {
	if s.Port == 0 {
		s.Port = portDefault
	}
	if s.IPP == 0 {
		s.IPP = ippDefault
	}
	if s.Wait <= 0 {
		s.Wait = waitDefault
	}
	if s.Gap <= 0 {
		s.Gap = Gap
	}
	if s.Progress == nil {
		s.Progress = func(int, int) {}
	}
	return s
}

// Listener is a host that listens on the port.
type Listener struct {
	Address netip.AddrPort
	Answer  Answer
	// Unasked says why it was not asked; empty where it was.
	Unasked Reason
	// Err is what went wrong with asking.
	Err error
}

// Reason is why a listener was not asked.
type Reason string

// The reasons.
const (
	InUse  Reason = "in use by a program on this machine"
	Office Reason = "speaks IPP as office printers do"
)

// Run asks all hosts and returns those that listen, by address. It ends early with ctx.
func (s Sweep) Run(ctx context.Context, hosts []netip.Addr) []Listener {
	s = s.withDefaults()
	var (
		mu    sync.Mutex
		found []Listener
		done  int
		tasks sync.WaitGroup
		slots = make(chan struct{}, askersMax)
	)
	tick := time.NewTicker(s.Gap)
	defer tick.Stop()
	for _, host := range hosts {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		tasks.Go(func() {
			l, there := s.visit(ctx, netip.AddrPortFrom(host, uint16(s.Port)))
			<-slots
			mu.Lock()
			defer mu.Unlock()
			if there {
				found = append(found, l)
			}
			done++
			s.Progress(done, len(hosts))
		})
	}
	tasks.Wait()
	slices.SortFunc(found, func(a, b Listener) int { return a.Address.Compare(b.Address) })
	return found
}

// visit asks one host; false where nobody listens.
func (s Sweep) visit(ctx context.Context, at netip.AddrPort) (Listener, bool) {
	if s.Skip[at] {
		return Listener{Address: at, Unasked: InUse}, true
	}
	dialer := net.Dialer{Timeout: s.Wait}
	c, err := dialer.DialContext(ctx, "tcp4", at.String())
	if err != nil {
		return Listener{}, false
	}
	defer c.Close()
	if s.IPP > 0 {
		office := netip.AddrPortFrom(at.Addr(), uint16(s.IPP))
		if other, err := dialer.DialContext(ctx, "tcp4", office.String()); err == nil {
			other.Close()
			return Listener{Address: at, Unasked: Office}, true
		}
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	answer, err := Ask(c, s.Wait)
	return Listener{Address: at, Answer: answer, Err: err}, true
}
