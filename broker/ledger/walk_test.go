package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"chit/broker/entity"
)

// walk visits every state that one saga can reach, by a network that keeps every message ever sent:
// at each step each of them may come now, once more, late, or never, and a client may ask anything.
// That is every order, loss and repetition, and so a crash before and after every commit at both
// accounts: one before it is a message that did not come, one after it is a Commit whose messages
// were lost. In each state the books must be right, and a start there, which knows the rows alone,
// must end the saga. It returns the phases in which a saga can end, and how many states there were.
func walk(start *world, doors []entity.Command, ends func(*world) error) (
	map[Phase]bool, int, error) {
	visited, phases := map[string]bool{}, map[Phase]bool{}
	queue := []*world{start}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		if name := w.name(); visited[name] {
			continue
		} else {
			visited[name] = true
		}
		if err := w.audit(); err != nil {
			return nil, 0, fmt.Errorf("%w, in %s", err, w.story())
		}
		restarted := w.clone()
		restarted.wire = nil
		if err := restarted.settle(restarted.do); err != nil {
			return nil, 0, fmt.Errorf("after a start: %w, in %s", err, w.story())
		}
		t, _, err := LoadTransfer(restarted, "t", "k")
		if err != nil {
			return nil, 0, err
		}
		phases[t.Phase] = true
		for _, err := range []error{restarted.audit(), ends(restarted)} {
			if err != nil {
				return nil, 0, fmt.Errorf("after a start: %w, in %s", err, w.story())
			}
		}
		for _, c := range slices.Concat(w.wire, doors) {
			next := w.clone()
			if _, ok := c.(Expire); ok {
				next.now = noon.Add(HoldFor) // From here on the hold is past its end.
			}
			if err := next.do(c); err != nil {
				return nil, 0, fmt.Errorf("%+v: %w, in %s", c, err, w.story())
			}
			queue = append(queue, next)
		}
	}
	return phases, len(visited), nil
}

// name tells worlds apart: the states without their versions and stories, the rows and the wire.
func (w *world) name() string {
	var parts []string
	for key, state := range w.states {
		data := string(state.Data)
		if key.Kind == KindTransfer {
			data = string(edit(state.Data, func(t *Transfer) { t.Timeline, t.Dropped = nil, 0 }))
		}
		parts = append(parts, key.String()+data+state.Timer.String())
	}
	for row := range w.rows {
		parts = append(parts, fmt.Sprint(row))
	}
	for _, message := range w.wire {
		parts = append(parts, fmt.Sprintf("%#v", message))
	}
	slices.Sort(parts)
	return fmt.Sprint(w.now, parts)
}

// story is how the saga came to where it is.
func (w *world) story() string {
	t, _, _ := LoadTransfer(w, "t", "k")
	debit, _, _ := LoadLeg(w, "t", "k/debit")
	credit, _, _ := LoadLeg(w, "t", "k/credit")
	moments, err := json.Marshal(t.Timeline)
	return fmt.Sprintf("%s, debit %q, credit %q, %s %v", t.Phase, debit.State, credit.State, moments,
		err)
}

// saga is one case of the walk.
type saga struct {
	name  string
	begin Begin
	// rich is what a has, at b what b has.
	rich, at Minor
	doors    []entity.Command
	want     []Phase
}

var expire = Expire{Tenant: "t", Leg: "k/debit"}
var cancel = Cancel{Tenant: "t", Key: "k", Who: "ana"}

func sagas() []saga {
	waits := pay("k", 60)
	waits.Wait = true
	const full = math.MaxInt64 - 59 // With 60 more it would not fit, nor the outside with 61.
	return []saga{
		{"alone", pay("k", 60), 100, 0, nil, []Phase{Captured}},
		{"repeated by the client", pay("k", 60), 100, 0, []entity.Command{pay("k", 60)},
			[]Phase{Captured}},
		{"too little", pay("k", 160), 100, 0, []entity.Command{cancel, expire}, []Phase{Failed}},
		{"cancelled", pay("k", 60), 100, 0, []entity.Command{cancel},
			[]Phase{Captured, Failed, Released}},
		{"past its end", pay("k", 60), 100, 0, []entity.Command{expire},
			[]Phase{Captured, Released}},
		{"both", pay("k", 60), 100, 0, []entity.Command{cancel, expire},
			[]Phase{Captured, Failed, Released}},
		{"the payee is full", pay("k", 60), 60, full, []entity.Command{cancel, expire},
			[]Phase{Failed, Released}},
		{"frozen and thawed", pay("k", 60), 100, 0, []entity.Command{expire,
			Freeze{Tenant: "t", Account: "a"}, Thaw{Tenant: "t", Account: "a"}},
			[]Phase{Captured, Failed, Released}},
		{"waits", waits, 100, 0, []entity.Command{cancel, expire, Confirm{Tenant: "t", Key: "k"}},
			[]Phase{Captured, Failed, Released}},
	}
}

func (s saga) world(spoil mutant) (*world, error) {
	w := newWorld()
	w.now = noon.Add(-time.Hour)
	for _, c := range []entity.Command{
		Open{Tenant: "t", Account: "a", Currency: "EUR"},
		Open{Tenant: "t", Account: "b", Currency: "EUR"},
		Deposit{Tenant: "t", Key: "seed-a", Account: "a", Amount: s.rich},
	} {
		if err := w.do(c); err != nil {
			return nil, err
		}
	}
	if err := w.drain(w.do); err != nil { // The two holds outside would not fit at once.
		return nil, err
	}
	if s.at > 0 {
		if err := w.do(Deposit{Tenant: "t", Key: "seed-b", Account: "b", Amount: s.at}); err != nil {
			return nil, err
		}
	}
	if err := w.drain(w.do); err != nil {
		return nil, err
	}
	w.now, w.wire, w.spoil = noon, nil, spoil
	return w, w.do(s.begin)
}

// ends checks what both accounts have once the saga is over.
func (s saga) ends(w *world) error {
	t, _, err := LoadTransfer(w, "t", "k")
	if err != nil {
		return err
	}
	a, _, errA := LoadAccount(w, "t", "a")
	b, _, errB := LoadAccount(w, "t", "b")
	moved := Minor(0)
	if t.Phase == Captured {
		moved = s.begin.Amount
	}
	if a.Balance != s.rich-moved || b.Balance != s.at+moved || a.Held != 0 || errA != nil ||
		errB != nil {
		return fmt.Errorf("%s, and a has %d and holds %d, b has %d", t.Phase, a.Balance, a.Held,
			b.Balance)
	}
	return nil
}

func TestASagaEndsWellFromEveryStateItCanReach(t *testing.T) {
	for _, s := range sagas() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w, err := s.world(nil)
			if err != nil {
				t.Fatal(err)
			}
			phases, states, err := walk(w, s.doors, s.ends)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(maps.Keys(phases))
			if !slices.Equal(got, s.want) {
				t.Errorf("%d states end as %v, want %v", states, got, s.want)
			}
			t.Logf("%d states", states)
		})
	}
}

// TestTwoTransfersNeverSpendOneBalanceTwice walks two sagas of 60 at once that share a payer with
// 100, of which one may be cancelled.
func TestTwoTransfersNeverSpendOneBalanceTwice(t *testing.T) {
	s := saga{begin: pay("k", 60), rich: 100}
	w, err := s.world(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.do(pay("other", 60)); err != nil {
		t.Fatal(err)
	}
	ends := map[string]bool{}
	_, states, err := walk(w, []entity.Command{cancel}, func(w *world) error {
		k, _, errK := LoadTransfer(w, "t", "k")
		other, _, errOther := LoadTransfer(w, "t", "other")
		a, _, errA := LoadAccount(w, "t", "a")
		moved := Minor(0)
		for _, one := range []Transfer{k, other} {
			if one.Phase == Captured {
				moved += 60
			}
		}
		ends[fmt.Sprint(k.Phase, " ", other.Phase)] = true
		if a.Balance != 100-moved || a.Balance < 0 || a.Held != 0 {
			return fmt.Errorf("%s and %s, and a has %d and holds %d", k.Phase, other.Phase, a.Balance,
				a.Held)
		}
		return errors.Join(errK, errOther, errA)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, want := slices.Sorted(maps.Keys(ends)), []string{"captured failed", "failed captured",
		"released captured", "released failed"}
	if !slices.Equal(got, want) {
		t.Errorf("%d states end as %q, want %q", states, got, want)
	}
	t.Logf("%d states", states)
}

// walked are the mutants whose bug breaks a single saga: Check or the ends show it without the
// naive ledger.
var walked = []string{
	"a credit counts twice", "a hold counts twice", "a credit comes after its recall",
	"a hold comes after its recall", "a step is not owed", "an answer is not owed",
	"twice the hold is captured", "a frozen account does not capture",
	"a hold past its end is not captured", "the clock ends a hold",
	"a hold goes back while the credit is out", "an answer is paid and not applied",
}

func TestTheWalkSeesEveryBugOfOneSaga(t *testing.T) {
	for _, name := range walked {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range sagas() {
				w, err := s.world(mutants[name])
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := walk(w, s.doors, s.ends); err != nil {
					t.Logf("%s: %v", s.name, err)
					return
				}
			}
			t.Error("every saga ends well from every state")
		})
	}
}
