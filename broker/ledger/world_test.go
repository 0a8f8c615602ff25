package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"chit/broker/entity"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// world is a store in memory, and a network that keeps every message that was ever sent.
type world struct {
	states map[entity.Key]entity.State
	rows   map[entity.Row]bool
	now    time.Time
	wire   []entity.Command
	// spoil replaces a command's decision: a bug. nil is none.
	spoil mutant
	// loads and bytes count what decisions read and what Commits wrote.
	loads, bytes int
}

// mutant decides in place of the command where it wants to.
type mutant func(view entity.View, c entity.Command, now time.Time) (entity.Commit, error)

func newWorld() *world {
	return &world{states: map[entity.Key]entity.State{}, rows: map[entity.Row]bool{}, now: noon}
}

func (w *world) clone() *world {
	c := *w
	c.states, c.rows, c.wire = maps.Clone(w.states), maps.Clone(w.rows), slices.Clone(w.wire)
	return &c
}

// Load implements entity.View.
func (w *world) Load(key entity.Key) (entity.State, error) {
	w.loads++
	return w.states[key], key.Check()
}

// Each implements Books.
func (w *world) Each(kind string, visit func(entity.Key, entity.State) error) error {
	var keys []entity.Key
	for key := range w.states {
		if key.Kind == kind {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b entity.Key) int { return cmp.Compare(a.ID, b.ID) })
	for _, key := range keys {
		if err := visit(key, w.states[key]); err != nil {
			return err
		}
	}
	return nil
}

// decide asks the command and changes nothing.
func (w *world) decide(c entity.Command) (entity.Commit, error) {
	if w.spoil != nil {
		return w.spoil(w, c, w.now)
	}
	return c.Decide(w, w.now)
}

// store makes a Commit durable.
func (w *world) store(c entity.Commit) error {
	for _, change := range c.Changes {
		was := w.states[change.Key]
		if was.Version != change.Was {
			return fmt.Errorf("%w: %s", entity.ErrMoved, change.Key)
		}
		w.bytes += len(change.Data)
		w.states[change.Key] = entity.State{Version: was.Version + 1, Data: change.Data,
			Timer: change.Timer}
	}
	for _, row := range c.Paid {
		delete(w.rows, row)
	}
	for _, row := range c.Owed {
		w.rows[row] = true
	}
	return nil
}

// do decides, stores and sends.
func (w *world) do(c entity.Command) error {
	commit, err := w.decide(c)
	if err != nil {
		return err
	}
	if err := w.store(commit); err != nil {
		return err
	}
	for _, effect := range commit.Effects {
		switch e := effect.(type) {
		case Send:
			w.send(e.Step)
		case Tell:
			w.send(e.Answer)
		}
	}
	return nil
}

func (w *world) send(message entity.Command) {
	if !slices.Contains(w.wire, message) {
		w.wire = append(w.wire, message)
	}
}

// owed is every message of which a row says that it is owed, as a carrier reads it after a start.
func (w *world) owed() ([]entity.Command, error) {
	rows := slices.SortedFunc(maps.Keys(w.rows), func(a, b entity.Row) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.List, b.List),
			cmp.Compare(a.Key.ID, b.Key.ID))
	})
	var out []entity.Command
	for _, row := range rows {
		switch row.List {
		case ListSteps:
			t, _, err := LoadTransfer(w, row.Key.Tenant, row.Key.ID)
			if err != nil {
				return nil, err
			}
			step, ok := t.Owes()
			if !ok {
				return nil, fmt.Errorf("transfer %s has a row and owes nothing", t.Key)
			}
			out = append(out, step)
		case ListAnswers:
			l, _, err := LoadLeg(w, row.Key.Tenant, row.Key.ID)
			if err != nil {
				return nil, err
			}
			if !l.Owed.Equal(row.At) {
				return nil, fmt.Errorf("leg %s owes an answer of %s, its row is of %s", l.ID(), l.Owed,
					row.At)
			}
			out = append(out, l.Answer())
		}
	}
	return out, nil
}

// drain carries what rows say until nothing is owed: what a start after a crash does.
func (w *world) drain(do func(entity.Command) error) error {
	for range 200 {
		owed, err := w.owed()
		if err != nil {
			return err
		}
		if len(owed) == 0 {
			return nil
		}
		for _, message := range owed {
			if err := do(message); err != nil {
				return fmt.Errorf("carrying %+v: %w", message, err)
			}
		}
	}
	return errors.New("something is owed for ever")
}

// due lists the legs whose timer has come.
func (w *world) due() []Expire {
	var out []Expire
	for key, state := range w.states {
		if !state.Timer.IsZero() && !w.now.Before(state.Timer) {
			out = append(out, Expire{key.Tenant, key.ID})
		}
	}
	slices.SortFunc(out, func(a, b Expire) int { return cmp.Compare(a.Leg, b.Leg) })
	return out
}

// settle ends everything: time passes over every hold, and what is owed is carried.
func (w *world) settle(do func(entity.Command) error) error {
	if err := w.drain(do); err != nil {
		return err
	}
	w.now = w.now.Add(HoldMax)
	for _, e := range w.due() {
		if err := do(e); err != nil {
			return err
		}
	}
	if err := w.drain(do); err != nil {
		return err
	}
	if len(w.rows) > 0 {
		return fmt.Errorf("rows are left: %v", w.rows)
	}
	return w.Each(KindTransfer, func(key entity.Key, _ entity.State) error {
		t, _, err := LoadTransfer(w, key.Tenant, key.ID)
		if err == nil && !t.Phase.Final() {
			err = fmt.Errorf("transfer %s stays %s", t.Key, t.Phase)
		}
		return err
	})
}

// audit is Check as an error.
func (w *world) audit() error {
	report, err := Check(w)
	if err == nil && !report.OK {
		err = errors.New(report.FirstBreak)
	}
	return err
}

// The language of the tests that tell a story.

type story struct {
	*testing.T
	*world
}

func tell(t *testing.T) *story { return &story{t, newWorld()} }

func (s *story) must(commands ...entity.Command) {
	s.Helper()
	for _, c := range commands {
		if err := s.do(c); err != nil {
			s.Fatalf("%+v: %v", c, err)
		}
	}
}

// carry delivers everything that is owed until nothing is.
func (s *story) carry() {
	s.Helper()
	if err := s.drain(s.do); err != nil {
		s.Fatal(err)
	}
	if err := s.audit(); err != nil {
		s.Fatal(err)
	}
}

// rich opens accounts in EUR with a deposit each.
func (s *story) rich(amount Minor, accounts ...string) {
	s.Helper()
	for _, id := range accounts {
		s.must(Open{Tenant: "t", Account: id, Currency: "EUR"})
		if amount > 0 {
			s.must(Deposit{Tenant: "t", Key: "seed-" + id, Account: id, Amount: amount})
		}
	}
	s.carry()
}

func (s *story) want(account string, balance, held Minor) {
	s.Helper()
	a, _, err := LoadAccount(s, "t", account)
	if err != nil || a.Balance != balance || a.Held != held {
		s.Fatalf("account %s has %d and holds %d, %v, want %d and %d", account, a.Balance, a.Held, err,
			balance, held)
	}
}

func (s *story) wantPhase(key string, phase Phase, reason string) {
	s.Helper()
	t, _, err := LoadTransfer(s, "t", key)
	if err != nil || t.Phase != phase || t.Reason != reason {
		s.Fatalf("transfer %s is %q because of %q, %v, want %q because of %q", key, t.Phase, t.Reason,
			err, phase, reason)
	}
}

// refuse wants an InputError about a field, and nothing stored.
func (s *story) refuse(field string, c entity.Command) *InputError {
	s.Helper()
	var input *InputError
	if err := s.do(c); !errors.As(err, &input) || !errors.Is(err, ErrInput) || input.Field != field {
		s.Fatalf("%+v: got %v, want a refusal of %s", c, err, field)
	}
	return input
}

func pay(key string, amount Minor) Begin {
	return Begin{Tenant: "t", Key: key, From: "a", To: "b", Amount: amount, Currency: "EUR"}
}

// chooser draws: from rapid, or from a seed.
type chooser interface{ below(n int) int }

type seeded struct{ *rand.Rand }

func (s seeded) below(n int) int { return s.IntN(n) }
