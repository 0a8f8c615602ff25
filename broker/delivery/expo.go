package delivery

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chit/device/wire"
)

// copyTo bears the copy of a new mutation at another station. In its own row, that of the copies of
// one station at another, it stands as the mutation does in its: voids and changes are copied too,
// and what they end without paper there is ended.
func (f *draft) copyTo(to Copy, of Delivery, source wire.TicketID, content wire.Content,
	now time.Time) error {
	chain, _, err := loadChain(f, of.Tenant, source.Order)
	if err != nil {
		return err
	}
	content.Station, content.Kitchen = to.Station, to.Kitchen
	data, err := wire.CanonicalContent(content)
	if err != nil {
		return fmt.Errorf("delivery: copying %s to %s: %w", of.Ticket, to.Station, err)
	}
	id, err := f.next(chain, of.Tenant,
		wire.TicketID{Order: source.Order, Seq: source.Seq, Station: to.Station})
	if err != nil {
		return err
	}
	d := Delivery{Format: Format, Tenant: of.Tenant, Ticket: id.String(), Digest: wire.Digest(data),
		Kitchen: to.Kitchen, Station: to.Station, Kind: of.Kind, Accepted: now, Release: of.Release,
		Due: of.Release, WindowEnd: of.Release.Add(Window), Expires: of.Expires, State: Waiting,
		Source: of.Ticket, CopyOf: of.Station}
	_, err = f.born(d, id, content, data, nil, now)
	return err
}

// noticeDoubled tells both printers that have paper of d, each where the other one lies. A void
// that is on its way says more.
func (f *draft) noticeDoubled(d Delivery, id wire.TicketID, now time.Time) error {
	chain, _, err := loadChain(f, d.Tenant, id.Order)
	if err != nil {
		return err
	}
	void, err := chain.fate(f, d, id)
	if err != nil || void != "" || !form(d.Kind) || d.CopyOf != "" {
		return err // Nobody cooks by a copy.
	}
	stored, ok, err := LoadContent(f, d.Tenant, d.Ticket)
	if err != nil || !ok {
		return err
	}
	var was wire.Content
	if err := json.Unmarshal(stored.Data, &was); err != nil {
		return fmt.Errorf("delivery: reading content of %s: %w", d.Ticket, err)
	}
	first, at := d.paperAt(*d.Printed)
	second, too := d.paperAt(d.Doubled[0])
	where, pins := at+" and at "+too, []Pin{first, second}
	if first == second {
		where, pins = at+" twice", pins[:1]
	}
	number, order := d.Number, was.Order
	if number == "" {
		number = "A ticket"
	}
	if order == "" {
		order = id.Order
	}
	notice := wire.Content{ID: id.Content(), Kitchen: d.Kitchen, Station: d.Station,
		Kind: wire.KindNotice, Order: was.Order, Note: fmt.Sprintf(
			"%s of order %s was printed at %s. Make it once.", number, order, where)}
	data, err := wire.CanonicalContent(notice)
	if err != nil {
		return fmt.Errorf("delivery: telling of two papers of %s: %w", id, err)
	}
	for _, pin := range pins {
		if err := f.makeNotice(d, id, pin, notice, data, now); err != nil {
			return err
		}
	}
	return nil
}

// makeNotice bears one of them.
func (f *draft) makeNotice(of Delivery, id wire.TicketID, pin Pin, notice wire.Content,
	data []byte, now time.Time) error {
	chain, version, err := loadChain(f, of.Tenant, id.Order)
	if err != nil {
		return err
	}
	made, err := f.next(chain, of.Tenant, id)
	if err != nil {
		return err
	}
	d := Delivery{Format: Format, Tenant: of.Tenant, Ticket: made.String(),
		Digest: wire.Digest(data), Kitchen: of.Kitchen, Station: of.Station, Kind: wire.KindNotice,
		Accepted: now, Release: now, Due: now, WindowEnd: now.Add(Window),
		Expires: now.Add(ExpiresAfter), State: Waiting, Pinned: &pin}
	d, events := d.begin("", nil, now)
	return f.bear(d, notice, data, chain, version, events)
}

// paperAt is the printer that one paper came out of, and what people call its place.
func (d Delivery) paperAt(paper Paper) (Pin, string) {
	pin, place := Pin{Device: paper.Device}, d.Station
	for _, h := range d.Handed {
		if h.Device == paper.Device {
			place = h.Place.called(d.Station)
			pin.Printer = h.Printers[len(h.Printers)-1]
		}
	}
	for _, try := range d.Tries {
		if try.Attempt == paper.Attempt && try.Device == paper.Device {
			pin.Printer = try.Printer
		}
	}
	return pin, strings.ToUpper(place)
}
