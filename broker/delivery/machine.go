package delivery

import (
	"errors"
	"fmt"
	"time"

	"chit/device/wire"
)

// Event is something that happened to a delivery. Only the fields that its word needs are set.
type Event struct {
	What    Word
	At      time.Time
	Reason  string
	Why     string // a person's words, or the ticket that ended it, where Reason is a fixed one
	Attempt int
	Device  string
	Who     string
	Handing *Handing // dispatched
	Ack     *wire.Ack
	Memory  uint64        // of the device whose ack it is
	Until   time.Time     // stored, held: the lease's new end; redriven, approved: the window's
	Pause   time.Duration // failed, deferred: the wait drawn
	Limit   time.Duration // and the limit that it was drawn below
	To      string        // moved: the station that takes over
	Home    bool          // moved: it is the delivery's own
	Recall  *Recall       // recall-…
	Clear   bool          // recall-answered: it proves that there is no paper
}

// Action is what may be asked of a delivery: [Hand], [Say], [Elapse], [Leave], [Unsend], [Birth],
// [Again], [End], [Outdate], [Drop], [Answer], [Move].
type Action interface{ action() }

// Handing is one handing-over.
type Handing struct {
	Lease    Lease
	Memory   uint64 // the device's memory generation
	Place    Place
	Status   string
	Address  string
	Marks    []wire.Mark
	Number   string
	Previous string
	Day      string
	Gaps     string
}

// Hand gives a waiting delivery to a live session. Epoch is the delivery's as it was read.
type Hand struct {
	Epoch uint64
	Handing
}

// Say is a device's answer, its signature verified. Memory is the device's memory generation,
// Chance the random number for a back-off, from [0, 1).
type Say struct {
	Device string
	Memory uint64
	Ack    wire.Ack
	Chance float64
}

// Elapse asks what time has ended. Chance is as in Say.
type Elapse struct{ Chance float64 }

// Leave says that the device is away, or that the lease was lost by the broker's restart.
type Leave struct {
	Epoch  uint64
	Reason string // such as "away", "session", "restart", "unsent"
	// Judge says that the next birth tells whether the lease was an attempt; otherwise it was none.
	Judge bool
}

// Unsend says that the lease's message never left: the engine did not take it, a deferral; or,
// Final, it cannot be made at all, which no repetition betters.
type Unsend struct {
	Epoch  uint64
	Reason string
	Final  bool
	Chance float64
}

// Birth says that the device has said hello.
type Birth struct {
	Device  string
	Journal string
	Boot    uint64
	Chance  float64
}

// Again is a person's redrive.
type Again struct{ Who, Why string }

// End cancels.
type End struct {
	Epoch  uint64 // 0: whatever it is by now
	Who    string // "": no person, but what Why names
	Reason string // a word
	Why    string
}

func (Hand) action()   {}
func (Say) action()    {}
func (Elapse) action() {}
func (Leave) action()  {}
func (Unsend) action() {}
func (Birth) action()  {}
func (Again) action()  {}
func (End) action()    {}
func (Move) action()   {}

// ErrNotDue refuses to hand over a delivery before it is due.
var ErrNotDue = errors.New("delivery: not due")

// Ignored is why an ack changed nothing, in a word for counters: digest, foreign-device,
// unknown-attempt, replayed, old-attempt, settled, unasked.
type Ignored struct{ Reason string }

func (i Ignored) Error() string { return "delivery: ack ignored: " + i.Reason }

// Counts reports whether the ack was genuine and about this event, so that the device may stop
// repeating it although it came too late to have an effect.
func (i Ignored) Counts() bool {
	return i.Reason == "old-attempt" || i.Reason == "settled" || i.Reason == "unasked"
}

// Machine is a delivery's state machine. It implements
// entity.Machine[Delivery, Action, Event].
type Machine struct{}

// Decide says what becomes of d. No events and no error: nothing.
func (m Machine) Decide(d Delivery, a Action, now time.Time) ([]Event, error) {
	events, err := m.decide(d, a, now)
	if err != nil {
		return nil, err
	}
	return d.recalls(d.unburied(events), now), nil
}

func (Machine) decide(d Delivery, a Action, now time.Time) ([]Event, error) {
	switch a := a.(type) {
	case Hand:
		return hand(d, a, now)
	case Say:
		return say(d, a, now)
	case Elapse:
		return elapse(d, a.Chance, now), nil
	case Leave:
		return leave(d, a, now)
	case Unsend:
		return unsend(d, a, now)
	case Birth:
		return birth(d, a, now), nil
	case Again:
		return again(d, a, now)
	case End:
		return end(d, a, now)
	case Outdate:
		return outdate(d, a, now)
	case Drop:
		return drop(d, a, now)
	case Answer:
		return answered(d, a, now), nil
	case Move:
		return move(d, a, now)
	}
	panic(fmt.Sprintf("delivery: unknown action %T", a))
}

func hand(d Delivery, h Hand, now time.Time) ([]Event, error) {
	switch {
	case d.State != Waiting || d.Epoch != h.Epoch:
		return nil, fmt.Errorf("%w: %s is %s at epoch %d, read at %d", ErrMoved, d.Ticket, d.State,
			d.Epoch, h.Epoch)
	case now.Before(d.Due):
		return nil, fmt.Errorf("%w: %s before %s", ErrNotDue, d.Ticket, d.Due)
	case d.past(now) != "":
		return elapse(d, 0, now), nil // Never dispatched past its ends, also before the timer came.
	}
	handing := h.Handing
	return []Event{{What: Dispatched, At: now, Attempt: d.Attempt + 1, Device: h.Lease.Device,
		Handing: &handing}}, nil
}

// past is the word for the end that has passed, "" for none.
func (d Delivery) past(now time.Time) string {
	switch {
	case !now.Before(d.Expires):
		return "expired"
	case !now.Before(d.WindowEnd):
		return "window"
	}
	return ""
}

// Ends is when time alone will end the delivery's state, zero where it does not: the entity's
// timer. A parked delivery has no other timer than the end of its window; one that is over and is
// still being recalled has the event's own end.
func (d Delivery) Ends() time.Time {
	switch {
	case d.State == Leased:
		return d.Lease.Until
	case !d.State.Open() && len(d.Recalls) > 0:
		return d.Expires
	case !d.State.Open():
		return time.Time{}
	case d.Expires.Before(d.WindowEnd):
		return d.Expires
	}
	return d.WindowEnd
}

func elapse(d Delivery, chance float64, now time.Time) []Event {
	if ends := d.Ends(); ends.IsZero() || now.Before(ends) {
		return nil
	}
	if !d.State.Open() {
		return d.forget(now)
	}
	if d.State != Leased {
		return []Event{bury(d, d.past(now), now)}
	}
	// A device that said "stored" or "held" has answered: what is late is the paper, and asking
	// again only makes it say so again. A device that said nothing was given an attempt in vain.
	if d.Lease.Stored {
		return settleEnds(d, []Event{d.pause(Deferred, "unfinished", chance, now)}, now)
	}
	return settleEnds(d, []Event{d.pause(Failed, "unanswered", chance, now)}, now)
}

// pause ends the lease as a failed attempt or as a deferral and draws the wait after it.
func (d Delivery) pause(what Word, reason string, chance float64, now time.Time) Event {
	n := d.Streak + 1
	if what == Failed {
		n = d.Failed + 1
	}
	e := Event{What: what, At: now, Reason: reason, Attempt: d.Attempt, Pause: Pause(n, chance),
		Limit: PauseLimit(n)}
	if d.Lease != nil {
		e.Device = d.Lease.Device
	}
	return e
}

// settleEnds adds the death that the events lead to, if they do.
func settleEnds(d Delivery, events []Event, now time.Time) []Event {
	failed := d.Failed
	if events[0].What == Failed {
		failed++
	}
	if reason := d.past(now); reason != "" {
		return append(events, bury(d, reason, now))
	}
	if failed >= AttemptsMax {
		return append(events, bury(d, "attempts", now))
	}
	return events
}

func bury(d Delivery, reason string, now time.Time) Event {
	return Event{What: Buried, At: now, Reason: reason, Attempt: d.Attempt}
}

func leave(d Delivery, l Leave, now time.Time) ([]Event, error) {
	if d.Epoch != l.Epoch {
		return nil, fmt.Errorf("%w: %s is at epoch %d, read at %d", ErrMoved, d.Ticket, d.Epoch, l.Epoch)
	}
	if d.State != Waiting && d.State != Leased {
		return nil, nil
	}
	e := Event{What: ParkedNow, At: now, Reason: l.Reason}
	if d.State == Leased {
		e.Attempt, e.Device = d.Attempt, d.Lease.Device
		if l.Judge {
			return []Event{e}, nil
		}
		return []Event{d.free(l.Reason, now), e}, nil
	}
	return []Event{e}, nil
}

func unsend(d Delivery, u Unsend, now time.Time) ([]Event, error) {
	if d.State != Leased || d.Epoch != u.Epoch {
		return nil, nil // It was answered, so it had left.
	}
	if u.Final {
		return []Event{bury(d, u.Reason, now)}, nil
	}
	return settleEnds(d, []Event{d.pause(Deferred, u.Reason, u.Chance, now)}, now), nil
}

// free ends a lease that was not the ticket's fault and costs no wait.
func (d Delivery) free(reason string, now time.Time) Event {
	return Event{What: Deferred, At: now, Reason: reason, Attempt: d.Attempt, Device: d.Lease.Device}
}

// birth wakes a parked delivery and judges a lease that the old session left unsettled: it was an
// attempt only if the process is another one and had not said that the ticket is stored; else it
// was the link, or a restart (DESIGN.md section 5).
func birth(d Delivery, b Birth, now time.Time) []Event {
	switch {
	case d.State == Leased && d.Lease.Device != b.Device:
		return nil // Another device's birth says nothing about this lease.
	case (d.State == Leased || d.State == Parked) && d.Lease != nil && d.Lease.Device == b.Device:
		switch {
		case d.Lease.Journal == b.Journal && d.Lease.Boot == b.Boot:
			return settleEnds(d, []Event{d.free("link", now)}, now)
		case d.Lease.Journal == b.Journal && d.Lease.Stored:
			// The device had answered and still knows the ticket: it goes on by itself, and counts
			// on its own how often the ticket ended its process.
			return settleEnds(d, []Event{d.free("restarted", now)}, now)
		}
		return settleEnds(d, []Event{d.pause(Failed, "crashed", b.Chance, now)}, now)
	case d.State == Parked:
		events := []Event{{What: Woken, At: now, Device: b.Device}}
		return settleEnds(d, events, now)
	}
	return nil
}

func again(d Delivery, a Again, now time.Time) ([]Event, error) {
	if d.State != Dead {
		return nil, nil
	}
	if !now.Before(d.Expires) {
		return nil, fmt.Errorf("%w: %s at %s", ErrExpired, d.Ticket, d.Expires.Format(time.RFC3339))
	}
	return []Event{{What: Redriven, At: now, Who: a.Who, Reason: a.Why, Until: now.Add(Window)}}, nil
}

func end(d Delivery, e End, now time.Time) ([]Event, error) {
	if e.Epoch != 0 && e.Epoch != d.Epoch {
		return nil, fmt.Errorf("%w: %s is at epoch %d, read at %d", ErrMoved, d.Ticket, d.Epoch, e.Epoch)
	}
	if d.State == Settled || d.State == Cancelled {
		return nil, nil
	}
	return []Event{{What: CancelDone, At: now, Who: e.Who, Reason: e.Reason, Why: e.Why}}, nil
}
