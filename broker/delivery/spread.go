package delivery

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// mayBeAt lists the printers that may have paper of d.
func (d Delivery) mayBeAt() []Pin {
	var pins []Pin
	for _, h := range d.Handed {
		if !form(d.Kind) || d.paperlessAt(h.Device) {
			continue
		}
		for _, printer := range h.Printers {
			pins = append(pins, Pin{Device: h.Device, Printer: printer})
		}
	}
	return pins
}

// corrects reports whether the ticket is a change or void that was handed to the station's present
// printer and still holds.
func (r row) corrects() bool {
	return r.version > 0 && (r.d.Kind == wire.KindChange || r.d.Kind == wire.KindVoid) &&
		r.d.Pinned == nil && r.d.State != Cancelled && len(r.d.Handed) > 0
}

// spread makes twins of the changes and voids of a family that were handed over, for every other
// printer that may have paper of what they speak about (DESIGN.md section 5). It is asked at each
// handing-over, each paper and each end of a recall, which are what makes such printers; a
// printer gets one once.
func (f *draft) spread(chain Chain, of family, now time.Time) error {
	rows, err := chain.at(f, of, func(row) bool { return true })
	if err != nil {
		return err
	}
	// The newest change says all that older ones say, and nothing is left to say below a void.
	changed := false
	for _, source := range slices.Backward(rows) {
		if !source.corrects() || source.d.Kind == wire.KindChange && changed {
			continue
		}
		changed = true
		if err := f.twins(source, rows, now); err != nil {
			return err
		}
		if source.d.Kind == wire.KindVoid {
			break
		}
	}
	return nil
}

// twins makes what is missing of the twins of source. rows are all of its family.
func (f *draft) twins(source row, rows []row, now time.Time) error {
	var done []Pin
	for _, h := range source.d.Handed {
		if h.Ended >= h.Last && !source.d.printedAt(h.Device) {
			continue // It was given it, and says that it does not print it any more.
		}
		for _, printer := range h.Printers {
			done = append(done, Pin{Device: h.Device, Printer: printer})
		}
	}
	for _, r := range rows {
		if r.covers(source) {
			done = append(done, *r.d.Pinned)
		}
	}
	scope := source.scope()
	for _, r := range rows {
		if r.version == 0 || !scope(r) {
			continue
		}
		for _, pin := range r.d.mayBeAt() {
			if slices.Contains(done, pin) {
				continue
			}
			if err := f.makeTwin(source, pin, now); err != nil {
				return err
			}
			done = append(done, pin)
		}
	}
	return nil
}

// covers reports whether r says for its printer what source says. One that was taken back because
// there was no paper says nothing about paper that came later.
func (r row) covers(source row) bool {
	return r.version > 0 && r.d.Pinned != nil && r.id.Seq == source.id.Seq &&
		r.d.Kind == source.d.Kind && (r.d.State != Cancelled || r.d.Reason != ReasonNoPaper)
}

// makeTwin bears source once more for one printer: the same words under the same number. A twin of
// a void of the broker's own is another such void.
func (f *draft) makeTwin(source row, pin Pin, now time.Time) error {
	s := source.d
	stored, ok, err := LoadContent(f, s.Tenant, s.Ticket)
	if err != nil || !ok {
		return err // Past its expires nothing of it is handed over.
	}
	var content wire.Content
	if err := json.Unmarshal(stored.Data, &content); err != nil {
		return fmt.Errorf("delivery: reading content of %s: %w", s.Ticket, err)
	}
	chain, version, err := loadChain(f, s.Tenant, source.id.Order)
	if err != nil {
		return err
	}
	made, err := f.next(chain, s.Tenant, source.id)
	if err != nil {
		return err
	}
	d := Delivery{Format: Format, Tenant: s.Tenant, Ticket: made.String(),
		Digest: s.Digest, Kitchen: s.Kitchen, Station: s.Station, Kind: s.Kind, Accepted: now,
		Release: now, Due: now, WindowEnd: now.Add(Window), Expires: s.Expires, State: Waiting,
		Pinned: &pin, CopyOf: s.CopyOf, Number: s.Number, Previous: s.Previous}
	if source.d.mutation(source.id) {
		d.Source = s.Ticket
	}
	d, events := d.begin("", nil, now)
	return f.bear(d, content, stored.Data, chain, version, events)
}

// doubtful reports whether the device of a twin was given its source too and did not prove that it
// left no paper.
func (d Delivery) doubtful(view entity.View) (bool, error) {
	if !d.twin() {
		return false, nil
	}
	source, _, err := Load(view, d.Tenant, d.Source)
	h, handed := source.handedTo(d.Pinned.Device)
	return handed && slices.Contains(h.Printers, d.Pinned.Printer) && !h.cleared(), err
}

// papered is what follows from paper, or from the word that there comes none, of which a device has
// just told.
func (f *draft) papered(before, after Delivery, device string, e Event, now time.Time) error {
	id, err := wire.ParseTicketID(after.Ticket)
	if err != nil {
		return err
	}
	chain, _, err := loadChain(f, after.Tenant, id.Order)
	if err != nil {
		return err
	}
	if len(chain.Tickets) > 1 {
		if err := f.spread(chain, after.family(), now); err != nil {
			return err
		}
	}
	if e.What != Printed && e.What != Doubled {
		return nil
	}
	if err := f.surprise(before, after, device, now); err != nil {
		return err
	}
	if e.What == Doubled && len(after.Doubled) == 1 {
		return f.noticeDoubled(after, id, now)
	}
	return nil
}

// alsoAtMax is how many stations one ticket can name (device/wire, ticket, alsoat).
const alsoAtMax = 32

// also names the other stations that have a ticket of the same mutation.
func (c Chain) also(view entity.View, d Delivery, id wire.TicketID) (string, error) {
	if id.Made != "" && d.Source == "" {
		return "", nil
	}
	var stations []string
	for _, ticket := range c.Tickets {
		o, err := wire.ParseTicketID(ticket)
		if err != nil || o.Made != "" || o.Seq != id.Seq || o.Station == id.Station ||
			o.Station == d.CopyOf {
			continue
		}
		other, _, err := Load(view, d.Tenant, ticket)
		if err != nil {
			return "", err
		}
		if other.State != Cancelled {
			stations = append(stations, o.Station)
		}
	}
	slices.Sort(stations)
	return strings.Join(stations[:min(len(stations), alsoAtMax)], ","), nil
}
