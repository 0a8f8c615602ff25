package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/core"
	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// Violation is a broken promise.
type Violation struct {
	// Rule is the invariant of DESIGN.md section 1, or "wire" for a message that its reader
	// refuses.
	Rule    string
	Seed    uint64
	Kitchen int // -1: the broker's
	At      time.Duration
	Step    uint64
	What    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s broken with seed %d at %s, step %d: %s", v.Rule, v.Seed, clock(v.At),
		v.Step, v.What)
}

// judge watches from outside: it knows what was posted, what is on disk and what is on paper.
type judge struct {
	moves
	w          *world
	violations []Violation
	posted     map[string]Post              // tenant/ticket
	names      map[string]string            // tenant/name on the paper → ticket
	deliveries map[string]delivery.Delivery // tenant/ticket, as made durable
	papers     map[string]*trail            // tenant/ticket
	highest    map[string]int               // tenant/order@station → highest seq on paper
	said       map[string]bool              // (journal, boot, n) of every signed answer
	handed     map[string]time.Duration     // when a ticket was handed over last
	numbers    map[string]string            // tenant/station/day/number → ticket
	visible    map[string]bool              // tenant/ticket: somebody pressed after its paper
	steps      map[time.Duration]bool       // when the broker's clock stepped
	open       int                          // deliveries without an end
	leased     map[string]int               // by tenant, device and printer
	pieces     int                          // tickets on paper that it has read
	orders     map[string][]member          // by tenant/order@station
}

func newJudge(w *world) *judge {
	j := &judge{moves: newMoves(), w: w, posted: map[string]Post{}, names: map[string]string{},
		deliveries: map[string]delivery.Delivery{}, papers: map[string]*trail{},
		highest: map[string]int{}, said: map[string]bool{}, handed: map[string]time.Duration{},
		numbers: map[string]string{}, visible: map[string]bool{}, leased: map[string]int{},
		steps: map[time.Duration]bool{}, orders: map[string][]member{}}
	for _, p := range w.plan.Posts {
		id := j.w.key(p)
		j.posted[id] = p
		j.names[j.w.tenant(p.Kitchen)+"/"+p.Name()] = p.Ticket()
	}
	return j
}

// stop is true once a promise broke: what follows would only repeat it.
func (j *judge) stop() bool { return len(j.violations) > 0 }

func (j *judge) broke(rule string, kitchen int, what string) {
	j.w.note(kitchen, "BROKEN", rule, what)
	j.violations = append(j.violations, Violation{Rule: rule, Seed: j.w.options.Seed,
		Kitchen: kitchen, At: j.w.now, Step: j.w.step, What: what})
}

// stored checks an answer of the door against the disk (I1).
func (j *judge) stored(p Post) {
	key := delivery.Key(j.w.tenant(p.Kitchen), p.Ticket())
	if j.w.broker.disk.states[key].Version == 0 {
		j.broke("I1", p.Kitchen, "the door accepted "+p.Ticket()+", and it is not on disk")
	}
}

// sends checks a ticket that leaves the broker against its lease on disk (I1), and that a lower one
// of its order does not still wait (I6).
func (j *judge) sends(e delivery.Send) {
	d, version, err := delivery.Load(j.w.broker.disk, e.Key.Tenant, e.Key.ID)
	k, _ := j.w.broker.kitchen(e.Lease.Device)
	j.handed[e.Key.Tenant+"/"+e.Key.ID] = j.w.now
	j.w.note(-1, "sends", e.Key.ID, "attempt", e.Message.Attempt, e.Message.Marks)
	switch {
	case err != nil || version == 0 || d.Attempt < e.Message.Attempt:
		j.broke("I1", k, fmt.Sprintf("attempt %d of %s is sent, and its lease is not on disk",
			e.Message.Attempt, e.Key.ID))
	case !j.w.broker.clock().Before(d.Expires):
		j.broke("I3", k, e.Key.ID+" is sent past its expires")
	}
	if j.stop() {
		return
	}
	j.hands(k, d, e)
	j.numbered(k, d, e.Lease)
	j.w.storm.sent(k, d)
	j.waited(k, d, e.Lease)
}

// numbered checks that a printer has no more than its window of unsettled deliveries, and that no
// number is given twice (section 5).
func (j *judge) numbered(k int, d delivery.Delivery, lease delivery.Lease) {
	if leased := j.leased[windowOf(d.Tenant, lease)]; leased > relay.WindowMax {
		j.broke("window", k, fmt.Sprintf("%d deliveries are unsettled at one printer", leased))
	}
	key := d.Tenant + "/" + d.Station + "/" + d.Day + "/" + d.Number
	other, ok := j.numbers[key]
	switch {
	case d.Pinned != nil:
		if !j.bears(d) {
			j.broke("number", k, fmt.Sprintf("%s is for one printer, and bears number %q", d.Ticket,
				d.Number))
		}
	case d.Number == "" || ok && other != d.Ticket:
		j.broke("number", k, fmt.Sprintf("%q and %s are both number %q", other, d.Ticket, d.Number))
	default:
		j.numbers[key] = d.Ticket
	}
}

// windowOf names what a window of unsettled deliveries belongs to.
func windowOf(tenant string, lease delivery.Lease) string {
	return tenant + "/" + lease.Device + "/" + lease.Printer
}

// stands keeps where a delivery stands, and what is counted of all.
func (j *judge) stands(key string, d delivery.Delivery) {
	was, known := j.deliveries[key]
	if j.deliveries[key] = d; !known {
		j.joins(key, d)
	}
	for _, one := range []struct {
		d  delivery.Delivery
		by int
	}{{was, -1}, {d, 1}} {
		if one.d.State.Open() {
			j.open += one.by
		}
		if one.d.State == delivery.Leased {
			j.leased[windowOf(one.d.Tenant, *one.d.Lease)] += one.by
		}
	}
}

// changed takes in where a delivery stands, and checks what a failed attempt was (section 5).
func (j *judge) changed(e delivery.Changed) {
	d := e.Delivery
	key := e.Key.Tenant + "/" + e.Key.ID
	j.stands(key, d)
	k := j.kitchenOf(d)
	j.moved(k, e)
	j.w.storm.changed(k, e)
	j.w.note(-1, "delivery", e.Key.ID, d.State, e.What, d.Reason)
	if d.Failed > delivery.AttemptsMax {
		j.broke("I5", k, fmt.Sprintf("%s failed %d times", d.Ticket, d.Failed))
	}
	if !slices.Contains(e.What, delivery.Failed) || len(d.Tries) == 0 {
		return
	}
	if at, ok := j.w.broker.kitchen(d.Tries[len(d.Tries)-1].Device); ok {
		k = at
	}
	if j.w.twinned[k] {
		return // The twin's hellos look like crashes, and it takes answers with it.
	}
	began, ok := j.handed[key]
	switch last := d.Tries[len(d.Tries)-1]; {
	case !ok:
	case last.Error == "crashed" && !j.restarted(k, j.w.sessions[last.Session]):
		j.broke("I5", k, d.Ticket+" spent an attempt on a crash that did not happen")
	case last.Error == "unanswered" && !j.lasted(began):
		j.broke("I9", k, d.Ticket+" spent an attempt before its lease had ended")
	case last.Error == "unanswered" && !j.w.disturbed(k) && j.w.now-j.w.fault[k] > calm:
		j.broke("I5", k, d.Ticket+" was not answered, and nothing was wrong")
	}
}

// kitchenOf is where a delivery's station is.
func (j *judge) kitchenOf(d delivery.Delivery) int {
	k, _ := j.w.broker.kitchen(j.w.stations[[2]string{d.Tenant, d.Station}].Device)
	return k
}

// reads learns from the disk what became durable and was never told, because the process ended:
// of what was open or recalled, and of what is now.
func (j *judge) reads() {
	keys := map[string]bool{}
	for _, p := range j.w.plan.Posts {
		if key := j.w.key(p); j.deliveries[key].State == "" {
			keys[key] = true
		}
	}
	for key, d := range j.deliveries {
		if d.State.Open() || j.recalls[key] {
			keys[key] = true
		}
	}
	for row := range j.w.broker.disk.rows {
		if row.List == delivery.ListOpen || row.List == delivery.ListRecall {
			keys[row.Key.Tenant+"/"+row.Key.ID] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		tenant, ticket, _ := strings.Cut(key, "/")
		d, version, err := delivery.Load(j.w.broker.disk, tenant, ticket)
		if err != nil {
			j.broke("I1", -1, "a delivery cannot be read: "+err.Error())
		}
		if version > 0 {
			j.stands(key, d)
			j.keeps(key, d)
		}
	}
}

// restarted is true where a process of the device began since a time: that of the session that the
// ticket was handed to.
func (j *judge) restarted(k int, since time.Duration) bool {
	return slices.ContainsFunc(j.w.devices[k].starts, func(at time.Duration) bool {
		return at >= since
	})
}

// lasted is true where a lease that began then was over by true time, or the clock stepped.
func (j *judge) lasted(began time.Duration) bool {
	for at := range j.steps {
		if at >= began-10*time.Minute {
			return true
		}
	}
	return j.w.now-began >= delivery.LeaseFor-time.Second // The commit of it took a while.
}

// calm is how long an undisturbed device may take until the broker knows it.
const calm = 8 * time.Minute

// present checks, now and then, that the broker knows of a device that is connected to it and has
// nothing in its way.
func (w *world) present() {
	w.after(calm, w.present)
	if !w.broker.alive || w.now-w.broker.since < calm {
		return
	}
	present := map[string]string{}
	for _, s := range w.broker.relay.Relay().Devices() {
		if s.Present {
			present[s.Device] = s.Session
		}
	}
	for k, d := range w.devices {
		c := d.link.conn
		if c == nil || !c.deviceEnd || !c.engineEnd || w.now-d.link.since < calm || w.disturbed(k) ||
			w.twins[k] != nil {
			continue
		}
		if present[d.id] != c.session {
			w.judge.broke("I5", k, d.id+" is connected as "+c.session+
				", and the broker does not know it")
		}
	}
}

func (w *world) disturbed(k int) bool {
	for _, name := range []FaultName{Loss, Delay, Partition, Reorder, OldWill, Duplicate, DiskFull} {
		if w.now < w.until[window{name, k}]+calm {
			return true
		}
	}
	return w.now < w.until[window{DiskFull, -1}]+calm
}

// refusals are the reasons for which a device may refuse a ticket for good.
var refusals = []string{"poison", "doubtful", core.ReasonStale, core.ReasonNotWanted}

// puback checks that what a PUBACK stands for is on the card, or was refused (I1).
func (j *judge) puback(d *device, ticket string) {
	if ticket == "" || d.loop.lost || d.loop.refused[ticket] {
		return
	}
	if !d.journal.Lookup(ticket).Found {
		j.broke("I1", d.kitchen, "the PUBACK of "+ticket+" leaves, and it is not in the journal")
	}
}

// prints checks a document that goes to a printer against its intent on disk (I4).
func (j *judge) prints(d *device, e core.Print) {
	j.w.note(d.kitchen, "prints", e.Ticket, "on", e.Printer)
	if e.Job.Token == escpos.TokenOf(0) {
		return // The slip without memory.
	}
	in, ok := d.journal.Intents[e.Printer]
	switch {
	case !ok || in.Token != e.Job.Token:
		j.broke("I4", d.kitchen, "a document leaves for "+e.Printer+" without its intent on disk")
	case e.Ticket != "" && !j.accepted(d.tenant, e.Ticket):
		j.broke("I2", d.kitchen, e.Ticket+" prints and was never accepted")
	case e.Ticket != "":
		j.begins(d, e.Ticket)
	}
}

func (j *judge) accepted(tenant, ticket string) bool {
	return j.w.broker.disk.states[delivery.Key(tenant, ticket)].Version > 0
}

// inFlight counts the documents that a worker holds (I4: one intent for each printer).
func (j *judge) inFlight(p *press) {
	documents := 0
	for _, e := range p.orders {
		if print, ok := e.(core.Print); ok && print.Job.Token != escpos.TokenOf(0) {
			documents++
		}
	}
	if documents > 1 {
		j.broke("I4", p.d.kitchen, fmt.Sprintf("%d documents at printer %s", documents, p.name))
	}
}

// result takes in what a session says of a document.
func (j *judge) result(p *press, e core.Print, r session.Result) {
	j.w.note(p.d.kitchen, "printed", e.Ticket, "on", p.name, r.Started, r.Evidence, r.Hold)
}

// answers checks a signed answer against the card and the paper (I1, I2).
func (j *judge) answers(d *device, a wire.Ack) {
	key := fmt.Sprint(d.unit, a.Key())
	if j.said[key] {
		j.broke("I1", d.kitchen, fmt.Sprintf("(journal, boot, n) %v is said twice", a.Key()))
	}
	j.said[key] = true
	j.saysSeen(d, a)
	m := d.journal
	if a.Journal == m.Meta.Journal && a.N > m.Meta.NReserved {
		j.broke("I1", d.kitchen, fmt.Sprintf("n %d leaves above the reserved %d", a.N,
			m.Meta.NReserved))
	}
	outcome, evidence, _ := m.Recorded(a.Ticket)
	switch a.Outcome {
	case wire.OutcomeStored, wire.OutcomeHeld:
		if !m.Lookup(a.Ticket).Found {
			j.broke("I1", d.kitchen, fmt.Sprintf("%s is said of %s, which is not in the journal",
				a.Outcome, a.Ticket))
		}
	case wire.OutcomeRecalled:
		j.saysRecalled(d, a)
	case wire.OutcomePrinted, wire.OutcomeDuplicate:
		j.printed[d.id+"/"+a.Ticket] = true
		if outcome != wire.OutcomePrinted || evidence != a.Evidence {
			j.broke("I1", d.kitchen, fmt.Sprintf("%s %s is said of %s; in the journal it is %s %s",
				a.Outcome, a.Evidence, a.Ticket, outcome, evidence))
		}
		if a.Evidence.Rank() > wire.EvidenceSent.Rank() && !j.onPaper(d, a.Ticket) {
			j.broke("I4", d.kitchen, fmt.Sprintf("%s %s is said of %s, and there is no paper",
				a.Outcome, a.Evidence, a.Ticket))
		}
	case wire.OutcomeRefused:
		d.loop.refused[a.Ticket] = true
		if a.Permanent && !slices.Contains(refusals, a.Reason) {
			j.broke("I2", d.kitchen, fmt.Sprintf("%s is refused for good: %s", a.Ticket, a.Reason))
		}
	case wire.OutcomeExpired:
		d.loop.refused[a.Ticket] = true
	}
}
