package service

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/delivery"
	"chit/broker/fleet"
	"chit/broker/fleet/fleettest"
	"chit/broker/intake"
)

func TestDeadLettersAndStaleTicketsComeInPagesWithoutGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.bury(5)
		kitchens, err := newKitchens([]Kitchen{{ID: "main", Tenant: "t1", Zone: "Etc/UTC",
			Stations: []Station{{ID: "grill"}}, Stale: time.Minute, OnStale: "ask"}})
		if err != nil {
			t.Fatal(err)
		}
		kitchens.fleet, err = fleet.Open(t.Context(), fleet.Config{Dir: t.TempDir(),
			Names: []string{"broker"}, MQTT: "tls://broker:8883", Records: &fleettest.Memory{},
			Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		desk := &tickets{desk: w.desk, store: w.store, kitchens: kitchens, now: time.Now}
		read := func(page func(intake.Place) ([]intake.Ticket, intake.Place, error)) (ids []string) {
			for after, answers := (intake.Place{}), 1; ; answers++ {
				list, next, err := page(after)
				if err != nil || len(list) == 0 || len(list) > 2 {
					t.Fatalf("%d tickets, %v", len(list), err)
				}
				for _, one := range list {
					ids = append(ids, one.Ticket)
				}
				if next == (intake.Place{}) {
					if want := 3; answers != want {
						t.Errorf("%d answers, want %d", answers, want)
					}
					return ids
				}
				after = next
			}
		}
		want := []string{"o0/1@grill", "o1/1@grill", "o2/1@grill", "o3/1@grill", "o4/1@grill"}
		if dead := read(func(after intake.Place) ([]intake.Ticket, intake.Place, error) {
			list, next, err := desk.Dead(t.Context(), "t1", after, 2)
			if after == (intake.Place{}) { // Its place must hold when the ticket is gone from the list.
				w.do(delivery.Redrive{Tenant: "t1", Ticket: list[1].Ticket, Who: "ana"})
			}
			return list, next, err
		}); !slices.Equal(dead, want) {
			t.Errorf("dead letters %q", dead)
		}
		for _, id := range append(want[:1:1], want[2:]...) {
			w.do(delivery.Redrive{Tenant: "t1", Ticket: id, Who: "ana"})
		}
		pass(time.Hour)
		stale := stale{desk}
		if old := read(func(after intake.Place) ([]intake.Ticket, intake.Place, error) {
			list, next, err := stale.Stale(t.Context(), "t1", after, 2)
			for _, one := range list {
				if age := time.Duration(one.AgeMS) * time.Millisecond; age < time.Hour {
					t.Errorf("%s is %v old", one.Ticket, age)
				}
			}
			return list, next, err
		}); !slices.Equal(old, want) {
			t.Errorf("stale tickets %q", old)
		}
	})
}

func TestNamesThatNoTicketHasAreErrorsWithWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.bury(1)
		kitchens, err := newKitchens([]Kitchen{{ID: "main", Tenant: "t1", Zone: "Etc/UTC",
			Stations: []Station{{ID: "grill"}, {ID: "bar"}}}})
		if err != nil {
			t.Fatal(err)
		}
		o := &office{tickets: &tickets{desk: w.desk, store: w.store, kitchens: kitchens}}
		for _, test := range []struct {
			filter intake.Filter
			kind   error
			says   string
		}{
			{intake.Filter{Reason: "bogus"}, intake.ErrReason,
				`filter.reason: found "bogus", expected one of attempts, window,`},
			{intake.Filter{Reason: "refused:"}, intake.ErrReason, "filter.reason"},
			{intake.Filter{Station: "moon"}, intake.ErrStation,
				`filter.station: found "moon", expected one of bar, grill`},
			{intake.Filter{Kitchen: "moon"}, intake.ErrKitchen,
				`filter.kitchen: found "moon", expected one of main`},
			{intake.Filter{Reason: "window", Station: "grill", Kitchen: "main"}, nil, ""},
			{intake.Filter{Reason: "refused"}, nil, ""},
		} {
			_, _, err := o.Redrivable(t.Context(), "t1", test.filter)
			if !errors.Is(err, test.kind) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%+v: %v, want %q", test.filter, err, test.says)
			}
		}
	})
}

func TestWhatOthersDidMovesNoPositionOfTheAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openShop(t, filepath.Join(t.TempDir(), "broker.db"))
		defer w.stop()
		w.bury(2)
		w.do(delivery.Redrive{Tenant: "t1", Ticket: "o0/1@grill", Who: "ana", Why: "mended"})
		o := &office{tickets: &tickets{desk: w.desk, store: w.store}}
		if list, next, more, err := o.Audit(t.Context(), "t2", 7, 10); len(list) != 0 || next != 7 ||
			more || err != nil {
			t.Errorf("a tenant that did nothing: %v, next %d, more %v, %v", list, next, more, err)
		}
		list, next, _, err := o.Audit(t.Context(), "t1", 0, 10)
		if len(list) != 1 || next != list[0].Position || err != nil {
			t.Fatalf("%v, next %d, %v", list, next, err)
		}
		// What was skipped once is not lost: news behind it are found.
		w.do(delivery.Redrive{Tenant: "t1", Ticket: "o1/1@grill", Who: "ana", Why: "mended"})
		list, again, _, err := o.Audit(t.Context(), "t1", next, 10)
		if len(list) != 1 || list[0].ID != "o1/1@grill" || again != list[0].Position || err != nil {
			t.Errorf("%v, next %d, %v", list, again, err)
		}
		if list, _, _, _ := o.Audit(t.Context(), "t1", 0, 10); len(list) != 2 {
			t.Errorf("from the beginning: %v", list)
		}
	})
}
