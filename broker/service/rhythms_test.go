package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/kitchen"
	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// day is a broker's desk, store and the two loops of a kitchen's day, in a bubble's time, which
// begins on a Saturday at midnight.
type day struct {
	*testing.T
	store   store.Store
	desk    *desk.Desk
	service *Service
	mu      sync.Mutex
	made    []string // ids of accepted canaries
	stop    func()
}

func openDay(t *testing.T, path string, k Kitchen) *day {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := newKitchens([]Kitchen{k})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	w := &day{T: t, store: s, service: &Service{kitchens: list}}
	rhythms, err := newRhythms(s, list, time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	w.desk = desk.New(desk.Config{Store: s, Effects: func(effects []entity.Effect) {
		for _, e := range effects {
			if c, ok := e.(delivery.Changed); ok && c.Delivery.Canary {
				w.mu.Lock()
				w.made = append(w.made, c.Delivery.Ticket)
				w.mu.Unlock()
			}
		}
		rhythms.effects(effects)
	}})
	canaries := newCanaries(s, list, time.Now, log)
	rhythms.desk, canaries.desk, w.service.rhythms = w.desk, w.desk, rhythms
	ctx, cancel := context.WithCancel(context.Background())
	deskCtx, stopDesk := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- w.desk.Run(deskCtx) }()
	go func() { ended <- rhythms.run(ctx) }()
	go func() { ended <- canaries.run(ctx) }()
	w.stop = func() {
		cancel()
		err := errors.Join(<-ended, <-ended)
		stopDesk()
		if err = errors.Join(err, <-ended, s.Check(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	return w
}

// canaries lists the tickets of those made since openDay.
func (w *day) canaries() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.made)
}

func (w *day) do(c entity.Command) {
	w.Helper()
	if _, err := w.desk.Do(context.Background(), c); err != nil {
		w.Fatalf("%T: %v", c, err)
	}
	synctest.Wait()
}

// order posts an order for both stations.
func (w *day) order(name string) {
	w.Helper()
	for _, station := range []string{"grill", "bar"} {
		c := wire.Content{ID: name + "/1", Kitchen: "main", Station: station, Kind: wire.KindNew,
			Items: []wire.Item{{Quantity: 1, Name: "soup"}}}
		data, err := wire.CanonicalContent(c)
		if err != nil {
			w.Fatal(err)
		}
		w.do(delivery.Accept{Tenant: "main", Content: c, Data: data})
	}
}

// silence is the kitchen's alarm.
func (w *day) silence() alarm.Alarm {
	w.Helper()
	a, _, err := alarm.Load(w.store, "main", "silence/main")
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *day) view() intake.Rhythm {
	w.Helper()
	v, err := kitchenDoor{w.service}.Rhythm(context.Background(), "main", "main")
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func lunch() Kitchen {
	return Kitchen{ID: "main", Tenant: "main", Zone: "UTC", DayCut: 4 * time.Hour,
		Open: []string{"daily 11:00-15:00"}, Stations: []Station{{ID: "grill"}, {ID: "bar"}}}
}

// learned is a rhythm of 20 orders in each hour, seen in six weeks.
func learned() kitchen.Rhythm {
	r := kitchen.Rhythm{Cells: make([]kitchen.Cell, kitchen.HoursOfWeek)}
	for i := range r.Cells {
		r.Cells[i] = kitchen.Cell{Orders: 80, Hours: 4, Weeks: 6, At: time.Now()}
	}
	return r
}

func TestABusyHourWithoutOrdersIsToldOfUntilTheNextOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "broker.db")
		k := lunch()
		k.SilenceAlarm = true
		w := openDay(t, path, lunch())
		w.do(kitchen.Learn{Tenant: "main", Kitchen: "main", Rhythm: learned()})
		w.stop()
		w = openDay(t, path, k)
		pass(12 * time.Hour)
		if a := w.silence(); a.State != alarm.Raised || a.Severity != alarm.P2 || a.Kitchen != "main" ||
			!strings.Contains(a.Text, "since 11:00") {
			t.Fatalf("after an hour without any order: %+v", a)
		}
		if v := w.view(); !v.Silent || !v.SilenceAlarm || len(v.Hours) != kitchen.HoursOfWeek ||
			v.Hours[0] != (intake.RhythmHour{Day: "sun", Orders: 20, Weeks: 6, Known: true}) {
			t.Errorf("shown as %+v", v)
		}
		// It is the same alarm after a restart, and the next order ends it.
		w.stop()
		w = openDay(t, path, k)
		pass(time.Minute)
		if a := w.silence(); a.State != alarm.Raised || a.Episode != 1 {
			t.Fatalf("after a restart: %+v", a)
		}
		w.order("o1")
		pass(time.Second)
		if a := w.silence(); a.State != alarm.Clearing {
			t.Fatalf("after an order: %+v", a)
		}
		for i := range 90 { // Orders come; nothing is wrong.
			pass(2 * time.Minute)
			w.order(fmt.Sprint("more", i))
		}
		if a := w.silence(); a.Episode != 1 {
			t.Errorf("told of again: %+v", a)
		}
		w.stop()
	})
}

func TestWhatIsLearnedIsWrittenEveryHourAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "broker.db")
		k := lunch()
		k.SilenceAlarm = true
		w := openDay(t, path, k)
		version := func() uint64 {
			_, version, err := kitchen.Load(w.store, "main", "main")
			if err != nil {
				t.Fatal(err)
			}
			return version
		}
		pass(11*time.Hour + time.Minute)
		if got := version(); got != 11 {
			t.Errorf("written %d times in eleven hours", got)
		}
		for i := range 10 { // One order at two stations, and a canary, which is none.
			w.order(fmt.Sprint("o", i))
		}
		canary, err := delivery.NewCanary("main", "main", "grill", "2000-01-01", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		w.do(canary)
		pass(30 * time.Minute)
		w.stop()
		w = openDay(t, path, k)
		pass(18 * time.Hour) // Past the day's cut.
		v := w.view()
		if len(v.Hours) != 4 {
			t.Fatalf("hours %+v", v.Hours)
		}
		if h := v.Hours[0]; h.Day != "sat" || h.Hour != 11 || h.Orders != 10 || h.Weeks != 1 || h.Known {
			t.Errorf("learned %+v", h)
		}
		w.stop()
		w = openDay(t, path, lunch()) // Switched off, it is still shown.
		if v := w.view(); v.SilenceAlarm || len(v.Hours) != 4 {
			t.Errorf("shown as %+v", v)
		}
		before := version()
		pass(3 * time.Hour)
		if version() != before {
			t.Error("it goes on learning, switched off")
		}
		w.stop()
	})
}

func TestACanaryIsMadeOnceADayForEachStationWhateverIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "broker.db")
		k := lunch()
		k.Open = []string{"daily 11:00-14:00 17:00-22:00"}
		w := openDay(t, path, k)
		pass(24 * time.Hour)
		if len(w.canaries()) != 0 {
			t.Fatalf("made without being asked for: %v", w.canaries())
		}
		w.stop()
		k.Canary = 10 * time.Minute
		w = openDay(t, path, k)
		pass(10*time.Hour + 49*time.Minute)
		if len(w.canaries()) != 0 {
			t.Fatalf("made too early: %v", w.canaries())
		}
		pass(2 * time.Minute)
		if got := fmt.Sprint(w.canaries()); got !=
			"[canary-2000-01-02-main/1@grill canary-2000-01-02-main/1@bar]" {
			t.Fatalf("made %s", got)
		}
		d, version, err := delivery.Load(w.store, "main", w.canaries()[0])
		if err != nil || version == 0 || !d.Canary || d.State != delivery.Waiting ||
			!d.Expires.Equal(time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v, %v", d, err)
		}
		w.stop()
		w = openDay(t, path, k)
		pass(13 * time.Hour) // Over the second opening of the day.
		if len(w.canaries()) != 0 {
			t.Errorf("made again: %v", w.canaries())
		}
		w.stop()
		// The next day it is down until shortly after the opening.
		pass(11*time.Hour + 5*time.Minute)
		w = openDay(t, path, k)
		pass(time.Minute)
		if len(w.canaries()) != 2 || !strings.HasPrefix(w.canaries()[0], "canary-2000-01-03-") {
			t.Errorf("made %v", w.canaries())
		}
		w.stop()
	})
}
