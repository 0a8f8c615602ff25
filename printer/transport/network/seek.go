package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"chit/printer/transport"
	"chit/printer/transport/neighbour"
)

// Unit is which printer is wanted, whatever its address. The zero value takes any.
type Unit struct {
	// MAC is its hardware address, in neighbour.ParseMAC's spelling. It is seen only in the
	// machine's own networks; behind a router it is not checked.
	MAC string
	// Serial is its serial number as it says it itself (GS I). Only a session that asks for it can
	// tell; see [transport.Recogniser].
	Serial string
}

// Config is where and how a printer that moved is looked for. Zero fields are this machine's.
type Config struct {
	Proc string // default /proc
	// Networks are those the machine is in.
	Networks func() ([]neighbour.Network, error)
	Gap      time.Duration // default neighbour.Gap
	Wait     time.Duration // for each answer of a listener; default neighbour's
	IPP      int           // see neighbour.Sweep
	Now      func() time.Time
	Resolver *net.Resolver // default Go's own
}

// The pauses between two searches, doubling: a printer that is switched off for the night costs a
// few hundred small packets each time.
const (
	SearchMin = 30 * time.Second
	SearchMax = 10 * time.Minute
	// searchTimeout bounds one search, which may not hold up the next dial for long.
	searchTimeout = 20 * time.Second
	// strangerFor is how long an address at which another unit answered is not tried first again.
	strangerFor = 10 * time.Minute
)

// Errors of a printer that must be one certain unit.
var (
	// ErrMoved says that the printer is not at the address of its URL; the wrapping error says
	// where it was looked for.
	ErrMoved = errors.New("the printer is not there any more")
)

func (c Config) withDefaults() Config {
	if c.Proc == "" {
		c.Proc = "/proc"
	}
	if c.Networks == nil {
		c.Networks = neighbour.Own
	}
	if c.Gap <= 0 {
		c.Gap = neighbour.Gap
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// whereabouts is what a dialer knows of a unit that may move. The dialer's lock guards it.
type whereabouts struct {
	last      netip.AddrPort               // where it was found by search
	strangers map[netip.AddrPort]time.Time // where another unit answered, and when
	searches  int                          // without success since it was there
	next      time.Time                    // not before then
}

// dialUnit dials the unit where it was last, then where the URL says, then where a search finds it.
func (d *Dialer) dialUnit(ctx context.Context) (transport.Conn, error) {
	var failed []error
	if last := d.lastSeen(); last.IsValid() {
		c, err := d.connect(ctx, last.String())
		if err == nil {
			return c, nil
		}
		failed = append(failed, err)
	}
	c, err := d.connect(ctx, d.address)
	if err == nil {
		d.forget()
		return c, nil
	}
	failed = append(failed, err)
	if ctx.Err() != nil {
		return nil, err
	}
	if d.unit.MAC != "" && d.stillThere(ctx) {
		return nil, errors.Join(failed...) // It has not moved: it starts, or serves another.
	}
	found, err := d.search(ctx)
	if err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	c, err = d.connect(ctx, found.String())
	if err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	d.settle(found)
	return c, nil
}

// stillThere is true where the kernel has the unit's hardware address at the URL's host.
func (d *Dialer) stillThere(ctx context.Context) bool {
	home, err := d.resolve(ctx)
	return err == nil && neighbour.Table(d.conf.Proc)[home] == d.unit.MAC
}

func (d *Dialer) lastSeen() netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.where.last
}

// forget is the printer at its own address again.
func (d *Dialer) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.where.last, d.where.searches, d.where.next = netip.AddrPort{}, 0, time.Time{}
}

func (d *Dialer) settle(at netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.where.last, d.where.searches, d.where.next = at, 0, time.Time{}
}

// check refuses a connection whose far end is known to be another unit.
func (d *Dialer) check(at netip.AddrPort) error {
	d.mu.Lock()
	met, strange := d.where.strangers[at]
	d.mu.Unlock()
	if strange && d.conf.Now().Sub(met) < strangerFor {
		return fmt.Errorf("network: another printer answers at %s: %w", at, transport.ErrStranger)
	}
	if d.unit.MAC == "" {
		return nil
	}
	mac, known := neighbour.Table(d.conf.Proc)[at.Addr()]
	if known && mac != d.unit.MAC {
		return fmt.Errorf("network: %s is the machine %s, not %s: %w", at, mac, d.unit.MAC,
			transport.ErrStranger)
	}
	return nil
}

// reject notes that another unit answered at an address.
func (d *Dialer) reject(at netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.where.strangers == nil {
		d.where.strangers = map[netip.AddrPort]time.Time{}
	}
	now := d.conf.Now()
	for a, met := range d.where.strangers {
		if now.Sub(met) >= strangerFor {
			delete(d.where.strangers, a)
		}
	}
	d.where.strangers[at] = now
	if d.where.last == at {
		d.where.last = netip.AddrPort{}
	}
}

// due claims the next search, or says when it is.
func (d *Dialer) due() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.conf.Now()
	if now.Before(d.where.next) {
		return d.where.next, false
	}
	pause := SearchMin
	for range d.where.searches {
		pause = min(2*pause, SearchMax)
	}
	d.where.searches++
	d.where.next = now.Add(pause)
	return d.where.next, true
}

// search looks for the unit in the machine's own networks.
func (d *Dialer) search(ctx context.Context) (netip.AddrPort, error) {
	now := d.conf.Now()
	next, due := d.due()
	wait := next.Sub(now).Round(time.Second)
	if !due {
		return netip.AddrPort{}, fmt.Errorf("network: %w; it is looked for again in %s", ErrMoved, wait)
	}
	hosts, err := d.hosts(ctx)
	if err != nil {
		return netip.AddrPort{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	if at, found := d.lookFor(ctx, hosts); found {
		return at, nil
	}
	return netip.AddrPort{}, fmt.Errorf("network: %w: %d addresses of the own networks do not have "+
		"it; it is looked for again in %s", ErrMoved, len(hosts), wait)
}

func (d *Dialer) lookFor(ctx context.Context, hosts []netip.Addr) (netip.AddrPort, bool) {
	if d.unit.MAC != "" {
		a, found := neighbour.Seek(ctx, d.conf.Proc, d.unit.MAC, hosts, d.conf.Gap)
		return netip.AddrPortFrom(a, uint16(d.port)), found
	}
	sweep := neighbour.Sweep{Port: d.port, Gap: d.conf.Gap, Wait: d.conf.Wait, IPP: d.conf.IPP,
		Skip: neighbour.Connected(d.conf.Proc)}
	for _, l := range sweep.Run(ctx, hosts) {
		if l.Answer.Serial != "" && transport.Plain(l.Answer.Serial) == transport.Plain(d.unit.Serial) {
			return l.Address, true
		}
	}
	return netip.AddrPort{}, false
}

// hosts are the addresses to look at: of the network that the URL's address is in, else of all that
// are small enough, without the machine's own.
func (d *Dialer) hosts(ctx context.Context) ([]netip.Addr, error) {
	own, err := d.conf.Networks()
	if err != nil {
		return nil, err
	}
	home, err := d.resolve(ctx)
	if err != nil {
		home = netip.Addr{} // A name that is gone says nothing of where the printer is.
	}
	var near, all []netip.Addr
	for _, n := range own {
		hosts := slices.DeleteFunc(neighbour.Hosts(neighbour.Around(n.Prefix, home)),
			func(a netip.Addr) bool { return a == n.Own })
		switch {
		case home.IsValid() && n.Prefix.Contains(home):
			near = append(near, hosts...)
		case n.Prefix.Bits() >= neighbour.BitsMin:
			all = append(all, hosts...)
		}
	}
	switch {
	case len(near) > 0:
		return near, nil
	case len(all) > 0 && !home.IsValid():
		return all, nil
	}
	return nil, fmt.Errorf("network: %w: %s is in no network of this machine, so it cannot be "+
		"looked for", ErrMoved, d.host)
}
