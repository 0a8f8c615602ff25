package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// shop is a desk on a real store with the loop of the redrive jobs, in a bubble's time.
type shop struct {
	*testing.T
	store store.Store
	desk  *desk.Desk
	loop  *redrives
	stop  func()
}

func openShop(t *testing.T, path string) *shop {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(desk.Config{Store: s})
	ctx, cancel := context.WithCancel(context.Background())
	deskCtx, stopDesk := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	w := &shop{T: t, store: s, desk: d, loop: newRedrives(d, s, slog.New(slog.DiscardHandler))}
	go func() { ended <- d.Run(deskCtx) }()
	go func() { ended <- w.loop.run(ctx) }()
	w.stop = func() {
		cancel()
		err := <-ended
		stopDesk()
		if err = errors.Join(err, <-ended, s.Check(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	return w
}

func (w *shop) do(c entity.Command) desk.Answer {
	w.Helper()
	a, err := w.desk.Do(context.Background(), c)
	if err != nil {
		w.Fatalf("%T: %v", c, err)
	}
	return a
}

// pass lets so much of the bubble's time go by.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// bury makes n dead letters out of tickets that nobody fetched.
func (w *shop) bury(n int) {
	w.Helper()
	for i := range n {
		c := wire.Content{ID: fmt.Sprintf("o%d/1", i), Kitchen: "main", Station: "grill",
			Kind: wire.KindNew, Items: []wire.Item{{Quantity: 1, Name: "soup"}}}
		data, err := wire.CanonicalContent(c)
		if err != nil {
			w.Fatal(err)
		}
		w.do(delivery.Accept{Tenant: "t1", Content: c, Data: data})
	}
	pass(delivery.Window)
	for i := range n {
		w.do(delivery.Advance{Tenant: "t1", Ticket: fmt.Sprintf("o%d/1@grill", i),
			Action: delivery.Elapse{}})
	}
}

func (w *shop) plan(perSecond int) {
	w.Helper()
	w.do(delivery.Plan{Tenant: "t1", ID: "j1", PerSecond: perSecond, Who: "ana", Why: "mended"})
	w.loop.planned()
}

func (w *shop) job() delivery.Job {
	w.Helper()
	j, version, err := delivery.LoadJob(w.store, "t1", "j1")
	if err != nil || version == 0 {
		w.Fatalf("version %d, %v", version, err)
	}
	return j
}

func TestARedriveJobKeepsItsRate(t *testing.T) {
	for _, perSecond := range []int{1, 4, 25, 100} {
		synctest.Test(t, func(t *testing.T) {
			w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
			defer w.stop()
			const letters = 60
			w.bury(letters)
			w.plan(perSecond)
			began := time.Now()
			for !w.job().Done() {
				pass(50 * time.Millisecond)
				most := 1 + float64(perSecond)*(time.Since(began)+stepEvery).Seconds()
				if n := w.job().Redriven; float64(n) > most {
					t.Fatalf("%d redriven after %v at %d a second", n, time.Since(began), perSecond)
				}
			}
			want := time.Duration(letters) * time.Second / time.Duration(perSecond)
			if took := time.Since(began); took > want+2*time.Second {
				t.Errorf("%d at %d a second took %v, want about %v", letters, perSecond, took, want)
			}
			if n := w.job().Redriven; n != letters {
				t.Errorf("%d redriven, want %d", n, letters)
			}
		})
	}
}

func TestARedriveJobGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "broker.db")
		w := openShop(t, path)
		w.bury(20)
		w.plan(2)
		pass(3 * time.Second)
		w.stop()
		w = openShop(t, path)
		defer w.stop()
		if n := w.job().Redriven; n == 0 || n == 20 {
			t.Fatalf("%d redriven before the restart: it proves nothing", n)
		}
		for !w.job().Done() {
			pass(time.Second)
		}
		for i := range 20 {
			d, _, err := delivery.Load(w.store, "t1", fmt.Sprintf("o%d/1@grill", i))
			if err != nil || len(d.Redrives) != 1 || d.State != delivery.Waiting {
				t.Errorf("%s is %s, redriven %d times (%v)", d.Ticket, d.State, len(d.Redrives), err)
			}
		}
	})
}

// full is a desk that takes nothing until it is told to.
type full struct {
	*desk.Desk
	busy int
}

func (f *full) Do(ctx context.Context, c entity.Command) (desk.Answer, error) {
	if f.busy--; f.busy >= 0 {
		return desk.Answer{}, desk.ErrBusy
	}
	return f.Desk.Do(ctx, c)
}

func TestARedriveJobWaitsWhereTheDeskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.bury(3)
		synctest.Wait()
		w.loop.desk = &full{Desk: w.desk, busy: 3}
		w.plan(10)
		pass(3*stepRetry + time.Second)
		if j := w.job(); !j.Done() || j.Redriven != 3 {
			t.Errorf("%+v", j)
		}
	})
}

func TestTheAuditSaysWhoDidWhatAndIsReadPageByPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.bury(3)
		w.do(delivery.Redrive{Tenant: "t1", Ticket: "o0/1@grill", Who: "ana", Why: "mended"})
		w.do(delivery.Discard{Tenant: "t1", Ticket: "o1/1@grill", Who: "ben", Why: "refunded"})
		w.plan(10)
		pass(time.Second)
		o := &office{tickets: &tickets{desk: w.desk, store: w.store}}
		var got []string
		next, pages := uint64(0), 0
		for more := true; more; pages++ {
			var list []intake.Entry
			var err error
			if list, next, more, err = o.Audit(t.Context(), "t1", next, 2); err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				got = append(got, fmt.Sprint(e.What, " ", e.ID, " ", e.Who, " ", e.Why, "/", e.Detail))
			}
		}
		want := []string{
			"delivery.redriven o0/1@grill ana mended/",
			"delivery.cancelled o1/1@grill ben refunded/discarded",
			"redrive-job.planned j1 ana mended/0 redriven, 0 cancelled, 0 left, of 0",
			"delivery.redriven o2/1@grill ana mended/",
			"redrive-job.finished j1 ana mended/1 redriven, 0 cancelled, 0 left, of 0",
		}
		if a, b := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); a != b {
			t.Errorf("got  %s\nwant %s", a, b)
		}
		if pages < 3 {
			t.Errorf("%d pages", pages)
		}
		list, _, more, err := o.Audit(t.Context(), "t2", 0, 100)
		if err != nil || len(list) > 0 || more {
			t.Errorf("another tenant sees %v, more %v (%v)", list, more, err)
		}
	})
}

func TestTheAuditTakesWhatSaysWho(t *testing.T) {
	event := func(kind string, said map[string]string) entity.Event {
		data, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		return entity.Event{Key: entity.Key{ID: "x"}, Type: kind, Data: data}
	}
	for _, c := range []struct {
		name  string
		event entity.Event
		want  bool
	}{
		{"an acknowledged alarm", event("alarm.acknowledged", map[string]string{"who": "ana"}), true},
		{"a raised alarm", event("alarm.raised", map[string]string{"reason": "late"}), false},
		{"a ticket that its order ended", event("delivery.cancelled", nil), true},
		{"a printed ticket", event("delivery.printed", nil), false},
		{"what cannot be read", entity.Event{Type: "delivery.cancelled", Data: []byte("{")}, false},
	} {
		if _, ok := audited(c.event); ok != c.want {
			t.Errorf("%s: %v, want %v", c.name, ok, c.want)
		}
	}
}
