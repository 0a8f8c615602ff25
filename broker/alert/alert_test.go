package alert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store/bolt"
)

// listener is a destination that remembers, and fails as often as it is told.
type listener struct {
	begin time.Time

	mu    sync.Mutex
	fails int
	calls int
	heard []string
	ids   map[string]int
}

var errDown = errors.New("down")

func (l *listener) Send(ctx context.Context, m Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	l.ids[m.ID]++
	if l.fails != 0 {
		l.fails--
		return errDown
	}
	l.heard = append(l.heard, fmt.Sprintf("+%s %s %s %d", time.Since(l.begin), m.What, m.Severity,
		m.Level))
	return nil
}

func (l *listener) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.heard, ", ")
}

// world is one running alert on a real store; it must be made in a synctest bubble.
type world struct {
	*testing.T
	store *bolt.Store
	desk  *desk.Desk
	alert *Alert
	begin time.Time
	stop  func()
	epoch uint64

	// degraded is why device dev-1 cannot remember; it is connected while online.
	online   atomic.Bool
	degraded atomic.Value

	phone, mail, boss, owner *listener
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: s, begin: time.Now()}
	for _, l := range []**listener{&w.phone, &w.mail, &w.boss, &w.owner} {
		*l = &listener{begin: w.begin, ids: map[string]int{}}
	}
	w.start()
	return w
}

func (w *world) start() {
	var a *Alert
	w.desk = desk.New(desk.Config{Store: w.store, Effects: func(e []entity.Effect) { a.Effects(e) }})
	a = New(Config{
		Desk: w.desk, Store: w.store, Rand: func() float64 { return 0.5 },
		Devices: func() []Memory {
			if !w.online.Load() {
				return nil
			}
			why, _ := w.degraded.Load().(string)
			return []Memory{{Tenant: "t1", Device: "dev-1", Degraded: why}}
		},
		Places: map[alarm.StationKey]alarm.Place{{Tenant: "t1", Station: "grill"}: {Kitchen: "main"}},
		Destinations: []Destination{
			{Tenant: "t1", Name: "phone", Level: 1, Sender: w.phone},
			{Tenant: "t1", Name: "mail", Level: 1, Sender: w.mail},
			{Tenant: "t1", Name: "boss", Level: 2, Sender: w.boss},
			{Tenant: "t1", Name: "owner", Level: 3, Sender: w.owner},
			{Tenant: "t2", Name: "phone", Level: 1, Sender: w.owner},
		},
	})
	w.alert = a
	deskCtx, stopDesk := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- w.desk.Run(deskCtx) }()
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	w.stop = func() {
		w.Helper()
		cancel()
		err := <-ran
		stopDesk()
		if err = errors.Join(err, <-done); err != nil {
			w.Error(err)
		}
	}
}

func (w *world) end() {
	w.stop()
	if err := errors.Join(w.store.Check(), w.store.Close()); err != nil {
		w.Error(err)
	}
}

// is says where a ticket of the grill stands, as the desk's effects do.
func (w *world) is(ticket string, release time.Time, state delivery.State) {
	w.epoch++
	d := delivery.Delivery{Tenant: "t1", Ticket: ticket + "/1@grill", Station: "grill",
		Kitchen: "main", State: state, Release: release, Epoch: w.epoch, Number: ticket,
		Reason: "away"}
	w.alert.Effects([]entity.Effect{delivery.Changed{Delivery: d}})
}

// sleep lets time pass and everything that follows happen.
func (w *world) sleep(d time.Duration) {
	<-time.After(d) // The bubble's time.
	synctest.Wait()
}

func (w *world) want(l *listener, said string) {
	w.Helper()
	if got := l.said(); got != said {
		w.Errorf("at +%s heard %q, want %q", time.Since(w.begin), got, said)
	}
}

func (w *world) alarm(cause string) alarm.Alarm {
	w.Helper()
	a, version, err := alarm.Load(w.store, "t1", cause)
	if err != nil || version == 0 {
		w.Fatalf("alarm %s: version %d, %v", cause, version, err)
	}
	return a
}

func TestTheLadderIsClimbedUntilSomebodyAcknowledges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.is("41", w.begin, delivery.Parked)
		w.sleep(2*time.Minute - time.Second)
		w.want(w.phone, "")
		w.sleep(time.Second)
		w.want(w.phone, "+2m0s began P2 1")
		w.want(w.mail, "+2m0s began P2 1")
		w.sleep(8*time.Minute + time.Second)
		w.want(w.phone, "+2m0s began P2 1, +5m0s worse P1 1")
		w.want(w.boss, "+10m0s climbed P1 2")
		if _, err := w.desk.Do(t.Context(), alarm.Acknowledge{Tenant: "t1", Cause: "late/grill",
			Who: "ana"}); err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Hour)
		w.want(w.owner, "")
		w.is("41", w.begin, delivery.Settled)
		w.sleep(alarm.ClearFor + time.Second)
		w.want(w.boss, "+10m0s climbed P1 2, +1h11m1s ended P1 2")
		w.want(w.owner, "") // He was never told that anything was wrong.
		a := w.alarm("late/grill")
		if a.State != alarm.Over || !a.Owed.IsZero() || len(a.Tries) != 8 {
			t.Errorf("%s, owed since %s, %d tries", a.State, a.Owed, len(a.Tries))
		}
		for _, try := range a.Tries {
			if try.Outcome != alarm.Sent || try.At.IsZero() || try.Destination == "" || try.Level == 0 {
				t.Errorf("recorded %+v", try)
			}
		}
	})
}

func TestNobodyAnswersAndAllThreeLevelsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.is("41", w.begin, delivery.Dead)
		w.sleep(time.Hour)
		w.want(w.phone, "+0s began P1 1")
		w.want(w.boss, "+5m0s climbed P1 2")
		w.want(w.owner, "+10m0s climbed P1 3")
		snapshot := w.alert.Snapshot()
		p1 := TenantSeverity{"t1", alarm.P1}
		if snapshot.Alarms[p1] != 1 || snapshot.Unanswered[p1] != 1 || snapshot.Sent != 4 ||
			len(snapshot.Stations) != 1 || snapshot.Stations[0].Dead != 1 ||
			len(snapshot.Causes) != 1 || snapshot.Causes[Cause{"t1", alarm.CauseDead, "grill"}] != 1 {
			t.Errorf("%+v", snapshot)
		}
	})
}

func TestWhatFailsIsTriedAgainUnderTheSameIDAndHurtsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.phone.fails = 3
		w.is("41", w.begin, delivery.Dead)
		w.sleep(time.Minute)
		w.want(w.mail, "+0s began P1 1")
		// Half of each pause's room: 1.5 s, 2.5 s, 4.5 s.
		w.want(w.phone, "+8.5s began P1 1")
		if len(w.phone.ids) != 1 || w.phone.calls != 4 {
			t.Errorf("%d calls with %v", w.phone.calls, w.phone.ids)
		}
		failed := 0
		for _, try := range w.alarm("dead/grill").Tries {
			if try.Outcome == alarm.Failed && try.Error == errDown.Error() &&
				try.Destination == "phone" && try.Level == 1 {
				failed++
			}
		}
		if failed != 3 {
			t.Errorf("%d failures are recorded, want 3", failed)
		}
	})
}

func TestADeadDestinationIsNotCalledInVainAndTheOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.phone.fails = -1 // For ever.
		for i := range 40 {
			raise := alarm.Raise{Tenant: "t1", Cause: fmt.Sprint("dead/s", i), Severity: alarm.P2,
				Count: 1, Text: "x"}
			if _, err := w.desk.Do(t.Context(), raise); err != nil {
				t.Fatal(err)
			}
		}
		w.sleep(time.Hour)
		if len(w.mail.heard) != 40 {
			t.Errorf("mail heard %d, want 40", len(w.mail.heard))
		}
		// Without a breaker 40 messages would be tried every half minute: 4,800 times. With it,
		// once the first ones have failed, a probe goes out every 4 minutes or so.
		if w.phone.calls > 30 {
			t.Errorf("phone was called %d times in an hour", w.phone.calls)
		}
		snapshot := w.alert.Snapshot()
		if snapshot.Breakers[[2]string{"t1", "phone"}] == alarm.Closed || snapshot.Deferred == 0 ||
			snapshot.Breakers[[2]string{"t1", "mail"}] != alarm.Closed {
			t.Errorf("%+v", snapshot.Breakers)
		}
		w.phone.mu.Lock()
		w.phone.fails = 0
		w.phone.mu.Unlock()
		w.sleep(10 * time.Minute)
		if len(w.phone.heard) != 40 {
			t.Errorf("after it came back phone heard %d, want 40", len(w.phone.heard))
		}
	})
}

func TestWhatIsOwedWhenTheBrokerStopsIsSentWhenItStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.phone.fails = 1
		w.is("41", w.begin, delivery.Dead)
		w.sleep(time.Second)
		w.want(w.phone, "")
		w.stop()
		w.sleep(10 * time.Minute)
		w.start() // Nothing was accepted in this store, so nothing is dead: the alarm must clear.
		w.sleep(time.Second)
		w.want(w.phone, "")
		w.is("41", w.begin, delivery.Dead)
		w.sleep(time.Second)
		w.want(w.phone, "+10m2s began P1 1")
		w.want(w.mail, "+0s began P1 1")
		w.want(w.boss, "+10m2s climbed P1 2") // Its time came while the broker was down.
		if len(w.phone.ids) != 1 {
			t.Errorf("ids %v", w.phone.ids)
		}
	})
}

func TestAMessageThatWasSentAndNotRecordedIsSentAgainUnderItsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.stop()
		// What the store holds after a crash between the sending and the record.
		w.desk = desk.New(desk.Config{Store: w.store})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.desk.Run(ctx) }()
		if _, err := w.desk.Do(t.Context(), alarm.Raise{Tenant: "t1", Cause: "memory/dev-1",
			Severity: alarm.P2, Count: 1, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		id := w.alarm("memory/dev-1").NoteID(1)
		w.phone.ids[id]++
		w.start()
		w.sleep(time.Second)
		if w.phone.ids[id] != 2 || len(w.phone.ids) != 1 {
			t.Errorf("ids %v, want %s twice", w.phone.ids, id)
		}
		w.stop()
		w.start()
		w.sleep(time.Minute)
		if w.phone.ids[id] != 2 {
			t.Error("what was recorded was sent again")
		}
	})
}

func TestADeviceThatCannotRememberIsToldOfUntilItCanOrIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.end()
		w.sleep(time.Minute)
		w.want(w.phone, "")
		w.online.Store(true)
		w.degraded.Store("storage")
		w.sleep(devicesEvery)
		w.want(w.phone, "+1m5s began P1 1")
		w.online.Store(false) // It is away, and no better for that.
		w.sleep(time.Minute)
		if a := w.alarm("memory/dev-1"); a.State != alarm.Raised {
			t.Errorf("while it is away: %s", a.State)
		}
		w.online.Store(true)
		w.degraded.Store("")
		w.sleep(devicesEvery + alarm.ClearFor)
		if a := w.alarm("memory/dev-1"); a.State != alarm.Over {
			t.Errorf("when it remembers again: %s", a.State)
		}
		w.degraded.Store("storage")
		w.sleep(devicesEvery)
		w.online.Store(false)
		w.alert.Revoked("t1", "dev-1")
		w.sleep(alarm.ClearFor + time.Second)
		if a := w.alarm("memory/dev-1"); a.State != alarm.Over || a.Episode != 2 {
			t.Errorf("after it was revoked: %s, episode %d", a.State, a.Episode)
		}
	})
}
