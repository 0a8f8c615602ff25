package ledger

import (
	"fmt"
	"time"

	"chit/broker/entity"
)

// Send is the effect that carries a step to an account, Tell the one that carries an answer to a
// transfer. Both are commands; what is lost of them is found by the rows of ListSteps and
// ListAnswers.
type (
	// Send is a step that is owed and durable.
	Send struct{ Step Step }
	// Tell is an answer that is owed and durable.
	Tell struct{ Answer Answer }
)

// Changed is the effect that tells where a transfer stands now.
type Changed struct {
	Transfer Transfer
	What     []Word
}

// Answer is what an account says to a transfer: the word is the event of its leg. Where the
// transfer has applied it the account owes it no more.
type Answer struct {
	Tenant   string
	Transfer string
	Side     Side
	Said     Word
	Reason   string    // of WasRefused
	Owed     time.Time // of its row in ListAnswers
}

// Expire lets time act on a leg: a hold past its end is asked about. A timer that fires early finds
// nothing to do.
type Expire struct{ Tenant, Leg string }

// begin and claim are what transfers are told by other commands of this package.
type begin struct{ t Transfer }

type claim struct {
	refund string
	amount Minor // negative where the refund came to nothing
}

// Identity implements [entity.Command]: the leg remembers.
func (s Step) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command]: the phase remembers.
func (a Answer) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (e Expire) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (s Step) Name() string { return "ledger-" + string(s.Do) }

// Name implements desk.Named.
func (a Answer) Name() string { return "ledger-answer" }

// Name implements desk.Named.
func (e Expire) Name() string { return "ledger-expire" }

// Decide implements [entity.Command]: the account does what it is asked, or has done it.
func (s Step) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return keepBook(view, s.Tenant, s.Account, LegID(s.Transfer, s.Side), s, now)
}

// Decide implements [entity.Command].
func (e Expire) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	l, version, err := LoadLeg(view, e.Tenant, e.Leg)
	if err != nil || version == 0 {
		return entity.Commit{}, err
	}
	return keepBook(view, e.Tenant, l.Account, e.Leg, e, now)
}

// Decide implements [entity.Command]: the transfer goes on, and the account's duty to tell it is
// paid in the same Commit.
func (a Answer) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	commit, err := ask(view, a.Tenant, a.Transfer, a, now)
	if err != nil {
		return entity.Commit{}, err
	}
	commit.Paid = append(commit.Paid, entity.Row{List: ListAnswers, At: a.Owed,
		Key: LegKey(a.Tenant, LegID(a.Transfer, a.Side))})
	return commit, nil
}

// start begins a transfer, or answers how the one of this key stands.
func start(view entity.View, t Transfer, now time.Time) (entity.Commit, error) {
	if err := checkName("key", t.Key); err != nil {
		return entity.Commit{}, err
	}
	if repeat, commit, err := repeated(view, t); err != nil || repeat {
		return commit, err
	}
	if err := t.check(view); err != nil {
		return entity.Commit{}, err
	}
	if t.HoldFor == 0 {
		t.HoldFor = HoldFor
	}
	return act(view, Transfer{}, 0, begin{t}, now)
}

// check refuses what could never be captured. What depends on how the accounts stand by then is the
// accounts' to refuse.
func (t Transfer) check(view entity.View) error {
	if err := checkAmount(t.Amount); err != nil {
		return err
	}
	if err := checkCurrency(t.Currency); err != nil {
		return err
	}
	if t.From == t.To {
		return &InputError{Field: "to", Found: t.To, Expected: "another account than from"}
	}
	if t.HoldFor < 0 || t.HoldFor > HoldMax {
		return &InputError{Field: "hold_for", Found: t.HoldFor.String(),
			Expected: fmt.Sprintf("0 to %s", HoldMax)}
	}
	for _, id := range []string{t.From, t.To} {
		if id == Outside(t.Currency) {
			continue
		}
		a, version, err := LoadAccount(view, t.Tenant, id)
		if err != nil {
			return err
		}
		if version == 0 {
			return fmt.Errorf("%w: account %s", ErrUnknown, id)
		}
		if err := checkSame(t.Currency, a); err != nil {
			return err
		}
	}
	return nil
}

// repeated finds the transfer of the same key: as it stands, or in conflict.
func repeated(view entity.View, t Transfer) (bool, entity.Commit, error) {
	was, version, err := LoadTransfer(view, t.Tenant, t.Key)
	if err != nil || version == 0 {
		return false, entity.Commit{}, err
	}
	if t.HoldFor == 0 {
		t.HoldFor = HoldFor
	}
	for _, field := range []struct {
		name       string
		found, was any
	}{
		{"kind", t.Kind, was.Kind}, {"from", t.From, was.From}, {"to", t.To, was.To},
		{"amount", t.Amount, was.Amount}, {"currency", t.Currency, was.Currency},
		{"original", t.Original, was.Original}, {"hold_for", t.HoldFor, was.HoldFor},
		{"wait", t.Wait, was.Wait},
	} {
		if field.found != field.was {
			return false, entity.Commit{}, fmt.Errorf("%w: transfer %s has %s %v, asked for %v",
				ErrConflict, t.Key, field.name, field.was, field.found)
		}
	}
	commit := entity.Commit{Repeat: true}
	return true, commit, was.answer(&commit, false)
}

// ask asks an existing transfer.
func ask(view entity.View, tenant, key string, a action, now time.Time) (entity.Commit, error) {
	if err := checkName("key", key); err != nil {
		return entity.Commit{}, err
	}
	t, version, err := LoadTransfer(view, tenant, key)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: transfer %s", ErrUnknown, key)
	}
	return act(view, t, version, a, now)
}

// act asks the machine and makes the Commit: the new state, the row as long as a step is owed, the
// events, and the step itself. A refund that came to nothing is taken off its original with it.
func act(view entity.View, was Transfer, version uint64, a action, now time.Time) (
	entity.Commit, error) {
	is, events, err := entity.Step[Transfer, action, Event](Machine{}, was, a, now)
	if err != nil {
		return entity.Commit{}, err
	}
	var c entity.Commit
	if err := is.answer(&c, len(events) > 0); err != nil || len(events) == 0 {
		return c, err
	}
	key := TransferKey(is.Tenant, is.Key)
	data, err := marshal(key.String(), is)
	if err != nil {
		return entity.Commit{}, err
	}
	c.Changes = []entity.Change{{Key: key, Was: version, Data: data}}
	_, owed := was.Owes()
	step, owes := is.Owes()
	row := entity.Row{List: ListSteps, At: is.Created, Key: key}
	switch {
	case owes && !owed:
		c.Owed = append(c.Owed, row)
	case owed && !owes:
		c.Paid = append(c.Paid, row)
	}
	changed := Changed{Transfer: is}
	for _, e := range events {
		changed.What = append(changed.What, e.What)
		data, err := marshal("event", eventData{Format: Format, Phase: is.Phase, Amount: is.Amount,
			Currency: is.Currency, Reason: e.Reason, Refund: e.Refund, Who: e.Who, Why: e.Why})
		if err != nil {
			return entity.Commit{}, err
		}
		c.Events = append(c.Events, entity.Event{Key: key, Type: "transfer." + string(e.What),
			At: e.At, Data: data})
	}
	c.Effects = append(c.Effects, changed)
	if owes {
		c.Effects = append(c.Effects, Send{step})
	}
	if is.Original == "" || is.Phase != Failed && is.Phase != Released {
		return c, nil
	}
	returned, err := ask(view, is.Tenant, is.Original, claim{is.Key, -is.Amount}, now)
	join(&c, returned)
	return c, err
}

// join adds another decision to c, whose answer stays.
func join(c *entity.Commit, other entity.Commit) {
	c.Changes = append(c.Changes, other.Changes...)
	c.Events = append(c.Events, other.Events...)
	c.Owed = append(c.Owed, other.Owed...)
	c.Paid = append(c.Paid, other.Paid...)
	c.Effects = append(c.Effects, other.Effects...)
}

// answer is a Result as a Commit's answer.
func (t Transfer) answer(c *entity.Commit, changed bool) (err error) {
	c.Answer, err = marshal("answer", Result{Key: t.Key, Phase: t.Phase, Reason: t.Reason,
		Changed: changed})
	return err
}

// keepBook asks an account and makes the Commit: its sums, the leg with its timer, its row among
// the open holds, and the answer that it owes.
func keepBook(view entity.View, tenant, account, leg string, a bookAction, now time.Time) (
	entity.Commit, error) {
	b, version, legVersion, err := loadBook(view, tenant, account, leg, now)
	if err != nil {
		return entity.Commit{}, err
	}
	is, events, err := entity.Step[Book, bookAction, Entry](BookMachine{}, b, a, now)
	if err != nil || len(events) == 0 {
		return entity.Commit{}, err
	}
	var c entity.Commit
	if is.Account != b.Account {
		key := AccountKey(tenant, account)
		data, err := marshal(key.String(), is.Account)
		if err != nil {
			return entity.Commit{}, err
		}
		c.Changes = append(c.Changes, entity.Change{Key: key, Was: version, Data: data})
		c.Effects = append(c.Effects, AccountChanged{is.Account})
	}
	key := LegKey(tenant, leg)
	data, err := marshal(key.String(), is.Leg)
	if err != nil {
		return entity.Commit{}, err
	}
	c.Changes = append(c.Changes, entity.Change{Key: key, Was: legVersion, Data: data,
		Timer: is.Leg.Timer()})
	hold := entity.Row{List: ListHolds(account), At: is.Leg.Granted, Key: key}
	switch was, held := b.Leg.State == Held, is.Leg.State == Held; {
	case held && !was:
		c.Owed = append(c.Owed, hold)
	case was && !held:
		c.Paid = append(c.Paid, hold)
	}
	if legVersion > 0 {
		// What was said before is part of what is said now.
		c.Paid = append(c.Paid, entity.Row{List: ListAnswers, At: b.Leg.Owed, Key: key})
	}
	c.Owed = append(c.Owed, entity.Row{List: ListAnswers, At: is.Leg.Owed, Key: key})
	for _, e := range events {
		data, err := marshal("event", eventData{Format: Format, Account: account,
			Amount: is.Leg.Signed(), Currency: is.Leg.Currency, Reason: e.Reason})
		if err != nil {
			return entity.Commit{}, err
		}
		c.Events = append(c.Events, entity.Event{Key: key, Type: "leg." + string(e.What), At: e.At,
			Data: data})
	}
	c.Effects = append(c.Effects, Tell{is.Leg.Answer()})
	return c, nil
}

// loadBook reads an account and a leg. The outside of a currency is there without being opened.
func loadBook(view entity.View, tenant, account, leg string, now time.Time) (
	b Book, version, legVersion uint64, err error) {
	if b.Account, version, err = LoadAccount(view, tenant, account); err != nil {
		return Book{}, 0, 0, err
	}
	if version == 0 {
		b.Account = outside(tenant, account, now)
	}
	b.Leg, legVersion, err = LoadLeg(view, tenant, leg)
	return b, version, legVersion, err
}

// outside is the account of a currency's outside, the zero Account where id is none.
func outside(tenant, id string, now time.Time) Account {
	prefix := Outside("")
	if len(id) != len(prefix)+3 || id[:len(prefix)] != prefix {
		return Account{}
	}
	return Account{Format: Format, Tenant: tenant, ID: id, Currency: Currency(id[len(prefix):]),
		Outside: true, Opened: now}
}
