package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
)

type rapidly struct{ *rapid.T }

func (r rapidly) below(n int) int { return rapid.IntRange(0, n-1).Draw(r.T, "choice") }

func pick[T any](c chooser, list ...T) T { return list[c.below(len(list))] }

// life is one random history: doors, messages in any order and number, lost messages, crashes
// before and after commits, time. Its error is the judge's.
func life(c chooser, spoil mutant, steps int) (err error) {
	if spoil != nil {
		defer func() { // A sum that cannot be ends the program, and so the bug is seen.
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
	}
	w, n := newWorld(), newNaive()
	w.spoil = spoil
	do := func(command entity.Command) error { return judged(w, n, command) }
	for _, open := range []Open{{"t", "a", "EUR", 0}, {"t", "b", "EUR", 50}, {"t", "u", "USD", 0}} {
		if err := do(open); err != nil {
			return err
		}
	}
	for range steps {
		if err := live(c, w, do); err != nil {
			return err
		}
	}
	if err := w.settle(do); err != nil {
		return err
	}
	return w.audit()
}

// live does one thing.
func live(c chooser, w *world, do func(entity.Command) error) error {
	switch c.below(12) {
	case 0, 1, 2:
		return do(door(c, w))
	case 3:
		w.now = w.now.Add(pick(c, time.Second, time.Minute, HoldFor))
		for _, e := range w.due() {
			if c.below(2) == 0 {
				return do(e)
			}
		}
		return do(Expire{"t", fmt.Sprintf("k%d/debit", c.below(keysMax))}) // Early, or of nothing.
	case 4: // A crash between two commits: what was on the way is gone, the rows are read again.
		owed, err := w.owed()
		w.wire = owed
		return err
	case 5:
		return w.audit()
	default:
		if len(w.wire) == 0 {
			return nil
		}
		at := c.below(len(w.wire))
		message, sent := w.wire[at], slices.Clone(w.wire)
		switch c.below(8) {
		case 0: // A crash before the commit: decided, and never stored.
			_, err := w.decide(message)
			return err
		case 1: // A crash after the commit: stored, and what it sends is lost.
			err := do(message)
			w.wire = sent
			return err
		case 2: // Lost.
			w.wire = slices.Delete(w.wire, at, at+1)
			return nil
		case 3, 4: // Delivered, and kept by the network to come again.
			return do(message)
		}
		w.wire = slices.Delete(w.wire, at, at+1)
		return do(message)
	}
}

// likely is a key that stands in one of the phases, if there is one, and else any.
func likely(c chooser, w *world, phases ...Phase) string {
	var keys []string
	for i := range keysMax {
		key := fmt.Sprint("k", i)
		if t, _, err := LoadTransfer(w, "t", key); err == nil && slices.Contains(phases, t.Phase) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return fmt.Sprint("k", c.below(keysMax))
	}
	return pick(c, keys...)
}

// keysMax is of how many transfers a history tells: few, so that keys meet again.
const keysMax = 9

// door is something a client asks.
func door(c chooser, w *world) entity.Command {
	key := fmt.Sprint("k", c.below(keysMax))
	amount := pick[Minor](c, 1, 30, 60, 60, 100, math.MaxInt64, math.MaxInt64-50, 0, -5)
	account := pick(c, "a", "a", "b", "u")
	currency := pick[Currency](c, "EUR", "EUR", "EUR", "USD")
	switch c.below(14) {
	case 0, 1, 2, 3:
		return Begin{Tenant: "t", Key: key, From: pick(c, "a", "a", "b", "u"),
			To: pick(c, "b", "b", "a", "u"), Amount: amount, Currency: currency,
			Wait: c.below(3) == 0, HoldFor: pick(c, 0, time.Minute)}
	case 4, 5, 6:
		return Deposit{Tenant: "t", Key: key, Account: account, Amount: amount, Currency: currency}
	case 7:
		return Withdraw{Tenant: "t", Key: key, Account: account, Amount: amount, Currency: currency}
	case 8, 9:
		return Refund{Tenant: "t", Key: key, Original: likely(c, w, Captured), Amount: amount}
	case 10:
		return Confirm{Tenant: "t", Key: likely(c, w, Created, Reserved)}
	case 11, 12:
		return Cancel{Tenant: "t", Key: likely(c, w, Created, Reserved)}
	}
	if c.below(2) == 0 {
		return Thaw{Tenant: "t", Account: account}
	}
	return Freeze{Tenant: "t", Account: account}
}

func TestAnyHistoryIsTheNaiveLedgers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		if err := life(rapidly{rt}, nil, rapid.IntRange(1, 150).Draw(rt, "steps")); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestTheJudgeSeesEveryBug: each mutant is told apart from the ledger within a bounded number of
// histories, the same at every run.
func TestTheJudgeSeesEveryBug(t *testing.T) {
	const seedsMax = 3000
	for name, spoil := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(seedsMax) {
				c := seeded{rand.New(rand.NewPCG(seed, 5))}
				if err := life(c, spoil, 150); err != nil {
					t.Logf("history %d: %v", seed, err)
					return
				}
			}
			t.Errorf("%d histories are all right", seedsMax)
		})
	}
}
