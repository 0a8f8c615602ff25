package delivery

import (
	"cmp"
	"slices"

	"chit/broker/entity"
	"chit/device/wire"
)

// row is one ticket of an order at one station, as it stands.
type row struct {
	id      wire.TicketID
	d       Delivery
	version uint64 // 0 where it is past its expires and forgotten
}

// family is who stands in one row in seq order: what an order tells one station itself, or the
// copies there of what it tells another one.
type family struct {
	tenant, station string
	copyOf          string // "" for what it tells itself
}

func (d Delivery) family() family { return family{d.Tenant, d.Station, d.CopyOf} }

// mutation reports whether the ticket takes a place in the row of its family, as what was posted
// and the copies of that do. What broker or device made of a mutation speaks about it.
func (d Delivery) mutation(id wire.TicketID) bool {
	return id.Made == "" || d.Source != "" && d.Pinned == nil
}

// twin reports whether the ticket is another's for one more printer.
func (d Delivery) twin() bool { return d.Source != "" && d.Pinned != nil }

// at lists the tickets of a family that which chooses, lowest seq first. Whose family a forgotten
// one was is not known, but that copies have ids of the broker's making.
func (c Chain) at(view entity.View, of family, which func(row) bool) ([]row, error) {
	var rows []row
	for _, ticket := range c.Tickets {
		id, err := wire.ParseTicketID(ticket)
		if err != nil || id.Station != of.station || of.copyOf != "" && id.Made == "" {
			continue
		}
		d, version, err := Load(view, of.tenant, ticket)
		if err != nil {
			return nil, err
		}
		r := row{id, d, version}
		if (version == 0 || d.CopyOf == of.copyOf) && which(r) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.id.Seq, b.id.Seq) })
	return rows, nil
}

// beneath chooses what a mutation speaks about: the lower seqs.
func beneath(id wire.TicketID) func(row) bool {
	return func(o row) bool { return o.id.Seq < id.Seq }
}

// around chooses what the broker's own void of a mutation speaks about: that mutation too.
func around(id wire.TicketID) func(row) bool {
	return func(o row) bool { return o.id.Seq < id.Seq || o.id.Seq == id.Seq && o.id != id }
}

// scope chooses what r speaks about.
func (r row) scope() func(row) bool {
	if r.id.Made != "" && r.d.Source == "" {
		return around(r.id)
	}
	return beneath(r.id)
}

// above chooses the mutations with a higher seq.
func above(id wire.TicketID) func(row) bool {
	return func(o row) bool { return o.d.mutation(o.id) && o.id.Seq > id.Seq }
}

// before lists the mutations of d's family with a lower seq, highest first.
func (c Chain) before(view entity.View, d Delivery, id wire.TicketID) ([]row, error) {
	lower, err := c.at(view, d.family(), func(o row) bool {
		return o.d.mutation(o.id) && o.id.Seq < id.Seq
	})
	slices.Reverse(lower)
	return lower, err
}
