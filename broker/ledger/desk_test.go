package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/ledger"
	"chit/broker/store"
	"chit/broker/store/bolt"
)

// till is a desk on a real store, and a carrier that submits what the desk's effects say.
type till struct {
	*testing.T
	desk  *desk.Desk
	store *bolt.Store
	stop  func() error

	mu   sync.Mutex
	idle *sync.Cond
	out  int   // messages that are on the way
	errs error // what they were refused for
	deaf bool  // loses every effect, as a crash after each commit would
}

// begin opens the store and starts the desk.
func begin(t *testing.T, path string, deaf bool) *till {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &till{T: t, store: s, deaf: deaf}
	x.idle = sync.NewCond(&x.mu)
	x.desk = desk.New(desk.Config{Store: s, Effects: x.carry})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.desk.Run(ctx) }()
	x.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-done, s.Check(), s.Close())
	})
	t.Cleanup(func() {
		if err := x.stop(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func (x *till) carry(effects []entity.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case ledger.Send:
			x.submit(e.Step)
		case ledger.Tell:
			x.submit(e.Answer)
		}
	}
}

func (x *till) submit(c entity.Command) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.deaf {
		return
	}
	x.out++
	done := func(_ desk.Answer, err error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.out--
		x.errs = errors.Join(x.errs, err)
		x.idle.Broadcast()
	}
	if err := x.desk.Submit(c, done); err != nil {
		x.out--
		x.errs = errors.Join(x.errs, err)
	}
}

func (x *till) must(commands ...entity.Command) {
	x.Helper()
	for _, c := range commands {
		if _, err := x.desk.Do(x.Context(), c); err != nil {
			x.Fatalf("%+v: %v", c, err)
		}
	}
}

// wait waits until what was committed has led to nothing more. A command's effects are carried
// before its sender hears of it, or after; so the rows have the last word.
func (x *till) wait() {
	x.Helper()
	for {
		x.mu.Lock()
		for x.out > 0 {
			x.idle.Wait()
		}
		err := x.errs
		x.mu.Unlock()
		if err != nil {
			x.Fatal(err)
		}
		owed := x.owed()
		if len(owed) == 0 {
			return
		}
		x.must(owed...)
	}
}

// owed is what the store's rows say, as a start reads it.
func (x *till) owed() (out []entity.Command) {
	x.Helper()
	for _, list := range []string{ledger.ListSteps, ledger.ListAnswers} {
		rows, err := x.store.Rows(list, "t", entity.Row{}, 10_000)
		if err != nil {
			x.Fatal(err)
		}
		for _, row := range rows {
			if list == ledger.ListAnswers {
				l, _, err := ledger.LoadLeg(x.store, "t", row.Key.ID)
				if err != nil {
					x.Fatal(err)
				}
				out = append(out, l.Answer())
				continue
			}
			t, _, err := ledger.LoadTransfer(x.store, "t", row.Key.ID)
			if err != nil {
				x.Fatal(err)
			}
			if step, ok := t.Owes(); ok {
				out = append(out, step)
			}
		}
	}
	return out
}

// books are a store at one instant.
type books struct{ store.Reader }

// Each implements [ledger.Books].
func (b books) Each(kind string, visit func(entity.Key, entity.State) error) error {
	var after entity.Key
	for {
		found, err := b.Scan("t", kind, after, 100)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := visit(one.Key, one.State); err != nil {
				return err
			}
			after = one.Key
		}
		if len(found) < 100 {
			return nil
		}
	}
}

func (x *till) check(want ledger.Report) {
	x.Helper()
	if got := x.report(); got != want {
		x.Fatalf("the check says %+v, want %+v", got, want)
	}
}

func (x *till) report() (report ledger.Report) {
	err := x.store.Snapshot(func(r store.Reader) (err error) {
		report, err = ledger.Check(books{r})
		return err
	})
	if err != nil {
		x.Error(err)
	}
	return report
}

func (x *till) want(account string, balance, held ledger.Minor) {
	x.Helper()
	a, _, err := ledger.LoadAccount(x.store, "t", account)
	if err != nil || a.Balance != balance || a.Held != held {
		x.Fatalf("account %s has %d and holds %d, %v, want %d and %d", account, a.Balance, a.Held, err,
			balance, held)
	}
}

func open(x *till, accounts ...string) {
	for _, id := range accounts {
		x.must(ledger.Open{Tenant: "t", Account: id, Currency: "EUR"})
	}
}

func TestManyClientsAtOneHotAccountBalance(t *testing.T) {
	x := begin(t, filepath.Join(t.TempDir(), "broker.db"), false)
	open(x, "hot", "till-0", "till-1", "till-2", "till-3")
	x.must(ledger.Deposit{Tenant: "t", Key: "seed", Account: "hot", Amount: 150})
	x.wait()
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() {
			for i := range 50 {
				b := ledger.Begin{Tenant: "t", Key: fmt.Sprintf("k-%d-%d", n, i), From: "hot",
					To: fmt.Sprint("till-", n), Amount: 1, Currency: "EUR"}
				for range 2 { // Every client repeats itself.
					if _, err := x.desk.Do(context.Background(), b); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	audited := make(chan ledger.Report)
	stop := make(chan struct{})
	go func() {
		defer close(audited)
		for {
			select {
			case audited <- x.report():
			case <-stop:
				return
			}
		}
	}()
	for range 5 { // While money moves the books are right at every instant.
		if report := <-audited; !report.OK {
			t.Errorf("the check says %+v", report)
		}
	}
	clients.Wait()
	close(stop)
	for range audited {
	}
	x.wait()
	x.want("hot", 0, 0)
	x.check(ledger.Report{OK: true, Entries: 302, Accounts: 6, Transfers: 201})
	failed := 0
	for n := range 4 {
		for i := range 50 {
			one, _, err := ledger.LoadTransfer(x.store, "t", fmt.Sprintf("k-%d-%d", n, i))
			if err != nil {
				t.Fatal(err)
			}
			if one.Phase == ledger.Failed && one.Reason == ledger.ReasonInsufficient {
				failed++
			}
		}
	}
	if failed != 50 {
		t.Errorf("%d transfers failed, want 50", failed)
	}
}

// TestASagaGoesOnAfterARestartAtEveryCommit closes the store after every commit of a transfer; what
// was to be sent is gone each time.
func TestASagaGoesOnAfterARestartAtEveryCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	x := begin(t, path, false)
	open(x, "a", "b")
	x.must(ledger.Deposit{Tenant: "t", Key: "seed", Account: "a", Amount: 100})
	x.wait()
	next := []entity.Command{ledger.Begin{Tenant: "t", Key: "k", From: "a", To: "b", Amount: 60,
		Currency: "EUR"}}
	commits := 0
	for ; len(next) > 0; commits++ {
		if err := x.stop(); err != nil {
			t.Fatal(err)
		}
		x = begin(t, path, true)
		x.must(next[0], next[0])
		next = x.owed()
		if len(next) > 1 { // The transfer's step stays owed until the account's answer was heard.
			next = next[1:]
		}
	}
	if commits != 7 {
		t.Errorf("%d commits, want 7", commits)
	}
	x.want("a", 40, 0)
	x.want("b", 60, 0)
	x.check(ledger.Report{OK: true, Entries: 4, Accounts: 3, Transfers: 2})
}

func TestAHoldIsInTheListOfItsAccountAndInTheTimersUntilItEnds(t *testing.T) {
	x := begin(t, filepath.Join(t.TempDir(), "broker.db"), false)
	open(x, "a", "b")
	x.must(ledger.Deposit{Tenant: "t", Key: "seed", Account: "a", Amount: 100})
	x.wait()
	x.must(ledger.Begin{Tenant: "t", Key: "k", From: "a", To: "b", Amount: 60, Currency: "EUR",
		Wait: true, HoldFor: time.Millisecond})
	x.wait()
	list := func() int {
		rows, err := x.store.Rows(ledger.ListHolds("a"), "t", entity.Row{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	timers := func() []store.Due {
		due, _, err := x.store.Timers(ledger.KindLeg, time.Now().Add(time.Hour), 10)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	if list() != 1 || len(timers()) != 1 || timers()[0].Key != ledger.LegKey("t", "k/debit") {
		t.Fatalf("%d holds, timers %v", list(), timers())
	}
	x.want("a", 100, 60)
	for len(timers()) > 0 { // The desk's clock decides when the hold's millisecond is over.
		x.must(ledger.Expire{Tenant: "t", Leg: "k/debit"})
	}
	x.wait()
	x.want("a", 100, 0)
	if list() != 0 {
		t.Errorf("%d holds", list())
	}
	x.check(ledger.Report{OK: true, Entries: 2, Accounts: 3, Transfers: 2})
}
