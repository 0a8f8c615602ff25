package relay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/device/wire"
)

// Bounds of telling a device what is stale here. The device prints one slip of it and of what is
// stale there.
const (
	// backlogSettle is how long a list must have stood still before it is told: what comes back
	// from an outage becomes stale all at once.
	backlogSettle = 2 * time.Second
	// backlogEvery is the shortest pause between two lists of one station in one session.
	backlogEvery = 10 * time.Minute
	// orderMax bounds the name of an order on the slip, in characters.
	orderMax = 60
)

// backlogs are the stale deliveries by station, and what the people there were told of them.
type backlogs struct {
	stations map[[2]string]*backlog // by tenant and station
	changed  bool
	next     time.Time // when to look again, zero for when something changes
	count    int       // commands made
}

type backlog struct {
	tenant, station string
	tickets         map[string]delivery.Delivery // by id
	moved           time.Time                    // when they last changed, zero where that is told
	session         string                       // that was told last, "" for none
	said            time.Time                    // and when
	listed          int                          // and how many
}

func newBacklogs() *backlogs { return &backlogs{stations: map[[2]string]*backlog{}} }

// set takes in where a delivery stands.
func (l *backlogs) set(d delivery.Delivery, now time.Time) {
	key := [2]string{d.Tenant, d.Station}
	b := l.stations[key]
	_, known := b.ticket(d.Ticket)
	switch is := d.State == delivery.Stale; {
	case is == known:
		return
	case is:
		if b == nil {
			b = &backlog{tenant: d.Tenant, station: d.Station, tickets: map[string]delivery.Delivery{}}
			l.stations[key] = b
		}
		b.tickets[d.Ticket] = delivery.Delivery{Ticket: d.Ticket, Release: d.Release,
			Accepted: d.Accepted, Number: d.Number}
	default:
		delete(b.tickets, d.Ticket)
	}
	b.moved, l.changed = now, true
}

func (b *backlog) ticket(id string) (d delivery.Delivery, ok bool) {
	if b == nil {
		return d, false
	}
	d, ok = b.tickets[id]
	return d, ok
}

// dueAt is when the list is to be told to the session, false for not at all as it is.
func (b *backlog) dueAt(session string) (time.Time, bool) {
	again := b.session == session
	switch {
	case again && b.moved.IsZero(), len(b.tickets) == 0 && (!again || b.listed == 0):
		return time.Time{}, false // It knows, or there is nothing to know.
	case len(b.tickets) == 0:
		return b.moved, true
	case again:
		return later(b.moved.Add(backlogSettle), b.said.Add(backlogEvery)), true
	}
	return b.moved.Add(backlogSettle), true
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// backlog tells devices that are here what is stale at their stations, and says when to do so
// again, zero for when something changes.
func (r *Relay) backlog(now time.Time) time.Time {
	l := r.backlogs
	if r.stopped || !l.changed && (l.next.IsZero() || now.Before(l.next)) {
		return l.next
	}
	l.changed, l.next = false, time.Time{}
	var due []*backlog
	for _, b := range l.stations {
		served, _ := r.conf.Devices.Station(b.tenant, b.station)
		d := r.devices[served.Device]
		if d == nil || !d.present || d.tenant != b.tenant {
			continue // Its birth brings the loop back.
		}
		at, tell := b.dueAt(d.record.Session)
		switch {
		case !tell:
		case now.Before(at):
			l.next = earliest(l.next, at)
		default:
			due = append(due, b)
		}
	}
	// In one order, so that the same story is told the same way again.
	slices.SortFunc(due, func(a, b *backlog) int {
		return cmp.Or(strings.Compare(a.tenant, b.tenant), strings.Compare(a.station, b.station))
	})
	for _, b := range due {
		r.tellBacklog(b, now)
	}
	return l.next
}

// tellBacklog sends the command. One that does not leave is told again at the next birth, or when
// the list is another.
func (r *Relay) tellBacklog(b *backlog, now time.Time) {
	served, _ := r.conf.Devices.Station(b.tenant, b.station)
	d := r.devices[served.Device]
	r.backlogs.count++
	id := fmt.Sprintf("%s%s-%d", backlogPrefix, r.conf.Host, r.backlogs.count)
	list := make([]delivery.Delivery, 0, len(b.tickets))
	for _, t := range b.tickets {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b delivery.Delivery) int {
		return cmp.Or(a.Release.Compare(b.Release), a.Accepted.Compare(b.Accepted),
			strings.Compare(a.Ticket, b.Ticket))
	})
	list = list[:min(len(list), wire.BacklogMax)]
	b.session, b.said, b.moved, b.listed = d.record.Session, now, time.Time{}, len(list)
	tenant, station := b.tenant, b.station
	r.sender(d.id).add(message{
		tenant: tenant, device: d.id, leaf: wire.LeafCommand,
		sign: func(s *wire.Signer) ([]byte, error) {
			lines, err := backlogLines(r.conf.Store, tenant, list, now)
			if err != nil {
				return nil, err
			}
			return s.SignCommand(wire.Command{ID: id, Do: "backlog", IssuedAt: now.Unix(),
				Device: d.id, Args: map[string]string{"station": station, "printer": served.Printer,
					"tickets": lines}})
		},
		sent: func() {},
		unsent: func(err error, _ bool) {
			r.conf.Log.Warn("backlog not sent", "device", d.id, "station", station, "error", err)
		},
	})
}

// backlogLines is the argument tickets of the command. It reads contents, so it is called by the
// sender and not by the loop.
func backlogLines(view entity.View, tenant string, list []delivery.Delivery, now time.Time) (
	string, error) {
	lines := make([]wire.BacklogLine, 0, len(list))
	for _, d := range list {
		line := wire.BacklogLine{ID: d.Ticket, Number: d.Number,
			Age: max(now.Sub(d.Release), 0).Milliseconds()}
		if id, err := wire.ParseTicketID(d.Ticket); err == nil {
			line.Order = id.Order
		}
		content, ok, err := delivery.LoadContent(view, tenant, d.Ticket)
		if err != nil {
			return "", err
		}
		if c, err := wire.ParseContent(content.Data); ok && err == nil && c.Order != "" {
			line.Order = c.Order
		}
		for utf8.RuneCountInString(line.Order) > orderMax {
			_, size := utf8.DecodeLastRuneInString(line.Order)
			line.Order = line.Order[:len(line.Order)-size]
		}
		lines = append(lines, line)
	}
	raw, err := json.Marshal(lines)
	if err != nil {
		return "", fmt.Errorf("relay: backlog: %w", err)
	}
	return string(raw), nil
}

// backlogPrefix begins the ids of these commands.
const backlogPrefix = "backlog-"

// replied takes a device's reply. Of a backlog it is the word of a person there: what it names is
// wanted. It names the tickets itself, so it holds whatever was told since.
func (r *Relay) replied(tenant, device string, reply wire.Reply) {
	if !strings.HasPrefix(reply.Command, backlogPrefix) {
		r.bad("unasked", tenant, device, nil)
		return
	}
	if !r.allows(tenant, device, r.allow.ack) {
		return
	}
	if !reply.OK || reply.Result["answer"] != string(wire.OnStalePrint) {
		r.bad("backlog", tenant, device, nil, "command", reply.Command)
		return
	}
	ids := strings.Split(reply.Result["tickets"], ",")
	for _, id := range ids[:min(len(ids), wire.BacklogMax)] {
		parsed, err := wire.ParseTicketID(id)
		served, ok := r.conf.Devices.Station(tenant, parsed.Station)
		if err != nil || !ok || served.Device != device {
			r.bad("station", tenant, device, err, "ticket", id)
			continue
		}
		answer := delivery.AnswerStale{Tenant: tenant, Ticket: id, Answer: delivery.Answer{
			Print: true, Who: "button", Device: device}}
		r.submit(answer, tenant, device, nil)
	}
	r.inbox.Post(func(r *Relay) {
		for _, b := range r.backlogs.stations {
			if served, _ := r.conf.Devices.Station(b.tenant, b.station); served.Device == device {
				b.said = time.Time{} // What is left over may be told at once.
			}
		}
	})
}
