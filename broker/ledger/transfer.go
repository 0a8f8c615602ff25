package ledger

import (
	"fmt"
	"slices"
	"time"
)

// HoldFor is how long a hold is given where nobody says, HoldMax how long at most.
const (
	HoldFor = 15 * time.Minute
	HoldMax = 31 * 24 * time.Hour
)

// Kind says what a transfer is for.
type Kind string

// The kinds.
const (
	KindPayment    Kind = "transfer"
	KindDeposit    Kind = "deposit"
	KindWithdrawal Kind = "withdrawal"
	KindRefund     Kind = "refund"
)

// Why a transfer came to nothing: Reason of Failed, Releasing and Released. What an account refused
// begins with "refused:" in the last two.
const (
	ReasonInsufficient = "insufficient" // available less the amount is below the limit
	ReasonFrozen       = "frozen"
	ReasonOverflow     = "overflow" // the balance would not fit 64 bits
	ReasonCurrency     = "currency"
	ReasonUnknown      = "unknown-account"
	ReasonExpired      = "expired"   // the hold's end came first
	ReasonCancelled    = "cancelled" // by a person or an order
)

// Transfer is one transfer, as stored. Instants are in UTC.
type Transfer struct {
	Format   int      `json:"v"`
	Tenant   string   `json:"tenant"`
	Key      string   `json:"key"` // the idempotency key
	Kind     Kind     `json:"kind"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Amount   Minor    `json:"amount"`
	Currency Currency `json:"currency"`
	// HoldFor is how long the payer's account holds the amount before it asks.
	HoldFor time.Duration `json:"hold_for_ns"`
	// Wait is true for one that was to stay Reserved until confirmed.
	Wait bool `json:"wait,omitempty"`
	// Original is the transfer that a refund takes back.
	Original string    `json:"original,omitempty"`
	Created  time.Time `json:"created"`

	Phase Phase `json:"phase"`
	// Waiting is true as long as somebody has to confirm.
	Waiting bool `json:"waiting,omitempty"`
	// Reason is why it is to end, or ended, without moving anything.
	Reason string `json:"reason,omitempty"`
	// Refunded is the sum of the refunds that were begun and did not come to nothing.
	Refunded Minor    `json:"refunded,omitempty"`
	Timeline []Moment `json:"timeline"`
	Dropped  int      `json:"dropped,omitempty"` // moments that are no longer kept
}

// TimelineMax bounds the kept story: a saga has at most seven moments, refunds may be many.
const TimelineMax = 32

// Moment is one line of a transfer's story.
type Moment struct {
	At     time.Time `json:"at"`
	What   Word      `json:"what"`
	Phase  Phase     `json:"phase"`
	Reason string    `json:"reason,omitempty"`
	Who    string    `json:"who,omitempty"`
	Why    string    `json:"why,omitempty"`
	Refund string    `json:"refund,omitempty"`
}

// ending reports whether the transfer is to be taken back as soon as it is known how.
func (t Transfer) ending() bool {
	return t.Reason != "" && (t.Phase == Created || t.Phase == Reserved)
}

// Owes is the step that the transfer is waiting for; ok is false where it waits for a person, or
// for nothing.
func (t Transfer) Owes() (step Step, ok bool) {
	side, do := Debit, Reserve
	switch {
	case t.Phase == Created && t.ending():
		do = Revoke
	case t.Phase == Created:
	case t.Phase == Reserved && t.ending():
		side, do = Credit, Revoke
	case t.Phase == Reserved && t.Waiting:
		return Step{}, false
	case t.Phase == Reserved:
		side, do = Credit, Pay
	case t.Phase == Credited:
		do = Capture
	case t.Phase == Releasing:
		do = Release
	default:
		return Step{}, false
	}
	step = Step{Tenant: t.Tenant, Transfer: t.Key, Side: side, Do: do, Account: t.From,
		Amount: t.Amount, Currency: t.Currency}
	if side == Credit {
		step.Account = t.To
	}
	if do == Reserve {
		step.HoldFor = t.HoldFor
	}
	return step, true
}

// action is something asked of one transfer.
type action interface {
	decide(t Transfer, now time.Time) []Event
}

// Event is what happened to a transfer.
type Event struct {
	What     Word
	At       time.Time
	Transfer Transfer // of Began
	Reason   string
	Who, Why string
	Refund   string // of Claimed and Returned
	Amount   Minor  // of Claimed and Returned
}

// Machine is the state machine of one transfer; see [Phase] for the drawing.
type Machine struct{}

// Decide implements entity.Machine. It never refuses: what does not fit the phase does nothing.
func (Machine) Decide(t Transfer, a action, now time.Time) ([]Event, error) {
	return a.decide(t, now), nil
}

func (b begin) decide(t Transfer, now time.Time) []Event {
	if t.Phase != "" {
		return nil
	}
	return []Event{{What: Began, At: now, Transfer: b.t}}
}

func (c Confirm) decide(t Transfer, now time.Time) []Event {
	if !t.Waiting || t.ending() || t.Phase != Created && t.Phase != Reserved {
		return nil
	}
	return []Event{{What: Confirmed, At: now, Who: c.Who}}
}

func (c Cancel) decide(t Transfer, now time.Time) []Event {
	if t.ending() || t.Phase != Created && t.Phase != Reserved {
		return nil
	}
	return t.end(Event{What: Ended, At: now, Reason: ReasonCancelled, Who: c.Who, Why: c.Why})
}

// end takes a transfer back. Where the payee's account was never asked for the credit that is
// releasing at once; else it is asked first: the credit may be posted although nobody has heard so
// yet, and to let the hold go then would make money.
func (t Transfer) end(e Event) []Event {
	events := []Event{e}
	if t.Phase == Reserved && t.Waiting {
		events = append(events, Event{What: BeganReleasing, At: e.At, Reason: e.Reason})
	}
	return events
}

// decide is the transfer's own reading of what an account says. Each word counts in one phase
// alone, so that a late or repeated one changes nothing.
func (a Answer) decide(t Transfer, now time.Time) []Event {
	one := func(what Word, reason string) []Event {
		return []Event{{What: what, At: now, Reason: reason}}
	}
	switch {
	case a.Side == Debit && a.Said == WasAsked:
		return a.asked(t, now)
	case a.Side == Debit && t.Phase == Created && a.Said == WasHeld:
		return t.reserved(now)
	case a.Side == Debit && t.Phase == Created && a.Said == WasRefused:
		return one(SaidFailed, a.Reason)
	case a.Side == Debit && t.Phase == Created && a.Said == WasRevoked:
		return one(SaidFailed, t.Reason)
	case a.Side == Debit && t.Phase == Credited && a.Said == WasPosted:
		return one(SaidCaptured, "")
	case a.Side == Debit && t.Phase == Releasing && a.Said == WasReleased:
		return one(SaidReleased, t.Reason)
	case a.Side == Credit && t.Phase == Reserved && a.Said == WasPosted:
		return one(SaidCredited, "") // Also of one that was to end: the payee was quicker.
	case a.Side == Credit && t.Phase == Reserved && a.Said == WasRevoked:
		return one(BeganReleasing, t.Reason)
	case a.Side == Credit && t.Phase == Reserved && a.Said == WasRefused:
		reason := "refused:" + a.Reason
		if t.ending() {
			reason = t.Reason
		}
		return one(BeganReleasing, reason)
	}
	return nil
}

// reserved takes note of the hold, and lets it go again where the transfer ended meanwhile: the
// credit was not asked for yet.
func (t Transfer) reserved(now time.Time) []Event {
	events := []Event{{What: SaidReserved, At: now}}
	if t.ending() {
		events = append(events, Event{What: BeganReleasing, At: now, Reason: t.Reason})
	}
	return events
}

// asked decides what becomes of a hold past its end (DESIGN.md section 6): before Credited it goes
// back, from Credited on it is captured. One that asks was granted, heard or not.
func (a Answer) asked(t Transfer, now time.Time) []Event {
	ended := Event{What: Ended, At: now, Reason: ReasonExpired}
	switch {
	case t.Phase == Created && t.ending():
		return t.reserved(now)
	case t.Phase == Created:
		return append(t.reserved(now), ended,
			Event{What: BeganReleasing, At: now, Reason: ReasonExpired})
	case t.Phase == Reserved && !t.ending():
		return t.end(ended)
	}
	return nil // The step that answers is owed already, or was carried out.
}

// decide counts a refund against its original, or takes it off again.
func (c claim) decide(t Transfer, now time.Time) []Event {
	what := Claimed
	if c.amount < 0 {
		what = Returned
	}
	return []Event{{What: what, At: now, Refund: c.refund, Amount: c.amount}}
}

// Evolve is t after e. An event that cannot happen in t's phase panics: Decide makes no such.
func (Machine) Evolve(t Transfer, e Event) Transfer {
	to, ok := transferArcs[arc[Phase]{t.Phase, e.What}]
	if !ok {
		panic(fmt.Sprintf("ledger: %s of transfer %s/%s, which is %q", e.What, t.Tenant, t.Key, t.Phase))
	}
	t.Timeline = slices.Clone(t.Timeline)
	switch e.What {
	case Began:
		t = e.Transfer
		t.Format, t.Created, t.Waiting = Format, e.At, t.Wait
	case Confirmed:
		t.Waiting = false
	case Ended, BeganReleasing, SaidFailed, SaidReleased:
		t.Reason = e.Reason
	case SaidCredited:
		t.Reason = "" // It was to end and did not.
	case Claimed, Returned:
		sum, ok := add(t.Refunded, e.Amount)
		if !ok || sum < 0 || sum > t.Amount {
			panic(fmt.Sprintf("ledger: transfer %s/%s of %d is refunded by %d and now by %d", t.Tenant,
				t.Key, t.Amount, t.Refunded, e.Amount))
		}
		t.Refunded = sum
	}
	t.Phase = to
	t.Timeline = append(t.Timeline, Moment{At: e.At, What: e.What, Phase: to, Reason: e.Reason,
		Who: e.Who, Why: e.Why, Refund: e.Refund})
	if extra := len(t.Timeline) - TimelineMax; extra > 0 {
		t.Timeline = slices.Delete(t.Timeline, 1, 1+extra) // The first says how it began.
		t.Dropped += extra
	}
	return t
}
