package desk_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
	"chit/broker/store/bolt"
)

// add is a command that adds to a counter and answers its new value.
type add struct {
	counter string
	by      int
	id      entity.Identity
}

var errNegative = errors.New("would be negative")

func (a add) Identity() entity.Identity { return a.id }

func (a add) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	key := entity.Key{Tenant: "t1", Kind: "counter", ID: a.counter}
	state, err := view.Load(key)
	if err != nil {
		return entity.Commit{}, err
	}
	value := 0
	if state.Version > 0 {
		if value, err = strconv.Atoi(string(state.Data)); err != nil {
			return entity.Commit{}, err
		}
	}
	if value += a.by; value < 0 {
		return entity.Commit{}, errNegative
	}
	data := []byte(strconv.Itoa(value))
	return entity.Commit{
		Changes: []entity.Change{{Key: key, Was: state.Version, Data: data}},
		Answer:  data, Effects: []entity.Effect{a.counter + "=" + string(data)},
	}, nil
}

// gate is a store whose commits wait to be let through, so that a test decides what queues up.
type gate struct {
	store.Store
	reached chan int   // commits in the batch that is waiting
	let     chan error // nil: commit it
}

func (g *gate) Commit(batch []entity.Commit) error {
	g.reached <- len(batch)
	if err := <-g.let; err != nil {
		return err
	}
	return g.Store.Commit(batch)
}

// world is one running desk.
type world struct {
	t *testing.T
	*desk.Desk
	store   *bolt.Store
	cancel  context.CancelFunc
	ended   chan error
	mu      sync.Mutex
	effects []entity.Effect
}

func start(t *testing.T, conf desk.Config, wrap func(store.Store) store.Store) *world {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: s, ended: make(chan error, 1)}
	conf.Store = s
	if wrap != nil {
		conf.Store = wrap(s)
	}
	conf.Effects = func(effects []entity.Effect) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.effects = append(w.effects, effects...)
	}
	w.Desk = desk.New(conf)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() { w.ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		if err := errors.Join(s.Check(), s.Close()); err != nil {
			t.Errorf("store: %v", err)
		}
	})
	return w
}

func (w *world) stop() error {
	w.cancel()
	return <-w.ended
}

func (w *world) want(c entity.Command, answer string, repeat bool) {
	w.t.Helper()
	a, err := w.Do(context.Background(), c)
	if err != nil || string(a.Data) != answer || a.Repeat != repeat {
		w.t.Fatalf("%+v: got %q, %v, %v, want %q, %v", c, a.Data, a.Repeat, err, answer, repeat)
	}
}

func (w *world) stored(counter string) string {
	w.t.Helper()
	state, err := w.store.Load(entity.Key{Tenant: "t1", Kind: "counter", ID: counter})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(state.Data)
}

// later is an answer that is waited for later.
type later struct {
	answer desk.Answer
	err    error
}

func (w *world) submit(c entity.Command) chan later {
	w.t.Helper()
	out := make(chan later, 1)
	if err := w.Submit(c, func(a desk.Answer, err error) { out <- later{a, err} }); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestAnAnswerIsDurable(t *testing.T) {
	w := start(t, desk.Config{}, nil)
	for i := range 20 {
		want := strconv.Itoa(i + 1)
		w.want(add{counter: "a", by: 1}, want, false)
		if got := w.stored("a"); got != want {
			t.Fatalf("answered %s, stored %s", want, got)
		}
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestARepeatedCommandGetsTheRecordedAnswer(t *testing.T) {
	w := start(t, desk.Config{}, nil)
	id := entity.Identity{Tenant: "t1", ID: "c1", Digest: "d1"}
	w.want(add{"a", 5, id}, "5", false)
	w.want(add{"a", 1, entity.Identity{}}, "6", false)
	w.want(add{"a", 5, id}, "5", true)
	w.want(add{"a", 0, entity.Identity{}}, "6", false)
	other := id
	other.Digest = "d2"
	if _, err := w.Do(t.Context(), add{"a", 5, other}); !errors.Is(err, desk.ErrConflict) {
		t.Errorf("other content: %v", err)
	}
	elsewhere := id
	elsewhere.Tenant = "t2"
	w.want(add{"a", 1, elsewhere}, "7", false)
	if c := w.Counters(); c.Repeats != 1 || c.Refused != 1 {
		t.Errorf("counters %+v", c)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestARecordEndsWhenItExpires(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	var clock atomic.Pointer[time.Time]
	clock.Store(&now)
	w := start(t, desk.Config{Now: func() time.Time { return *clock.Load() }}, nil)
	id := entity.Identity{Tenant: "t1", ID: "c1", Digest: "d1", For: time.Hour}
	w.want(add{"a", 5, id}, "5", false)
	last := now.Add(time.Hour - time.Millisecond)
	clock.Store(&last)
	w.want(add{"a", 5, id}, "5", true)
	end := now.Add(time.Hour)
	clock.Store(&end)
	w.want(add{"a", 5, id}, "10", false)
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestARefusalIsNotRecorded(t *testing.T) {
	w := start(t, desk.Config{}, nil)
	id := entity.Identity{Tenant: "t1", ID: "c1", Digest: "d1"}
	if _, err := w.Do(t.Context(), add{"a", -1, id}); !errors.Is(err, errNegative) {
		t.Fatal(err)
	}
	w.want(add{"a", 3, entity.Identity{}}, "3", false)
	w.want(add{"a", -1, id}, "2", false)
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func gated(g *gate) func(store.Store) store.Store {
	g.reached, g.let = make(chan int), make(chan error)
	return func(s store.Store) store.Store {
		g.Store = s
		return g
	}
}

func TestTheNextBatchIsWhatArrivedDuringTheFlush(t *testing.T) {
	var g gate
	w := start(t, desk.Config{}, gated(&g))
	first := w.submit(add{counter: "a", by: 1})
	if n := <-g.reached; n != 1 {
		t.Fatalf("first batch of %d", n)
	}
	id := entity.Identity{Tenant: "t1", ID: "c1", Digest: "d1"}
	var rest []chan later
	for range 10 {
		rest = append(rest, w.submit(add{counter: "a", by: 1}))
	}
	once, twice := w.submit(add{"b", 1, id}), w.submit(add{"b", 1, id})
	refused := w.submit(add{"b", -5, entity.Identity{}})
	wait(t, "decisions", func() bool { return w.Counters().Commands == 14 })

	// Nothing is said while nothing is durable, also no refusal and no repeated answer: they rest
	// on states that are not durable yet.
	for _, c := range append([]chan later{first, once, twice, refused}, rest...) {
		if len(c) != 0 {
			t.Fatal("answered before the flush")
		}
	}
	if got := w.stored("a"); got != "" {
		t.Fatalf("a reader sees %q", got)
	}
	g.let <- nil
	if n := <-g.reached; n != 11 {
		t.Fatalf("second batch of %d commits, want 11", n)
	}
	if got := <-first; string(got.answer.Data) != "1" {
		t.Errorf("first: %q, %v", got.answer.Data, got.err)
	}
	g.let <- nil
	for i, c := range rest {
		if got := <-c; string(got.answer.Data) != strconv.Itoa(i+2) || got.err != nil {
			t.Errorf("answer %d: %q, %v", i, got.answer.Data, got.err)
		}
	}
	if got := <-once; string(got.answer.Data) != "1" || got.answer.Repeat {
		t.Errorf("once: %+v", got)
	}
	if got := <-twice; string(got.answer.Data) != "1" || !got.answer.Repeat {
		t.Errorf("twice: %+v", got)
	}
	if got := <-refused; !errors.Is(got.err, errNegative) {
		t.Errorf("refused: %+v", got)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if c := w.Counters(); c.Batches != 2 || c.BatchMax != 11 || c.Commits != 12 {
		t.Errorf("counters %+v", c)
	}
}

// wait spins, because the desk's inner progress has no channel; it bounds nothing but a broken
// test.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); {
		if time.Now().After(end) {
			t.Fatalf("waited 10 s for %s", what)
		}
		runtime.Gosched()
	}
}

func TestAFullQueueIsBusyAndReadsGoOn(t *testing.T) {
	var g gate
	w := start(t, desk.Config{QueueMax: 4, BatchMax: 2}, gated(&g))
	first := w.submit(add{counter: "a", by: 1})
	<-g.reached
	var held []chan later
	busy := 0
	// Two in the batch that is being gathered, four in the queue, as many again for the relay.
	wait(t, "a busy desk", func() bool {
		out := make(chan later, 1)
		err := w.Submit(add{counter: "a", by: 1}, func(a desk.Answer, err error) { out <- later{a, err} })
		if err == nil {
			held = append(held, out)
			return false
		}
		if !errors.Is(err, desk.ErrBusy) {
			t.Fatal(err)
		}
		busy++
		return len(held) == 10
	})
	if _, err := w.Do(t.Context(), add{counter: "a", by: 1}); !errors.Is(err, desk.ErrBusy) {
		t.Errorf("a door got %v", err)
	}
	busy++
	if got := w.stored("a"); got != "" {
		t.Errorf("read %q", got)
	}
	if c := w.Counters(); c.Queue != 8 || c.Busy != uint64(busy) {
		t.Errorf("counters %+v", c)
	}
	released := make(chan struct{})
	go func() {
		defer close(released)
		g.let <- nil
		for range g.reached {
			g.let <- nil
		}
	}()
	for _, c := range append(held, first) {
		if got := <-c; got.err != nil {
			t.Error(got.err)
		}
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	close(g.reached)
	<-released
	if got := w.stored("a"); got != "11" {
		t.Errorf("stored %q, want 11", got)
	}
}

func TestAFailedCommitStopsEverything(t *testing.T) {
	var g gate
	w := start(t, desk.Config{}, gated(&g))
	first := w.submit(add{counter: "a", by: 1})
	<-g.reached
	second := w.submit(add{counter: "a", by: 1})
	wait(t, "a decision", func() bool { return w.Counters().Commands == 2 })
	cause := errors.New("no space left")
	g.let <- cause
	for _, c := range []chan later{first, second} {
		if got := <-c; !errors.Is(got.err, desk.ErrStopped) {
			t.Errorf("got %+v, want %v", got, desk.ErrStopped)
		}
	}
	if err := <-w.ended; !errors.Is(err, cause) {
		t.Errorf("run: %v", err)
	}
	if _, err := w.Do(t.Context(), add{counter: "a"}); !errors.Is(err, desk.ErrStopped) {
		t.Errorf("afterwards: %v", err)
	}
	if len(w.effects) != 0 {
		t.Errorf("effects left: %v", w.effects)
	}
	if got := w.stored("a"); got != "" {
		t.Errorf("stored %q", got)
	}
}

// stale is a command that decided on the wrong version.
type stale struct{}

func (stale) Identity() entity.Identity { return entity.Identity{} }
func (stale) Decide(entity.View, time.Time) (entity.Commit, error) {
	return entity.Commit{Changes: []entity.Change{
		{Key: entity.Key{Tenant: "t1", Kind: "counter", ID: "a"}, Was: 99},
	}}, nil
}

func TestOneWrongDecisionDoesNotRefuseTheBatch(t *testing.T) {
	w := start(t, desk.Config{}, nil)
	w.want(add{counter: "a", by: 1}, "1", false)
	if _, err := w.Do(t.Context(), stale{}); !errors.Is(err, entity.ErrMoved) {
		t.Errorf("got %v, want %v", err, entity.ErrMoved)
	}
	w.want(add{counter: "a", by: 1}, "2", false)
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestStoppingKeepsWhatWasDecided(t *testing.T) {
	var g gate
	w := start(t, desk.Config{}, gated(&g))
	first := w.submit(add{counter: "a", by: 1})
	<-g.reached
	second := w.submit(add{counter: "a", by: 1})
	wait(t, "a decision", func() bool { return w.Counters().Commands == 2 })
	w.cancel()
	g.let <- nil
	<-g.reached
	g.let <- nil
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	for i, c := range []chan later{first, second} {
		if got := <-c; got.err != nil || string(got.answer.Data) != strconv.Itoa(i+1) {
			t.Errorf("answer %d: %+v", i, got)
		}
	}
	if err := w.Submit(add{counter: "a"}, nil); !errors.Is(err, desk.ErrStopped) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestDoGivesUpWithItsContext(t *testing.T) {
	var g gate
	w := start(t, desk.Config{}, gated(&g))
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := w.Do(ctx, add{counter: "a", by: 1})
		result <- err
	}()
	<-g.reached
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	g.let <- nil
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if got := w.stored("a"); got != "1" {
		t.Errorf("stored %q", got)
	}
}

func TestManyProducersLoseNothing(t *testing.T) {
	w := start(t, desk.Config{BatchMax: 7}, nil)
	const producers, each = 16, 25
	var group sync.WaitGroup
	for p := range producers {
		group.Go(func() {
			for i := range each {
				id := entity.Identity{Tenant: "t1", ID: fmt.Sprint(p, "/", i), Digest: "d"}
				for range 2 {
					if _, err := w.Do(context.Background(), add{"sum", 1, id}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if got := w.stored("sum"); got != strconv.Itoa(producers*each) {
		t.Errorf("stored %s, want %d", got, producers*each)
	}
	for i, effect := range w.effects {
		if want := "sum=" + strconv.Itoa(i+1); effect != want {
			t.Fatalf("effect %d is %v, want %v", i, effect, want)
		}
	}
	if c := w.Counters(); c.Repeats != producers*each {
		t.Errorf("counters %+v", c)
	}
}

func TestPutIsConditional(t *testing.T) {
	w := start(t, desk.Config{}, nil)
	key := entity.Key{Tenant: "t1", Kind: "counter", ID: "a"}
	w.want(desk.Put{Key: key, Data: []byte("7")}, "", false)
	w.want(add{counter: "a", by: 1}, "8", false)
	if _, err := w.Do(t.Context(), desk.Put{Key: key, Was: 1}); !errors.Is(err, entity.ErrMoved) {
		t.Errorf("got %v", err)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}
