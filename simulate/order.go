package simulate

import (
	"fmt"

	"chit/broker/delivery"
	"chit/device/wire"
)

// member is a ticket of one order at one station, the broker's own too.
type member struct {
	key string // tenant/ticket
	id  wire.TicketID
}

func familyOf(tenant string, id wire.TicketID) string {
	return tenant + "/" + id.Order + "@" + id.Station
}

// joins keeps whose ticket a new delivery is.
func (j *judge) joins(key string, d delivery.Delivery) {
	if id, err := wire.ParseTicketID(d.Ticket); err == nil {
		of := familyOf(d.Tenant, id)
		j.orders[of] = append(j.orders[of], member{key, id})
	}
}

// family are the tickets of d's order at its station, in order of acceptance.
func (j *judge) family(d delivery.Delivery) []member {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return nil
	}
	return j.orders[familyOf(d.Tenant, id)]
}

// repeats reports whether a delivery is a change or void once more, for a printer that may have
// paper of a lower mutation.
func repeats(d delivery.Delivery) bool { return d.Source != "" && d.Pinned != nil }

// waited checks the order of a ticket that is handed over (I6). A mutation, and a twin of one,
// reaches a printer after the lower ones that are still to come there: those that were posted,
// wherever they go, and twins for the same device. What the broker says of a mutation comes when
// the forms that it voids are given out no more; a void for one printer alone speaks of its paper.
func (j *judge) waited(k int, d delivery.Delivery, lease delivery.Lease) {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil || id.Made != "" && d.Source == "" && d.Kind != wire.KindVoid {
		return
	}
	mutation := id.Made == "" || d.Source != ""
	for _, m := range j.family(d) {
		o := j.deliveries[m.key]
		if !o.State.Blocks() || m.id == id {
			continue
		}
		before := m.id.Seq < id.Seq
		switch {
		case mutation && m.id.Made == "":
		case mutation:
			before = before && repeats(o) && o.Pinned.Device == lease.Device
		case d.Pinned != nil:
			before = m.id.Made == "" && m.id.Seq == id.Seq
		default:
			before = m.id.Made == "" && m.id.Seq <= id.Seq && o.Kind != wire.KindNotice
		}
		if before {
			j.broke("I6", k, fmt.Sprintf("%s is sent while %s is %s", d.Ticket, o.Ticket, o.State))
		}
	}
}

// bears checks the number of a ticket for one printer alone: a twin bears that of what it repeats,
// which no other mutation has, and everything else none, for it is counted nowhere.
func (j *judge) bears(d delivery.Delivery) bool {
	if d.Number == "" {
		return d.Source == ""
	}
	id, err := wire.ParseTicketID(d.Ticket)
	for _, m := range j.family(d) {
		o := j.deliveries[m.key]
		if err == nil && m.id.Seq == id.Seq && o.Pinned == nil && o.Kind == d.Kind &&
			o.Number == d.Number && (d.Source == "" || d.Source == o.Ticket) {
			return true
		}
	}
	return false
}

// inOrder checks the first paper of a ticket against those of its order at its station. What the
// broker itself says of a mutation takes no place among them: it names what it speaks about.
func (j *judge) inOrder(d *device, ticket string, c copied) {
	id, err := wire.ParseTicketID(ticket)
	if err != nil || id.Made != "" && j.deliveries[d.tenant+"/"+ticket].Source == "" {
		return
	}
	key := d.unit + "/" + familyOf(d.tenant, id)
	if id.Seq < j.highest[key] && !c.older && !j.w.twinned[d.kitchen] {
		j.broke("I6", d.kitchen, fmt.Sprintf("%s prints after %d and does not say so", ticket,
			j.highest[key]))
	}
	j.highest[key] = max(j.highest[key], id.Seq)
}
