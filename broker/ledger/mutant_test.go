package ledger

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"chit/broker/entity"
)

// glasses show entities otherwise than they are.
type glasses struct {
	entity.View
	show func(entity.Key, entity.State) entity.State
}

func (g glasses) Load(key entity.Key) (entity.State, error) {
	state, err := g.View.Load(key)
	return g.show(key, state), err
}

// edit changes stored JSON.
func edit[T any](data []byte, change func(*T)) []byte {
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		panic(err)
	}
	change(&value)
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

// through decides with entities of one kind shown changed, and changes back what is stored of them.
func through[T any](view entity.View, c entity.Command, now time.Time, kind string,
	in, out func(*T)) (entity.Commit, error) {
	worn := glasses{view, func(key entity.Key, s entity.State) entity.State {
		if key.Kind == kind && s.Version > 0 {
			s.Data = edit(s.Data, in)
		}
		return s
	}}
	commit, err := c.Decide(worn, now)
	for i, change := range commit.Changes {
		if change.Key.Kind == kind {
			commit.Changes[i].Data = edit(change.Data, out)
		}
	}
	return commit, err
}

// forgetting decides with an entity hidden, as if it had never been.
func forgetting(view entity.View, c entity.Command, now time.Time, hidden entity.Key) (
	entity.Commit, error) {
	worn := glasses{view, func(key entity.Key, s entity.State) entity.State {
		if key == hidden {
			return entity.State{}
		}
		return s
	}}
	commit, err := c.Decide(worn, now)
	for i, change := range commit.Changes {
		if change.Key == hidden {
			state, _ := view.Load(hidden)
			commit.Changes[i].Was = state.Version
		}
	}
	return commit, err
}

func same[T any](*T) {}

func stateOf(view entity.View, s Step) LegState {
	l, _, _ := LoadLeg(view, s.Tenant, LegID(s.Transfer, s.Side))
	return l.State
}

// onStep makes a mutant of one deed.
func onStep(do Deed, f func(entity.View, Step, time.Time) (entity.Commit, error)) mutant {
	return func(view entity.View, c entity.Command, now time.Time) (entity.Commit, error) {
		if s, ok := c.(Step); ok && s.Do == do {
			return f(view, s, now)
		}
		return c.Decide(view, now)
	}
}

// again forgets a leg that is in a state, so that the deed is done once more.
func again(do Deed, in LegState) mutant {
	return onStep(do, func(view entity.View, s Step, now time.Time) (entity.Commit, error) {
		if stateOf(view, s) != in {
			return s.Decide(view, now)
		}
		return forgetting(view, s, now, LegKey(s.Tenant, LegID(s.Transfer, s.Side)))
	})
}

// reserving makes a mutant of Reserve that sees the account otherwise.
func reserving(in, out func(*Account)) mutant {
	return onStep(Reserve, func(view entity.View, s Step, now time.Time) (entity.Commit, error) {
		return through(view, s, now, KindAccount, in, out)
	})
}

// anyCurrency takes every account for one of the command's currency.
func anyCurrency(view entity.View, c entity.Command, now time.Time) (entity.Commit, error) {
	currency, was := Currency(""), map[string]Currency{}
	switch c := c.(type) {
	case Begin:
		currency = c.Currency
	case Step:
		currency = c.Currency
	default:
		return c.Decide(view, now)
	}
	return through(view, c, now, KindAccount, func(a *Account) {
		was[a.ID], a.Currency = a.Currency, currency
	}, func(a *Account) {
		if was[a.ID] != "" {
			a.Currency = was[a.ID]
		}
	})
}

// dropping loses the rows of a list.
func dropping(list string) mutant {
	return func(view entity.View, c entity.Command, now time.Time) (entity.Commit, error) {
		commit, err := c.Decide(view, now)
		commit.Owed = slices.DeleteFunc(commit.Owed, func(r entity.Row) bool { return r.List == list })
		return commit, err
	}
}

// doubleCapture captures twice what was held.
func doubleCapture(view entity.View, s Step, now time.Time) (entity.Commit, error) {
	amount := s.Amount
	s.Amount *= 2
	worn := glasses{view, func(key entity.Key, state entity.State) entity.State {
		if key.Kind == KindAccount && state.Version > 0 {
			state.Data = edit(state.Data, func(a *Account) { a.Held += amount })
		}
		return state
	}}
	return through(worn, s, now, KindLeg, func(l *Leg) { l.Amount *= 2 }, same)
}

// mutants are ledgers with one bug each.
var mutants = map[string]mutant{
	"a credit counts twice":             again(Pay, Posted),
	"a hold counts twice":               again(Reserve, Held),
	"a credit comes after its recall":   again(Pay, Revoked),
	"a hold comes after its recall":     again(Reserve, Revoked),
	"currencies are mixed":              anyCurrency,
	"a step is not owed":                dropping(ListSteps),
	"an answer is not owed":             dropping(ListAnswers),
	"twice the hold is captured":        onStep(Capture, doubleCapture),
	"a freeze does not block new holds": reserving(func(a *Account) { a.Frozen = nil }, same),
	"no limit": reserving(func(a *Account) { a.Limit = math.MaxInt64 },
		func(a *Account) { a.Limit = map[string]Minor{"b": 50}[a.ID] }),
	"holds do not lower what is available": func(view entity.View, c entity.Command,
		now time.Time) (entity.Commit, error) {
		held := Minor(0)
		return reserving(func(a *Account) { held, a.Held = a.Held, 0 },
			func(a *Account) { a.Held += held })(view, c, now)
	},
	"a frozen account does not capture": onStep(Capture, func(view entity.View, s Step,
		now time.Time) (entity.Commit, error) {
		if a, _, _ := LoadAccount(view, s.Tenant, s.Account); a.Frozen != nil {
			return entity.Commit{}, nil
		}
		return s.Decide(view, now)
	}),
	"a hold past its end is not captured": onStep(Capture, func(view entity.View, s Step,
		now time.Time) (entity.Commit, error) {
		if l, _, _ := LoadLeg(view, s.Tenant, s.Transfer+"/debit"); !now.Before(l.Ends) {
			return entity.Commit{}, nil
		}
		return s.Decide(view, now)
	}),
	"the clock ends a hold": func(view entity.View, c entity.Command, now time.Time) (
		entity.Commit, error) {
		e, ok := c.(Expire)
		l, _, _ := LoadLeg(view, e.Tenant, e.Leg)
		if end := l.Timer(); !ok || end.IsZero() || now.Before(end) {
			return c.Decide(view, now)
		}
		return Step{Tenant: l.Tenant, Transfer: l.Transfer, Side: Debit, Do: Release,
			Account: l.Account, Amount: l.Amount, Currency: l.Currency}.Decide(view, now)
	},
	"a hold is asked about before its end": func(view entity.View, c entity.Command,
		now time.Time) (entity.Commit, error) {
		if _, ok := c.(Expire); ok {
			now = now.Add(HoldMax)
		}
		return c.Decide(view, now)
	},
	"a hold goes back while the credit is out": func(view entity.View, c entity.Command,
		now time.Time) (entity.Commit, error) {
		a, _ := c.(Answer)
		if _, cancel := c.(Cancel); !cancel && a.Said != WasAsked {
			return c.Decide(view, now)
		}
		return through(view, c, now, KindTransfer, func(t *Transfer) { t.Waiting = true }, same)
	},
	"refunds are not summed": func(view entity.View, c entity.Command, now time.Time) (
		entity.Commit, error) {
		if _, ok := c.(Refund); !ok {
			return c.Decide(view, now)
		}
		return through(view, c, now, KindTransfer, func(t *Transfer) { t.Refunded = 0 }, same)
	},
	"a refund that failed still counts": func(view entity.View, c entity.Command,
		now time.Time) (entity.Commit, error) {
		commit, err := c.Decide(view, now)
		if _, ok := c.(Answer); ok && len(commit.Changes) > 1 {
			commit.Changes = commit.Changes[:1]
		}
		return commit, err
	},
	"an answer is paid and not applied": func(view entity.View, c entity.Command,
		now time.Time) (entity.Commit, error) {
		commit, err := c.Decide(view, now)
		if _, ok := c.(Answer); ok {
			commit = entity.Commit{Paid: commit.Paid[len(commit.Paid)-1:]}
		}
		return commit, err
	},
	"a key that failed tries again": func(view entity.View, c entity.Command, now time.Time) (
		entity.Commit, error) {
		b, ok := c.(Begin)
		t, _, _ := LoadTransfer(view, b.Tenant, b.Key)
		if !ok || t.Phase != Failed {
			return c.Decide(view, now)
		}
		return forgetting(view, c, now, TransferKey(b.Tenant, b.Key))
	},
}
