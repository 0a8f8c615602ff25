package ledger

import (
	"fmt"
	"time"
)

// Deed is what a transfer asks an account to do.
type Deed string

// The deeds.
const (
	Reserve Deed = "reserve" // hold the amount
	Pay     Deed = "pay"     // post the credit
	// Capture makes the hold the entry. Once the hold is granted it cannot be refused: not by a
	// freeze, not by the hold's end, not by a limit.
	Capture Deed = "capture"
	Release Deed = "release" // let the hold go
	// Revoke says that Reserve or Pay is not wanted any more. Where it comes first they will find
	// it done and do nothing; where it comes second it does nothing, and their answer stands.
	Revoke Deed = "revoke"
)

// Step is what a transfer asks of an account. It says everything, so that it may come in any order
// and more than once: what the account did for this transfer and side it did once.
type Step struct {
	Tenant   string
	Transfer string
	Side     Side
	Do       Deed
	Account  string
	Amount   Minor
	Currency Currency
	HoldFor  time.Duration // of Reserve
}

// Book is what one account decides on: its sums, and its leg of the transfer in question.
type Book struct {
	Account Account // Format is 0 where there is no such account
	Leg     Leg     // State is "" where nothing was decided
}

// Entry is what happened to a book.
type Entry struct {
	What   Word
	At     time.Time
	Step   Step // of a leg that is born
	Reason string
}

// bookAction is something asked of a book.
type bookAction interface {
	book(b Book, now time.Time) ([]Entry, error)
}

// BookMachine is the state machine of one account's leg; see [LegState] for the drawing.
type BookMachine struct{}

// Decide implements entity.Machine. An error refuses what no transfer asks.
func (BookMachine) Decide(b Book, a bookAction, now time.Time) ([]Entry, error) {
	return a.book(b, now)
}

func (s Step) book(b Book, now time.Time) ([]Entry, error) {
	one := func(what Word, reason string) ([]Entry, error) {
		return []Entry{{What: what, At: now, Step: s, Reason: reason}}, nil
	}
	if err := s.check(b.Leg); err != nil {
		return nil, err
	}
	held := b.Leg.State == Held
	switch {
	case s.Do == Capture && held:
		return one(WasPosted, "")
	case s.Do == Release && held:
		return one(WasReleased, "")
	case s.Do == Capture && b.Leg.State != Posted, s.Do == Release && b.Leg.State != Freed:
		return nil, fmt.Errorf("%w: %s of %s, which is %q", ErrNoHold, s.Do,
			LegID(s.Transfer, s.Side), b.Leg.State)
	case b.Leg.State != "":
		return nil, nil // Done already; the answer is owed, or was heard.
	case s.Do == Revoke:
		return one(WasRevoked, "")
	}
	reason := b.Account.refuses(s)
	switch {
	case reason != "":
		return one(WasRefused, reason)
	case s.Do == Reserve:
		return one(WasHeld, "")
	}
	return one(WasPosted, "")
}

// check refuses a step that does not fit the leg, which no transfer sends.
func (s Step) check(l Leg) error {
	debit := s.Do == Reserve || s.Do == Capture || s.Do == Release
	fits := s.Side == Debit && debit || s.Side == Credit && s.Do == Pay ||
		s.Do == Revoke && (s.Side == Debit || s.Side == Credit)
	if !fits {
		return &InputError{Field: "side", Found: fmt.Sprintf("%q with %q", s.Side, s.Do),
			Expected: "debit with reserve, capture, release and revoke, or credit with pay and revoke"}
	}
	if l.State == "" {
		return checkAmount(s.Amount)
	}
	if l.Account != s.Account || l.Amount != s.Amount || l.Currency != s.Currency {
		return fmt.Errorf("%w: %s of %s asks account %s for %d %s, and it did %d %s at %s", ErrConflict,
			s.Do, l.ID(), s.Account, s.Amount, s.Currency, l.Amount, l.Currency, l.Account)
	}
	return nil
}

// refuses says why the account does not take a new hold or credit; "" where it does.
func (a Account) refuses(s Step) string {
	switch {
	case a.Format == 0:
		return ReasonUnknown
	case a.Currency != s.Currency:
		return ReasonCurrency
	case s.Do == Pay:
		if _, ok := add(a.Balance, s.Amount); !ok {
			return ReasonOverflow
		}
		return ""
	case a.Frozen != nil:
		return ReasonFrozen
	}
	held, ok := add(a.Held, s.Amount)
	if !ok {
		return ReasonOverflow
	}
	// Captures leave this difference as it is and credits raise it: it fits until the capture.
	left, ok := add(a.Balance, -held)
	switch {
	case !ok:
		return ReasonOverflow
	case !a.Outside && left < -a.Limit:
		return ReasonInsufficient
	}
	return ""
}

func (Expire) book(b Book, now time.Time) ([]Entry, error) {
	if end := b.Leg.Timer(); end.IsZero() || now.Before(end) {
		return nil, nil
	}
	return []Entry{{What: WasAsked, At: now}}, nil
}

// Evolve is b after e. An event that cannot happen in the leg's state panics, and so does a sum
// that does not fit: Decide makes no such.
func (BookMachine) Evolve(b Book, e Entry) Book {
	l := &b.Leg
	to, ok := legArcs[arc[LegState]{l.State, e.What}]
	if !ok {
		panic(fmt.Sprintf("ledger: %s of leg %s/%s, which is %q", e.What, l.Tenant, l.ID(), l.State))
	}
	if l.State == "" {
		s := e.Step
		*l = Leg{Format: Format, Tenant: s.Tenant, Transfer: s.Transfer, Side: s.Side,
			Account: s.Account, Currency: s.Currency, Amount: s.Amount, Reason: e.Reason}
	}
	switch e.What {
	case WasHeld:
		l.Granted, l.Ends = e.At, e.At.Add(e.Step.HoldFor)
		b.Account.hold(l.Amount, 1)
	case WasReleased:
		b.Account.hold(-l.Amount, -1)
	case WasAsked:
		l.Asked = e.At
	case WasPosted:
		if l.State == Held {
			b.Account.hold(-l.Amount, -1)
		}
		b.post(e.At)
	}
	l.State = to
	l.say(e)
	return b
}

// hold changes the sum of the holds.
func (a *Account) hold(amount Minor, count int) {
	held, ok := add(a.Held, amount)
	if a.Holds += count; !ok || held < 0 || a.Holds < 0 {
		panic(fmt.Sprintf("ledger: account %s/%s holds %d in %d holds, changed by %d", a.Tenant, a.ID,
			a.Held, a.Holds, amount))
	}
	a.Held = held
}

// post makes the leg the account's next entry.
func (b *Book) post(at time.Time) {
	a, l := &b.Account, &b.Leg
	balance, ok := add(a.Balance, l.Signed())
	if !ok {
		panic(fmt.Sprintf("ledger: account %s/%s has %d, changed by %d", a.Tenant, a.ID, a.Balance,
			l.Signed()))
	}
	a.Balance, a.Entries = balance, a.Entries+1
	l.Number, l.Balance, l.Previous, l.Posted = a.Entries, balance, a.Last, at
	a.Last = l.ID()
}

// say owes the transfer a new answer, at an instant that no answer of this leg had before.
func (l *Leg) say(e Entry) {
	l.Said = e.What
	if next := l.Owed.Add(time.Millisecond); !l.Owed.IsZero() && e.At.Before(next) {
		l.Owed = next
		return
	}
	l.Owed = e.At
}
