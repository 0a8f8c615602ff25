package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// trust is how long a device may take to do what it has promised, and a clock may be off.
const trust = time.Minute

// moves is what the judge knows of tickets that changed hands, and of people's words about them.
type moves struct {
	told    map[string]bool            // device and recall id → the device said recalled to it
	without map[string]int             // journal/ticket → attempt up to which it said so
	heard   map[string]int             // journal/ticket → newest attempt that arrived
	calls   map[string]wire.Recall     // journal/ticket → newest recall that it took in
	printed map[string]bool            // device/ticket → it said that there is paper
	wanted  map[string]time.Duration   // tenant/ticket, or a device → when a person wanted it
	ended   map[string]bool            // tenant/ticket → a person cancelled it
	notices map[*press]map[string]bool // words of IGNORE IF ABOVE on paper
	voids   map[*press][]voidOf        // voids on paper
	recalls map[string]bool            // tenant/ticket of deliveries with an open recall
	made    map[string]bool            // tenant/ticket that the broker made another one of
}

// voidOf is a void on paper.
type voidOf struct {
	id wire.TicketID
	at int // as paperOf.at
}

func newMoves() moves {
	return moves{told: map[string]bool{}, without: map[string]int{}, heard: map[string]int{},
		calls: map[string]wire.Recall{}, printed: map[string]bool{},
		wanted: map[string]time.Duration{}, ended: map[string]bool{},
		notices: map[*press]map[string]bool{}, voids: map[*press][]voidOf{},
		recalls: map[string]bool{}, made: map[string]bool{}}
}

// onCard names a ticket in the memory of one card.
func (d *device) onCard(ticket string) string {
	return fmt.Sprintf("%s %d/%s", d.unit, d.cards, ticket)
}

// called takes in a recall that a device has remembered.
func (j *judge) called(d *device, r wire.Recall) {
	key := d.onCard(r.Ticket)
	if known, ok := j.calls[key]; !ok || known.Attempt <= r.Attempt {
		j.calls[key] = r
	}
}

// asked is a recall that reached a process. Unless that ends or its journal fails, it takes the
// recall in, whatever the printer does meanwhile.
func (j *judge) asked(d *device, r wire.Recall) {
	openings, lost := d.openings, d.loop.lost
	d.mine(trust, func() {
		known, ok := j.calls[d.onCard(r.Ticket)]
		if !lost && !d.loop.lost && d.openings == openings && (!ok || known.Attempt < r.Attempt) {
			j.broke("recall", d.kitchen, fmt.Sprintf("%s reached it, and %s is not taken back", r.ID,
				r.Ticket))
		}
	})
}

// begins checks that a device does not begin what it was told not to (section 5, failover), nor
// what is too old under the policy ask without a person's word.
func (j *judge) begins(d *device, ticket string) {
	key := d.onCard(ticket)
	if r, ok := j.calls[key]; ok && r.Attempt >= j.heard[key] {
		j.broke("recall", d.kitchen, fmt.Sprintf("%s prints after it was taken back by %s", ticket,
			r.ID))
	}
	j.fresh(d, ticket)
}

// fresh checks the age of what is about to print.
func (j *judge) fresh(d *device, ticket string) {
	key := d.tenant + "/" + ticket
	dl, ok := j.deliveries[key]
	s := j.w.stations[[2]string{d.tenant, dl.Station}]
	cooked := dl.Kind == wire.KindNew || dl.Kind == wire.KindChange
	if !ok || !cooked || s.OnStale != wire.OnStaleAsk || j.w.copiedCard(d.tenant) ||
		d.kernels > 1 || len(j.steps) > 0 {
		return // Without power nobody knows how long it was.
	}
	from := max(dl.Release.Sub(base), dl.Wanted.Sub(base), j.wanted[key], j.wanted[d.id])
	if age := j.w.now - from; age > s.StaleAfter+trust {
		j.broke("stale", d.kitchen, fmt.Sprintf("%s prints %v old, and nobody said so", ticket,
			age.Round(time.Second)))
	}
}

// wishes is a person's word about a stale ticket.
func (j *judge) wishes(tenant, ticket string, print bool) {
	if print {
		j.wanted[tenant+"/"+ticket] = j.w.now
	}
}

// hears is a ticket that arrives.
func (j *judge) hears(d *device, t wire.Ticket) {
	key := d.onCard(t.ID)
	j.heard[key] = max(j.heard[key], t.Attempt)
}

// saysRecalled checks the answer to a recall: it promises that there is no paper.
func (j *judge) saysRecalled(d *device, a wire.Ack) {
	j.told[d.id+" "+a.Reason] = true
	key, attempt := d.onCard(a.Ticket), 0
	if _, err := fmt.Sscanf(a.Reason, "%d-", &attempt); err != nil {
		j.broke("recall", d.kitchen, "recalled is said of "+a.Ticket+" and names "+a.Reason)
		return
	}
	j.without[key] = max(j.without[key], attempt)
	if t := j.papers[d.tenant+"/"+a.Ticket]; t != nil && t.on(d) && d.cards == 1 &&
		!j.w.copiedCard(d.tenant) {
		j.broke("recall", d.kitchen, "recalled is said of "+a.Ticket+", and there is paper")
	}
}

// surfaces checks a paper against what its device said before.
func (j *judge) surfaces(d *device, ticket string) {
	key := d.onCard(ticket)
	if attempt, ok := j.without[key]; ok && j.heard[key] <= attempt && d.cards == 1 &&
		!j.w.copiedCard(d.tenant) {
		j.broke("recall", d.kitchen, ticket+" comes out after recalled was said of it")
	}
}

// moved checks what became durable of a delivery: whoever was given it and has it no more is asked
// not to start it, and no answer counts but its own.
func (j *judge) moved(k int, e delivery.Changed) {
	d := e.Delivery
	key := e.Key.Tenant + "/" + e.Key.ID
	j.keeps(key, d)
	has := j.w.stations[[2]string{d.Tenant, cmp.Or(d.MovedTo, d.Station)}].Device
	for _, h := range d.Handed {
		id := fmt.Sprintf("%d-%s", h.Cleared, h.Device)
		if h.Cleared > 0 && !j.told[h.Device+" "+id] {
			j.broke("recall", k, fmt.Sprintf("%s takes recall %s for answered, and it is not", d.Ticket,
				id))
		}
		asked := slices.ContainsFunc(d.Recalls, func(r delivery.Recall) bool {
			return r.Device == h.Device
		})
		gone := h.Last < d.Attempt || slices.Contains(e.What, delivery.Moved) && h.Device != has
		if gone && !asked && h.Cleared < h.Last && h.Ended < h.Last &&
			!j.printed[h.Device+"/"+d.Ticket] && j.w.broker.clock().Before(d.Expires) {
			j.broke("recall", k, fmt.Sprintf("%s is no longer at %s, which is not told so", d.Ticket,
				h.Device))
		}
	}
}

// keeps notes what of a delivery outlives it.
func (j *judge) keeps(key string, d delivery.Delivery) {
	if delete(j.recalls, key); len(d.Recalls) > 0 {
		j.recalls[key] = true
	}
	if id, err := wire.ParseTicketID(d.Ticket); err == nil && id.Made != "" {
		j.made[d.Tenant+"/"+wire.TicketID{Order: id.Order, Seq: id.Seq,
			Station: id.Station}.String()] = true
	}
}

// hands checks a handing-over: its lease is of the device that gets it, and it is marked as what it
// is.
func (j *judge) hands(k int, d delivery.Delivery, e delivery.Send) {
	if d.Attempt == e.Message.Attempt && d.Lease != nil && d.Lease.Device != e.Lease.Device {
		j.broke("I1", k, fmt.Sprintf("%s is sent to %s, and its lease is of %s", d.Ticket,
			e.Lease.Device, d.Lease.Device))
	}
	if slices.Contains(e.Message.Marks, wire.MarkPossibleDuplicate) {
		return
	}
	for _, h := range d.Handed {
		if h.Device != e.Lease.Device && h.Last < e.Message.Attempt &&
			!j.told[h.Device+" "+fmt.Sprintf("%d-%s", h.Last, h.Device)] {
			j.broke("I4", k, fmt.Sprintf("%s was at %s and goes to %s without a mark", d.Ticket, h.Device,
				e.Lease.Device))
		}
	}
}

// notice keeps what a paper says of those above it.
func (j *judge) notice(p *press, text string) {
	name, _, found := strings.Cut(text, " WAS ")
	if !found {
		return
	}
	if j.notices[p] == nil {
		j.notices[p] = map[string]bool{}
	}
	j.notices[p][name] = true
}

// lastWords checks, when all is over, what only the whole story shows.
func (j *judge) lastWords() {
	for _, key := range slices.Sorted(maps.Keys(j.papers)) {
		tenant, ticket, _ := strings.Cut(key, "/")
		if j.stop() || j.w.copiedCard(tenant) {
			continue
		}
		for _, c := range j.papers[key].list {
			if c.whole && c.press.d.cards == 1 && !c.press.d.memoryless() {
				j.ignored(key, ticket, c)
				j.unwanted(key, ticket, c)
			}
		}
	}
}

// ignored checks a paper that its device was told to take back and did not count: it carries a
// mark, or a later one says what it is.
func (j *judge) ignored(key, ticket string, c paperOf) {
	d := c.press.d
	r, called := j.calls[d.onCard(ticket)]
	dl := j.deliveries[key]
	if !called || c.duplicate || r.Reason == "dead" || r.Attempt < j.heard[d.onCard(ticket)] ||
		j.printed[d.id+"/"+ticket] || j.noticed(c.press, dl.Number, ticket) {
		return
	}
	j.broke("notice", d.kitchen, fmt.Sprintf("%s came out, was taken back by %s, and no paper says so",
		ticket, r.ID))
}

func (j *judge) noticed(p *press, number, ticket string) bool {
	return j.notices[p][number] || j.notices[p][ticket]
}

// unwanted checks a paper of what a person or a void ended: a void follows it, or a person is told.
func (j *judge) unwanted(key, ticket string, c paperOf) {
	dl := j.deliveries[key]
	id, err := wire.ParseTicketID(ticket)
	if err != nil || dl.Kind != wire.KindNew && dl.Kind != wire.KindChange ||
		j.noticed(c.press, dl.Number, ticket) {
		return
	}
	voided := j.ended[key]
	for _, o := range j.family(dl) {
		if o.id.Seq < id.Seq {
			continue
		}
		v := j.deliveries[o.key]
		void := v.Kind == wire.KindVoid
		if void && v.State == delivery.Dead &&
			(v.Pinned == nil || v.Pinned.Device == c.press.d.id && v.Pinned.Printer == c.press.name) {
			return // A person is told.
		}
		voided = voided || j.ended[o.key] || void && o.id.Made == "" && v.State == delivery.Settled
	}
	if !voided {
		return
	}
	for _, v := range j.voids[c.press] {
		if v.id.Order == id.Order && v.id.Station == id.Station && v.id.Seq >= id.Seq && v.at > c.at {
			return
		}
	}
	j.broke("void", c.press.d.kitchen, ticket+" is on paper, nobody wants it, and no void says so")
}

// memoryless is true where the device prints without a journal.
func (d *device) memoryless() bool { return d.loop.lost }
