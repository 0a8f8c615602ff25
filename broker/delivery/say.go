package delivery

import (
	"time"

	"chit/device/wire"
)

// say judges a device's answer by the table of DESIGN.md section 4.
func say(d Delivery, s Say, now time.Time) ([]Event, error) {
	ack := s.Ack
	if err := genuine(d, s); err != nil {
		return nil, err
	}
	if e, ok := d.answers(s, now); ok {
		return []Event{e}, nil
	}
	switch {
	case ack.Outcome.OnPaper():
		return saidPaper(d, s, now)
	case ack.Outcome == wire.OutcomeRecalled:
		return nil, Ignored{"unasked"} // It ends the recall it names, nothing else.
	case d.State == Settled || d.State == Cancelled || d.State == Dead:
		return nil, Ignored{"settled"}
	case d.State != Leased || ack.Attempt != d.Attempt || d.Lease.Device != s.Device ||
		ack.Journal != d.Lease.Journal: // Another journal's news are older than the lease.
		return nil, Ignored{"old-attempt"}
	}
	e := d.said(s, now)
	if ack.Outcome == wire.OutcomeHeld && ack.Reason == ReasonStale {
		// It asks for a person's word, which may take hours, and takes no room at its printer.
		e.What = Staled
		return []Event{e}, nil
	}
	switch ack.Outcome {
	case wire.OutcomeStored, wire.OutcomeHeld:
		e.What = Stored
		if ack.Outcome == wire.OutcomeHeld {
			e.What = Held
		}
		e.Until = d.prolonged(now)
		return []Event{e}, nil
	case wire.OutcomeExpired:
		e.What, e.Reason = Buried, "expired"
		return []Event{e}, nil
	case wire.OutcomeRefused:
		return refused(d, s, e, now), nil
	}
	return nil, Ignored{"unknown-outcome"}
}

// genuine checks that the ack speaks of this event and that its device was ever given it.
func genuine(d Delivery, s Say) error {
	ack := s.Ack
	handed, ok := d.handedTo(s.Device)
	unread := ack.Digest == "" &&
		(ack.Outcome == wire.OutcomeRefused || ack.Outcome == wire.OutcomeRecalled)
	switch {
	case !ok || ack.Device != s.Device:
		return Ignored{"foreign-device"}
	case ack.Digest != d.Digest && !unread:
		return Ignored{"digest"}
	case ack.Attempt < handed.First || ack.Attempt > handed.Last:
		return Ignored{"unknown-attempt"}
	case d.heard(handed, s):
		return Ignored{"replayed"}
	}
	return nil
}

// heard reports whether the ack was taken before. A device's n only grows within a journal, so an
// ack that is not about paper is old news when a newer one of its ticket is known; news of paper is
// never too old, only known already.
func (d Delivery) heard(h Handed, s Say) bool {
	key := s.Ack.Key()
	if key == h.Heard || d.Printed != nil && d.Printed.Ack == key {
		return true
	}
	for _, paper := range d.Doubled {
		if paper.Ack == key {
			return true
		}
	}
	return !s.Ack.Outcome.OnPaper() && h.Memory == s.Memory && h.Heard.Journal == key.Journal &&
		key.N <= h.Heard.N
}

func (d Delivery) handedTo(device string) (Handed, bool) {
	for _, h := range d.Handed {
		if h.Device == device {
			return h, true
		}
	}
	return Handed{}, false
}

// said is the event of an ack, to be given its word.
func (d Delivery) said(s Say, now time.Time) Event {
	ack := s.Ack
	return Event{At: now, Attempt: ack.Attempt, Device: s.Device, Reason: ack.Reason, Ack: &ack,
		Memory: s.Memory}
}

// saidPaper settles, whatever the state and the attempt were. Settled already, the same journal can
// only better its evidence; another journal has printed a second paper.
func saidPaper(d Delivery, s Say, now time.Time) ([]Event, error) {
	e := d.said(s, now)
	switch {
	case d.State != Settled:
		e.What = Printed
	case d.Printed.Ack.Journal == s.Ack.Journal:
		better := wire.Stronger(d.Evidence, s.Ack.Evidence) != d.Evidence
		if !better && (!s.Ack.Marked || d.Marked) {
			return nil, Ignored{"settled"}
		}
		e.What = Confirmed
	default:
		for _, paper := range d.Doubled {
			if paper.Ack.Journal == s.Ack.Journal {
				return nil, Ignored{"settled"}
			}
		}
		e.What = Doubled
	}
	return []Event{e}, nil
}

// prolonged is the lease's end after an answer: a lease's length from now, but not past the window,
// which is the outage bound also for a printer that nobody gives paper.
func (d Delivery) prolonged(now time.Time) time.Time {
	until := now.Add(d.Lease.For)
	if until.After(d.WindowEnd) {
		until = d.WindowEnd
	}
	if until.Before(d.Lease.Until) {
		return d.Lease.Until
	}
	return until
}

func refused(d Delivery, s Say, e Event, now time.Time) []Event {
	if s.Ack.Permanent {
		e.What, e.Reason = Buried, "refused:"+s.Ack.Reason
		if r := s.Ack.Reason; r == ReasonStale || r == ReasonNotWanted {
			e.Reason = r // The kitchen's policy or a person's word, only carried out there.
		}
		return []Event{e}
	}
	what := Failed
	if s.Ack.Reason == "storage" {
		what = Deferred // The device cannot remember: that is not the ticket's fault.
	}
	paused := d.pause(what, "refused:"+s.Ack.Reason, s.Chance, now)
	paused.Ack, paused.Memory, paused.Device = e.Ack, e.Memory, e.Device
	return settleEnds(d, []Event{paused}, now)
}
