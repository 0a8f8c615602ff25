package delivery

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// shelf is a store in memory for one command after the other.
type shelf struct {
	t       testing.TB
	states  map[entity.Key]entity.State
	rows    map[entity.Row]bool
	events  []entity.Event
	effects []entity.Effect // of the last command
	now     time.Time
	n       uint64
}

func newShelf(t testing.TB) *shelf {
	return &shelf{t: t, states: map[entity.Key]entity.State{}, rows: map[entity.Row]bool{}, now: day}
}

func (s *shelf) Load(key entity.Key) (entity.State, error) { return s.states[key], key.Check() }

// do decides and, like a store, takes the Commit whole or fails the test.
func (s *shelf) do(c entity.Command) (entity.Commit, error) {
	s.t.Helper()
	commit, err := c.Decide(s, s.now)
	if err != nil {
		return commit, err
	}
	for _, change := range commit.Changes {
		was := s.states[change.Key]
		if err := change.Key.Check(); err != nil || was.Version != change.Was {
			s.t.Fatalf("%T: %s is at %d, decided on %d (%v)", c, change.Key, was.Version, change.Was, err)
		}
		s.states[change.Key] = entity.State{Version: was.Version + 1, Data: change.Data,
			Timer: change.Timer}
	}
	for _, row := range commit.Paid {
		if !s.rows[row] {
			s.t.Fatalf("%T: paid %v, which was not owed", c, row)
		}
		delete(s.rows, row)
	}
	for _, row := range commit.Owed {
		if s.rows[row] {
			s.t.Fatalf("%T: owed %v twice", c, row)
		}
		s.rows[row] = true
	}
	s.events, s.effects = append(s.events, commit.Events...), commit.Effects
	return commit, nil
}

func (s *shelf) must(c entity.Command) entity.Commit {
	s.t.Helper()
	commit, err := s.do(c)
	if err != nil {
		s.t.Fatalf("%T: %v", c, err)
	}
	return commit
}

func content(id string, kind wire.Kind, items ...wire.Item) wire.Content {
	return wire.Content{ID: id, Kitchen: "main", Station: "grill", Kind: kind, Items: items}
}

func data(t testing.TB, c wire.Content) []byte {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (s *shelf) accept(c wire.Content) Result {
	s.t.Helper()
	return s.result(s.must(Accept{Tenant: "t1", Content: c, Data: data(s.t, c)}))
}

func (s *shelf) result(c entity.Commit) Result {
	s.t.Helper()
	var r Result
	if err := json.Unmarshal(c.Answer, &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *shelf) hello(device, session string, set ...func(*wire.Hello)) Greeted {
	s.t.Helper()
	h := wire.Hello{Device: device, Session: session, Boot: 1, Journal: "j-" + device, N: s.n,
		Version: "test", Format: 1}
	for _, f := range set {
		f(&h)
	}
	s.must(Greet{Tenant: "t1", Hello: h})
	return s.effects[0].(Greeted)
}

func (s *shelf) delivery(ticket string) Delivery {
	s.t.Helper()
	d, version, err := Load(s, "t1", ticket)
	if err != nil || version == 0 {
		s.t.Fatalf("%s: version %d, %v", ticket, version, err)
	}
	return d
}

func (s *shelf) dispatch(ticket, device, session string) (wire.Ticket, error) {
	s.t.Helper()
	_, err := s.do(Dispatch{Tenant: "t1", Ticket: ticket, Epoch: s.delivery(ticket).Epoch,
		Device: device, Printer: "p1", Session: session})
	if err != nil {
		return wire.Ticket{}, err
	}
	for _, effect := range s.effects {
		if send, ok := effect.(Send); ok {
			return send.Message, nil
		}
	}
	return wire.Ticket{}, nil
}

func (s *shelf) mustDispatch(ticket, device, session string) wire.Ticket {
	s.t.Helper()
	m, err := s.dispatch(ticket, device, session)
	if err != nil {
		s.t.Fatalf("dispatch %s: %v", ticket, err)
	}
	return m
}

func (s *shelf) ack(ticket, device string, outcome wire.Outcome, set ...func(*wire.Ack)) string {
	s.t.Helper()
	s.n++
	a := wire.Ack{Device: device, Ticket: ticket, Outcome: outcome, Journal: "j-" + device, Boot: 1,
		N: s.n, Attempt: 1}
	if d, version, _ := Load(s, "t1", ticket); version > 0 {
		a.Attempt, a.Digest = d.Attempt, d.Digest
	}
	if outcome.OnPaper() {
		a.Evidence = wire.EvidenceFenced
	}
	for _, f := range set {
		f(&a)
	}
	return string(s.must(Acknowledge{Tenant: "t1", Device: device, Ack: a, Chance: 0.5}).Answer)
}

// prints takes a ticket through its life at d1.
func (s *shelf) prints(ticket string) wire.Ticket {
	s.t.Helper()
	m := s.mustDispatch(ticket, "d1", "s1")
	s.ack(ticket, "d1", wire.OutcomePrinted)
	return m
}

func (s *shelf) want(ticket string, state State) {
	s.t.Helper()
	d := s.delivery(ticket)
	if d.State != state {
		s.t.Fatalf("%s is %s (%s), want %s", ticket, d.State, d.Reason, state)
	}
	open := entity.Row{List: ListOpen, At: d.Accepted, Key: Key("t1", ticket)}
	dead := entity.Row{List: ListDead, At: d.DeadAt, Key: Key("t1", ticket)}
	if s.rows[open] != state.Open() || s.rows[dead] != (state == Dead) {
		s.t.Fatalf("%s is %s, rows %v", ticket, state, s.rows)
	}
	if timer := s.states[Key("t1", ticket)].Timer; !timer.Equal(d.Ends()) {
		s.t.Fatalf("%s ends at %v, its timer is %v", ticket, d.Ends(), timer)
	}
}

func id(order string, seq int) string { return fmt.Sprintf("%s/%d@grill", order, seq) }
