package service

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/device/wire"
)

func TestAStationLeftOutForOneStartIsToldAndKeepsItsDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.do(delivery.Greet{Tenant: "t1", Hello: wire.Hello{Device: "d1", Session: "s1", Format: 1,
			Journal: "j1", Boot: 1}})
		w.number("a/1")
		w.number("b/1")
		with := w.calendar(false)
		day := with.today()["t1/grill"]
		without, err := newKitchens([]Kitchen{{ID: "main", Tenant: "t1", Zone: "UTC",
			Stations: []Station{{ID: "bar"}}}})
		if err != nil {
			t.Fatal(err)
		}

		t.Log("# the broker starts without the grill")
		var said bytes.Buffer
		start := func(k *kitchens) alarm.Alarm {
			said.Reset()
			u := unserved{desk: w.desk, store: w.store, kitchens: k,
				log: slog.New(slog.NewTextHandler(&said, nil))}
			if err := u.tell(t.Context(), []string{"t1"}); err != nil {
				t.Fatal(err)
			}
			a, _, err := alarm.Load(w.store, "t1", "unserved/grill")
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := start(without); a.State != alarm.Raised || a.Count != 2 ||
			!strings.Contains(a.Text, "2 tickets are open at grill") {
			t.Errorf("alarm %s, count %d: %s", a.State, a.Count, a.Text)
		}
		if !strings.Contains(said.String(), "station=grill open=2") {
			t.Errorf("the log says %q", said.String())
		}
		gone := &days{desk: w.desk, store: w.store, kitchens: without, now: with.now, log: with.log}
		closed := func() bool {
			if err := gone.look(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, ok, err := delivery.LoadDay(w.store, "t1", "grill", day)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if closed() {
			t.Error("the day was closed at once")
		}

		t.Log("# with the grill it is over, and nothing was lost")
		if a := start(with.kitchens); a.State != alarm.Clearing || said.Len() > 0 {
			t.Errorf("alarm %s, the log says %q", a.State, said.String())
		}

		t.Log("# a station that is gone for good has its day closed when that is over everywhere")
		pass(71 * time.Hour)
		if !closed() {
			t.Error("its day stays open for ever")
		}
	})
}
