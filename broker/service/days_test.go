package service

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/device/wire"
)

// calendar is the closing loop of one kitchen with a grill, on a real store.
func (w *shop) calendar(slip bool) *days {
	w.Helper()
	k, err := newKitchens([]Kitchen{{ID: "main", Tenant: "t1", Zone: "UTC", DayCut: 4 * time.Hour,
		DaySlip: slip, Stations: []Station{{ID: "grill"}}}})
	if err != nil {
		w.Fatal(err)
	}
	return &days{desk: w.desk, store: w.store, kitchens: k,
		now: func() time.Time { return time.Now().UTC() }, log: slog.New(slog.DiscardHandler)}
}

// number accepts a ticket and hands it over, which gives its number.
func (w *shop) number(id string) {
	w.Helper()
	c := wire.Content{ID: id, Kitchen: "main", Station: "grill", Kind: wire.KindNew,
		Items: []wire.Item{{Quantity: 1, Name: "soup"}}}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		w.Fatal(err)
	}
	w.do(delivery.Accept{Tenant: "t1", Content: c, Data: data})
	w.do(delivery.Dispatch{Tenant: "t1", Ticket: id + "@grill", Device: "d1", Printer: "main",
		Session: "s1", Zone: time.UTC})
}

func TestTheDayIsToldWhileItRunsAndClosedWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "broker.db")
		w := openShop(t, path)
		w.do(delivery.Greet{Tenant: "t1", Hello: wire.Hello{Device: "d1", Session: "s1", Format: 1,
			Journal: "j1", Boot: 1}})
		w.number("a/1")
		w.number("b/1")
		c := w.calendar(true)
		today := c.today()["t1/grill"]
		told, err := c.Days(t.Context(), "t1", intake.Today, "")
		if err != nil || len(told) != 1 || told[0].Count != 2 || told[0].ClosedAt != nil ||
			len(told[0].Missing) != 2 || told[0].Day != today {
			t.Fatalf("%+v, %v", told, err)
		}
		if _, err := c.Days(t.Context(), "t1", intake.Today, "bar"); err == nil {
			t.Error("a station that is not there has a day")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.run(ctx) }()
		pass(24 * time.Hour)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		told, err = c.Days(t.Context(), "t1", today, "grill")
		if err != nil || told[0].Count != 2 || told[0].ClosedAt == nil {
			t.Errorf("closed: %+v, %v", told, err)
		}
		if rows, err := w.store.Rows(delivery.ListNumbers, "", entity.Row{}, 9); len(rows) > 0 ||
			err != nil {
			t.Errorf("rows left: %v, %v", rows, err)
		}
		slip, ok, err := delivery.LoadContent(w.store, "t1", "day-"+today+".grill/1@grill")
		if err != nil || !ok || !strings.Contains(string(slip.Data), "first 1, last 2, 2 tickets") {
			t.Errorf("slip %s, %v, %v", slip.Data, ok, err)
		}
		t.Log("# another look, as after a restart in between, makes nothing new")
		if err := w.calendar(true).look(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		w.stop()
	})
}

func TestADayOfALongStationHasANoticeToo(t *testing.T) {
	seen := map[string]bool{}
	for _, station := range []string{"grill", strings.Repeat("a", 63) + "1",
		strings.Repeat("a", 63) + "2"} {
		order := dayOrder(delivery.Day{Day: "2026-12-01", Station: station})
		if _, _, err := wire.ParseContentID(order + ".g999.1796122800000/1"); err != nil || seen[order] {
			t.Errorf("%s: %s, %v", station, order, err)
		}
		seen[order] = true
	}
}
