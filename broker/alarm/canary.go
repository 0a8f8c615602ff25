package alarm

import (
	"fmt"
	"time"

	"chit/broker/delivery"
)

// CanaryAfter is how long a canary may take to become paper.
const CanaryAfter = 5 * time.Minute

// canary is a station's newest one.
type canary struct {
	ticket   string
	epoch    uint64
	accepted time.Time
	expires  time.Time
	proven   bool
	ended    bool   // cancelled, for whatever reason
	reason   string // the state, and why
	told     string // the text of its alarm
}

// canaryChanged takes in where a canary stands; it is no ticket that anybody waits for.
func (w *Watch) canaryChanged(d delivery.Delivery) {
	key := StationKey{d.Tenant, d.Station}
	is := &canary{ticket: d.Ticket, epoch: d.Epoch, accepted: d.Accepted, expires: d.Expires,
		proven: d.Proven(), ended: d.State == delivery.Cancelled, reason: newTicket(d).reason}
	switch was := w.canaries[key]; {
	case was == nil && is.ended:
		return // Its alarm, if it has one, ends with the day.
	case was == nil:
	case was.ticket == is.ticket:
		if is.epoch < was.epoch {
			return
		}
		is.told = was.told
	case is.accepted.Before(was.accepted):
		return
	}
	w.station(key)
	w.canaries[key] = is
	w.dirty[key] = true
}

// canary judges a station's canary and says when to look again.
func (w *Watch) canary(key StationKey, now time.Time) (next time.Time) {
	c := w.canaries[key]
	if c == nil {
		return time.Time{}
	}
	cause := Key(key.Tenant, CauseCanary+"/"+key.Station)
	was, is := w.said[cause]
	withdrawn := c.ended && (c.reason == reasonOf(delivery.ReasonCancelled) ||
		c.reason == reasonOf(delivery.ReasonVoided))
	due := c.accepted.Add(CanaryAfter)
	text := fmt.Sprintf("the printer of %s did not print its morning ticket: %s; look before the "+
		"first order comes", key.Station, c.reason)
	switch {
	case c.proven, withdrawn, !now.Before(c.expires):
		if is {
			w.clear(cause)
		}
		delete(w.canaries, key)
		return time.Time{}
	case !c.ended && now.Before(due):
		return due
	case text == c.told:
		return c.expires
	case c.told != "" && is && now.Before(was.at.Add(UpdateAfter)):
		return was.at.Add(UpdateAfter)
	}
	c.told = text
	w.raise(Raise{Tenant: key.Tenant, Cause: cause.ID, Kitchen: w.places[key].Kitchen,
		Station: key.Station, Severity: P1, Count: 1, Text: text, For: c.expires.Sub(now)}, now)
	return c.expires
}

// reasonOf is how newTicket tells of a cancellation.
func reasonOf(word string) string { return string(delivery.Cancelled) + ", " + word }
