package ledger

import (
	"fmt"
	"strconv"
	"time"

	"chit/broker/entity"
)

// Open opens an account. The same again changes nothing; with another currency it is [ErrConflict].
// Its answer is the [Account].
type Open struct {
	Tenant, Account string
	Currency        Currency
	// Limit is how far below zero the available amount may go. Opened again with another limit is
	// [ErrConflict] too: see [SetLimit].
	Limit Minor
}

// SetLimit changes an account's limit, never to one that the account has passed already. Its answer
// is the [Account].
type SetLimit struct {
	Tenant, Account string
	Limit           Minor
	Who             string
}

// Freeze blocks new holds on an account. Its answer is the [Account].
type Freeze struct{ Tenant, Account, Who, Why string }

// Thaw ends a freeze. Its answer is the [Account].
type Thaw struct{ Tenant, Account, Who, Why string }

// Begin begins a transfer between two accounts. Its name is the key: the same again is answered as
// the transfer stands, also where it failed; with other content it is [ErrConflict]. Its answer is
// a [Result].
type Begin struct {
	Tenant, Key string
	From, To    string
	Amount      Minor
	Currency    Currency
	// HoldFor is how long the payer's account holds the amount before it asks; [HoldFor] where 0.
	HoldFor time.Duration
	// Wait keeps the transfer Reserved until [Confirm], or takes it back at [Cancel] or the hold's
	// end.
	Wait bool
}

// Deposit begins a transfer from outside to an account. Its answer is a [Result].
type Deposit struct {
	Tenant, Key, Account string
	Amount               Minor
	Currency             Currency // the account's where empty
}

// Withdraw begins a transfer from an account to outside. Its answer is a [Result].
type Withdraw struct {
	Tenant, Key, Account string
	Amount               Minor
	Currency             Currency // the account's where empty
}

// Refund begins a transfer that takes back a captured one or a part of it; all refunds of one are
// together never above it. Its answer is a [Result].
type Refund struct {
	Tenant, Key string
	Original    string
	Amount      Minor
}

// Confirm lets a transfer go on that waits. Its answer is a [Result].
type Confirm struct{ Tenant, Key, Who string }

// Cancel takes a transfer back that was not credited yet. Its answer is a [Result]; one that was is
// answered as it stands, and is for a [Refund].
type Cancel struct{ Tenant, Key, Who, Why string }

// Result is what the commands about transfers answer, as JSON.
type Result struct {
	Key    string `json:"key"`
	Phase  Phase  `json:"phase"`
	Reason string `json:"reason,omitempty"`
	// Changed is false where the command found nothing to do.
	Changed bool `json:"changed"`
}

// The commands are not remembered by an id of their own: what they name remembers.

// Identity implements [entity.Command].
func (o Open) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (s SetLimit) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (f Freeze) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (t Thaw) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (b Begin) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (d Deposit) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (w Withdraw) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (r Refund) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (c Confirm) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (c Cancel) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (o Open) Name() string { return "account-open" }

// Name implements desk.Named.
func (s SetLimit) Name() string { return "account-limit" }

// Name implements desk.Named.
func (f Freeze) Name() string { return "account-freeze" }

// Name implements desk.Named.
func (t Thaw) Name() string { return "account-thaw" }

// Name implements desk.Named.
func (b Begin) Name() string { return "transfer-begin" }

// Name implements desk.Named.
func (d Deposit) Name() string { return "transfer-deposit" }

// Name implements desk.Named.
func (w Withdraw) Name() string { return "transfer-withdraw" }

// Name implements desk.Named.
func (r Refund) Name() string { return "transfer-refund" }

// Name implements desk.Named.
func (c Confirm) Name() string { return "transfer-confirm" }

// Name implements desk.Named.
func (c Cancel) Name() string { return "transfer-cancel" }

// Decide implements [entity.Command].
func (b Begin) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	for _, side := range []struct{ field, name string }{{"from", b.From}, {"to", b.To}} {
		if err := checkName(side.field, side.name); err != nil {
			return entity.Commit{}, err
		}
	}
	return start(view, Transfer{Tenant: b.Tenant, Key: b.Key, Kind: KindPayment, From: b.From,
		To: b.To, Amount: b.Amount, Currency: b.Currency, HoldFor: b.HoldFor, Wait: b.Wait}, now)
}

// Decide implements [entity.Command].
func (d Deposit) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	a, err := known(view, d.Tenant, d.Account)
	if err != nil {
		return entity.Commit{}, err
	}
	if d.Currency == "" {
		d.Currency = a.Currency
	}
	if err := checkSame(d.Currency, a); err != nil {
		return entity.Commit{}, err
	}
	return start(view, Transfer{Tenant: d.Tenant, Key: d.Key, Kind: KindDeposit,
		From: Outside(a.Currency), To: d.Account, Amount: d.Amount, Currency: d.Currency}, now)
}

// Decide implements [entity.Command].
func (w Withdraw) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	a, err := known(view, w.Tenant, w.Account)
	if err != nil {
		return entity.Commit{}, err
	}
	if w.Currency == "" {
		w.Currency = a.Currency
	}
	if err := checkSame(w.Currency, a); err != nil {
		return entity.Commit{}, err
	}
	return start(view, Transfer{Tenant: w.Tenant, Key: w.Key, Kind: KindWithdrawal,
		From: w.Account, To: Outside(a.Currency), Amount: w.Amount, Currency: w.Currency}, now)
}

// Decide implements [entity.Command].
func (r Refund) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	for _, name := range []struct{ field, name string }{{"key", r.Key}, {"original", r.Original}} {
		if err := checkName(name.field, name.name); err != nil {
			return entity.Commit{}, err
		}
	}
	t, version, err := LoadTransfer(view, r.Tenant, r.Original)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: transfer %s", ErrUnknown, r.Original)
	}
	refund := Transfer{Tenant: r.Tenant, Key: r.Key, Kind: KindRefund, From: t.To, To: t.From,
		Amount: r.Amount, Currency: t.Currency, Original: r.Original}
	if repeat, commit, err := repeated(view, refund); err != nil || repeat {
		return commit, err
	}
	left := t.Amount - t.Refunded
	switch {
	case t.Kind == KindRefund:
		return entity.Commit{}, &InputError{Field: "original", Found: "a refund itself",
			Expected: "a transfer that is none", Hint: "begin a new transfer"}
	case t.Phase != Captured:
		return entity.Commit{}, &InputError{Field: "original", Found: string(t.Phase),
			Expected: "a captured transfer", Hint: "one that is not credited yet can be cancelled"}
	case r.Amount > left:
		return entity.Commit{}, &InputError{Field: "amount",
			Found:    strconv.FormatInt(int64(r.Amount), 10),
			Expected: fmt.Sprintf("at most %d, what is not refunded of transfer %s", left, t.Key)}
	}
	commit, err := start(view, refund, now)
	if err != nil {
		return entity.Commit{}, err
	}
	counted, err := act(view, t, version, claim{refund: r.Key, amount: r.Amount}, now)
	join(&commit, counted)
	return commit, err
}

// Decide implements [entity.Command].
func (c Confirm) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return ask(view, c.Tenant, c.Key, c, now)
}

// Decide implements [entity.Command].
func (c Cancel) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return ask(view, c.Tenant, c.Key, c, now)
}
