package crash

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/intake"
	"chit/device/wire"
	"chit/printer/virtual"
	"chit/rig"
)

// The longest from handing a ticket to the primary to the backup's paper: where its device is gone
// or stuck, and where its printer is held, for which people have a minute.
const (
	paperWithin = 17 * time.Second
	heldWithin  = delivery.HeldMax + 5*time.Second
)

// failover is an installation of two devices, of which the bar's takes over for the grill's.
type failover struct {
	*testing.T
	ctx           context.Context
	rig           *rig.Rig
	grill, bar    *rig.Unit
	moves, stayed int
	slowest       time.Duration
	restarted     time.Time // when the broker was started after a death
}

// mishap is one way for the primary to fail.
type mishap struct {
	name string
	// point is the failpoint that the primary's device dies at, at the nth passage; stuck is true
	// where it stops there and is continued later.
	point string
	nth   int
	stuck bool
	// broker is the broker's failpoint that is passed because of it.
	broker string
	// again is where the device dies once more when it comes back, later where the broker does then.
	again, later string
	// fault is the printer's trouble; cut and frozen are the network's, once the ticket is at work.
	// early is true where the cable is cut before there is a ticket.
	fault              virtual.Fault
	cut, frozen, early bool

	within time.Duration
	// shy is true where the primary is not believed to be well again as soon as it is: the next
	// ticket may go to the backup too.
	shy bool
}

// failovers starts installations for lists of mishaps, each list on one of its own.
func failovers(t *testing.T, lists map[string][]mishap) {
	t.Helper()
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFailover(t)
			for round := range max(1, *rounds/10) {
				for _, m := range list {
					m.nth = max(m.nth, 1) + round%2
					f.meet(m)
				}
			}
			f.judge()
		})
	}
}

func newFailover(t *testing.T) *failover {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patienceFor(*rounds))
	t.Cleanup(cancel)
	dir := t.TempDir()
	f := &failover{T: t, ctx: ctx, rig: install(ctx, t, rig.Config{Dir: dir,
		Stations: []string{"grill", "bar"}, Backups: map[string]string{"grill": "bar"}})}
	f.grill, f.bar = f.unit(dir, "grill"), f.unit(dir, "bar")
	// As in newKiller: an odometer is trusted once it has counted right.
	f.post(order("first", 1, "grill", wire.KindNew), order("second", 1, "bar", wire.KindNew))
	for _, station := range []string{"first grill", "second bar"} {
		name, station, _ := strings.Cut(station, " ")
		f.settled(name+"/1", station)
	}
	return f
}

func (f *failover) unit(dir, name string) *rig.Unit {
	f.Helper()
	u, err := f.rig.Unit(f.ctx, rig.UnitConfig{Name: name, Stations: []string{name},
		Program: []string{filepath.Join(programs, "chitd")},
		Env:     []string{failpointVariable + "=@" + filepath.Join(dir, name+".failpoint")}})
	if err != nil {
		f.Fatal(err)
	}
	return u
}

func (f *failover) post(contents ...wire.Content) {
	f.Helper()
	for _, c := range contents {
		status, err := f.rig.Post(f.ctx, c)
		if err != nil || status/100 != 2 {
			f.Fatalf("posting %s: status %d, %v", c.ID, status, err)
		}
	}
}

func (f *failover) settled(id, station string) intake.Ticket {
	f.Helper()
	got, err := f.rig.Over(f.ctx, id, station)
	if err != nil || got.State != "settled" {
		f.Fatalf("%s@%s is %s (%s), want settled: %v\n%s", id, station, got.State, got.Reason, err,
			story(got))
	}
	return got
}

// story is a ticket's life in words.
func story(t intake.Ticket) string {
	var b strings.Builder
	for _, m := range t.Timeline {
		fmt.Fprintf(&b, "%s %s %d %s %s\n", m.At.Format("15:04:05.000"), m.What, m.Attempt, m.Device,
			m.Detail)
	}
	return b.String()
}

// meet lets the primary fail with a ticket under way, waits until the ticket is on paper, brings
// the primary back and lets it print the next one.
func (f *failover) meet(m mishap) {
	f.Helper()
	f.moves++
	name := fmt.Sprintf("k%d", f.moves)
	c := order(name+"a", 1, "grill", wire.KindNew)
	for range 24 { // Long enough to be met in the middle.
		c.Items = append(c.Items, wire.Item{Quantity: 1, Name: "one of many"})
	}
	other := order(name+"b", 1, "bar", wire.KindNew)
	f.befall(m, c, other)
	got := f.settled(c.ID, c.Station)
	f.settled(other.ID, other.Station)
	f.intime(m, got)
	f.recover(m)
	f.ended(m, c)
	next := order(name+"c", 1, "grill", wire.KindNew)
	f.post(next)
	if by := f.settled(next.ID, next.Station).Device; by == f.grill.Device {
		f.said(m, c, next)
	} else if !m.shy {
		f.Errorf("%s: the ticket behind it was printed by %s, want the grill's device:\n%s", m.name, by,
			f.text("bar"))
	}
}

// befall posts the tickets and lets it happen.
func (f *failover) befall(m mishap, contents ...wire.Content) {
	f.Helper()
	if m.fault.Name != "" {
		f.must(f.rig.Printers["grill"].Raise(m.fault))
	}
	if m.point != "" {
		verb := ""
		if m.stuck {
			verb = ":stop"
		}
		armText(f.T, f.grill.Process, fmt.Sprintf("%s:%d%s", m.point, m.nth, verb))
	}
	if m.broker != "" && m.point == "" {
		f.Fatal("a broker's death needs a cause")
	}
	if m.early {
		f.grill.Cable.Cut()
		f.must(f.rig.Until(f.ctx, "the broker to miss the grill", func(ctx context.Context) bool {
			online, err := f.grill.Online(ctx)
			return err == nil && !online
		}))
	}
	f.post(contents...)
	switch {
	case m.stuck:
		f.must(f.rig.Until(f.ctx, f.grill.Name+" to be stuck at "+m.point,
			func(context.Context) bool { return f.grill.Paused() }))
	case m.point != "":
		die(f.ctx, f.T, f.grill.Process, m.point)
	case m.cut, m.frozen:
		f.atWork(contents[0])
		if m.cut {
			f.grill.Cable.Cut()
		} else {
			f.grill.Cable.Freeze()
		}
	}
	if m.broker != "" {
		arm(f.T, f.rig.Broker, m.broker, m.nth)
		die(f.ctx, f.T, f.rig.Broker, m.broker)
		f.restarted = time.Now()
		f.must(f.rig.Broker.Start())
	}
}

func (f *failover) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// atWork waits until the primary has stored the ticket.
func (f *failover) atWork(c wire.Content) {
	f.Helper()
	f.must(f.rig.Until(f.ctx, c.ID+" to be stored", func(ctx context.Context) bool {
		got, err := f.rig.Ticket(ctx, c.ID, c.Station)
		return err == nil && (moment(got, delivery.Stored) != nil || moment(got, delivery.Held) != nil)
	}))
}

// moment is the first moment of the ticket's life with this word, nil where it has none.
func moment(t intake.Ticket, what delivery.Word) *intake.Moment {
	for i, m := range t.Timeline {
		if m.What == string(what) {
			return &t.Timeline[i]
		}
	}
	return nil
}

// intime looks how long the ticket took to the backup's paper from when the primary was given it,
// and what that paper says.
func (f *failover) intime(m mishap, t intake.Ticket) {
	f.Helper()
	handed, moved := moment(t, delivery.Dispatched), moment(t, delivery.Moved)
	switch {
	case m.early:
		handed = moment(t, delivery.Accepted)
	case handed == nil || handed.Device != f.grill.Device:
		f.Fatalf("%s: %s was not handed to the grill first:\n%s", m.name, t.ID, story(t))
	}
	if moved == nil {
		f.stayed++
		f.Logf("%s: stayed, its answer had left before", m.name)
		return
	}
	p := f.paper(t.Ticket, "bar")
	if p.Moved == m.early || m.early && p.Marked {
		f.Errorf("%s: wrong marks on the backup's paper:\n%s\n%s", m.name, p.Text, story(t))
	}
	since := handed.At
	if m.broker != "" {
		since = f.restarted // It learns anew who is there before it counts absence, for 15 s.
	}
	took := p.At.Sub(since)
	f.slowest = max(f.slowest, took)
	f.Logf("%s: on the backup's paper after %v", m.name, took.Round(time.Millisecond))
	within := m.within
	if within == 0 {
		within = paperWithin
	}
	if took > within {
		f.Errorf("%s: the backup's paper came %v after the primary had the ticket, want %v:\n%s",
			m.name, took, within, story(t))
	}
}

// paper is a ticket's first paper at a station's printer.
func (f *failover) paper(ticket, station string) (found rig.Paper) {
	f.Helper()
	f.must(f.rig.Until(f.ctx, "paper of "+ticket+" at "+station, func(context.Context) bool {
		for _, sheet := range f.rig.Printers[station].Sheets() {
			if found = rig.Read(sheet); found.ID == ticket {
				return true
			}
		}
		return false
	}))
	return found
}

// recover brings the primary back.
func (f *failover) recover(m mishap) {
	f.Helper()
	if m.again != "" {
		arm(f.T, f.grill.Process, m.again, 1)
	}
	if m.later != "" {
		arm(f.T, f.rig.Broker, m.later, 1)
	}
	switch {
	case m.stuck:
		f.must(f.grill.Resume())
	case m.point != "":
		f.must(f.grill.Start())
	case m.cut, m.early:
		f.grill.Cable.Mend()
	case m.frozen:
		f.grill.Cable.Thaw()
	}
	if m.again != "" {
		die(f.ctx, f.T, f.grill.Process, m.again)
		f.must(f.grill.Start())
	}
	if m.later != "" {
		die(f.ctx, f.T, f.rig.Broker, m.later)
		f.must(f.rig.Broker.Start())
	}
	if m.fault.Name != "" {
		f.must(f.rig.Printers["grill"].Clear(m.fault.Name))
	}
	f.must(f.grill.Connected(f.ctx))
}

// ended waits until nothing is asked of the primary any more about the ticket.
func (f *failover) ended(m mishap, c wire.Content) {
	f.Helper()
	var got intake.Ticket
	err := f.rig.Until(f.ctx, "the recalls of "+c.ID+" to end", func(ctx context.Context) bool {
		var err error
		if got, err = f.rig.Ticket(ctx, c.ID, c.Station); err != nil {
			return false
		}
		open := 0
		for _, one := range got.Timeline {
			switch delivery.Word(one.What) {
			case delivery.RecallAsked:
				open++
			case delivery.RecallAnswered, delivery.RecallEnded:
				open--
			}
		}
		return open == 0
	})
	if err != nil {
		f.Fatalf("%s: %v\n%s", m.name, err, story(got))
	}
}

// said looks at the primary's paper after it came back: where a moved ticket's paper, or a piece of
// it, may be there, the next one says so, or both printers are told.
func (f *failover) said(m mishap, c, next wire.Content) {
	f.Helper()
	f.paper(next.ID+"@"+next.Station, "grill")
	got, err := f.rig.Ticket(f.ctx, c.ID, c.Station)
	f.must(err)
	if moment(got, delivery.Moved) == nil {
		return
	}
	pieces, notice := 0, false
	for _, sheet := range f.rig.Printers["grill"].Sheets() {
		text := strings.Join(strings.Fields(sheet.Text()), " ")
		if slices.Contains(strings.Fields(text), c.Order) {
			pieces++ // Also above the next ticket, on the same sheet.
		}
		notice = notice || strings.Contains(text, got.Number+" WAS MOVED TO BAR, IGNORE IF ABOVE")
	}
	if pieces > 0 && !notice && moment(got, delivery.Doubled) == nil {
		f.Errorf("%s: paper of %s (number %s) at the grill, and nothing says that it was moved:\n%s\n%s",
			m.name, c.ID, got.Number, story(got), f.text("grill"))
	}
}

// text is all paper of a printer.
func (f *failover) text(station string) string {
	var b strings.Builder
	for _, sheet := range f.rig.Printers[station].Sheets() {
		fmt.Fprintf(&b, "--- %s\n%s\n", sheet.CutAt.Format("15:04:05.000"), sheet.Text())
	}
	return b.String()
}

// judge lets the paper speak.
func (f *failover) judge() {
	f.Helper()
	v, err := f.rig.Judge(f.ctx)
	f.must(err)
	for _, broken := range v.Broken {
		f.Error(broken)
	}
	if v.Dead+v.Cancelled+v.Refused > 0 {
		f.Errorf("%d dead, %d cancelled, %d refused, want none", v.Dead, v.Cancelled, v.Refused)
	}
	status, raw, err := f.rig.Call(f.ctx, "GET", "/v1/dead-letters", nil)
	if err != nil || status != http.StatusOK || !strings.Contains(string(raw), `"dead_letters":[]`) {
		f.Errorf("dead letters: status %d, %v: %s", status, err, raw)
	}
	if f.moves == f.stayed {
		f.Error("nothing was moved")
	}
	if f.Failed() {
		f.Logf("the grill's paper:\n%s\nthe bar's:\n%s", f.text("grill"), f.text("bar"))
	}
	f.Logf("%d mishaps, %d of them without a move, the slowest paper after %v, %d marked second "+
		"papers", f.moves, f.stayed, f.slowest.Round(time.Millisecond), v.MarkedDuplicates)
}
