package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// bury makes a dead letter, a second after the last one.
func (s *shelf) bury(c wire.Content) {
	s.t.Helper()
	s.accept(c)
	ticket := c.ID + "@" + c.Station
	s.mustDispatch(ticket, "d1", "s1")
	s.now = s.now.Add(time.Second)
	s.ack(ticket, "d1", wire.OutcomeRefused, refuse("poison", true))
	s.want(ticket, Dead)
}

func (s *shelf) job(c entity.Command) Job {
	s.t.Helper()
	var j Job
	if err := json.Unmarshal(s.must(c).Answer, &j); err != nil {
		s.t.Fatal(err)
	}
	return j
}

// dead lists the dead letters behind a cursor, as the store does.
func (s *shelf) dead(after Cursor, most int) (rows []entity.Row, last bool) {
	for row := range s.rows {
		if row.List == ListDead && after.before(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b entity.Row) int { return a.At.Compare(b.At) })
	last = len(rows) <= most
	return rows[:min(most, len(rows))], last
}

// drive goes on with a job until it is done, and counts the steps.
func (s *shelf) drive(j Job, page, most int) (Job, int) {
	s.t.Helper()
	for steps := 1; ; steps++ {
		s.now = s.now.Add(time.Second)
		rows, last := s.dead(j.Cursor, page)
		step := Step{Tenant: "t1", ID: j.ID, Rows: rows, Last: last, Most: most}
		before := j.Redriven + j.Cancelled
		if j = s.job(step); j.Redriven+j.Cancelled > before+most {
			s.t.Fatalf("a step of %d took %d", most, j.Redriven+j.Cancelled-before)
		}
		if j.Done() || steps > 1000 {
			return j, steps
		}
	}
}

func TestAJobRedrivesEachMatchingDeadLetterOnce(t *testing.T) {
	for _, most := range []int{1, 2, 3, 100} {
		for _, page := range []int{1, 2, 7, 100} {
			s := newShelf(t)
			s.hello("d1", "s1")
			for i := range 9 {
				c := content(fmt.Sprintf("o%d/1", i), wire.KindNew, soup)
				c.Station = []string{"grill", "bar"}[i%2]
				s.bury(c)
			}
			plan := Plan{Tenant: "t1", ID: "j1", Filter: Filter{Station: "grill"}, PerSecond: 10,
				Who: "ana", Why: "mended", Matched: 5}
			j, _ := s.drive(s.job(plan), page, most)
			if j.Redriven != 5 || len(j.Tickets) != 5 || j.Left+j.Cancelled != 0 {
				t.Fatalf("page %d, most %d: %+v", page, most, j)
			}
			for i := range 9 {
				d := s.delivery(fmt.Sprintf("o%d/1@%s", i, []string{"grill", "bar"}[i%2]))
				if got := len(d.Redrives); got != (i+1)%2 {
					t.Errorf("%s was redriven %d times", d.Ticket, got)
				}
			}
			if s.rows[j.row()] {
				t.Error("a job that is done is still owed")
			}
		}
	}
}

func TestAJobDoesNotDriveRoundWhatDiesAgain(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	for i := range 3 {
		s.bury(content(fmt.Sprintf("o%d/1", i), wire.KindNew, soup))
	}
	j := s.job(Plan{Tenant: "t1", ID: "j1", PerSecond: 1, Who: "ana", Matched: 3})
	for range 10 {
		s.now = s.now.Add(time.Second)
		rows, last := s.dead(j.Cursor, 1)
		if j = s.job(Step{Tenant: "t1", ID: "j1", Rows: rows, Last: last, Most: 1}); j.Done() {
			break
		}
		for _, row := range rows { // What was redriven dies at once.
			if s.delivery(row.Key.ID).State == Waiting {
				s.mustDispatch(row.Key.ID, "d1", "s1")
				s.ack(row.Key.ID, "d1", wire.OutcomeRefused, refuse("poison", true))
			}
		}
	}
	if !j.Done() || j.Redriven != 3 {
		t.Errorf("%+v", j)
	}
}

func TestAStepThatIsRepeatedDoesNothingTwice(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	for i := range 3 {
		s.bury(content(fmt.Sprintf("o%d/1", i), wire.KindNew, soup))
	}
	j := s.job(Plan{Tenant: "t1", ID: "j1", PerSecond: 1, Who: "ana"})
	rows, last := s.dead(j.Cursor, 2)
	step := Step{Tenant: "t1", ID: "j1", Rows: rows, Last: last, Most: 5}
	if j = s.job(step); j.Redriven != 2 || j.Done() {
		t.Fatalf("%+v", j)
	}
	if j = s.job(step); j.Redriven != 2 || j.Done() {
		t.Errorf("again: %+v", j)
	}
	// And a plan that is repeated is answered with the job as it stands.
	again := s.job(Plan{Tenant: "t1", ID: "j1", PerSecond: 1, Who: "ben"})
	if again.Redriven != 2 || again.Who != "ana" {
		t.Errorf("the plan again: %+v", again)
	}
	_, err := s.do(Plan{Tenant: "t1", ID: "j1", PerSecond: 1, Filter: Filter{Station: "bar"}})
	if !errors.Is(err, ErrConflict) {
		t.Errorf("another plan of the same id: %v", err)
	}
}

func TestAJobLeavesWhatHasExpired(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.bury(content("o1/1", wire.KindNew, soup))
	s.bury(content("o2/1", wire.KindNew, soup))
	s.now = s.now.Add(ExpiresAfter)
	s.bury(content("o3/1", wire.KindNew, soup))
	j, _ := s.drive(s.job(Plan{Tenant: "t1", ID: "j1", PerSecond: 1, Who: "ana"}), 10, 10)
	if j.Redriven != 1 || j.Left != 2 {
		t.Errorf("%+v", j)
	}
}

func TestAFilterChoosesByEachOfItsFields(t *testing.T) {
	d := Delivery{Ticket: "o1/1@grill", Station: "grill", Kitchen: "main", State: Dead,
		Reason: "refused:poison", DeadAt: day}
	open := d
	open.State = Waiting
	for _, test := range []struct {
		name   string
		filter Filter
		d      Delivery
		want   bool
	}{
		{"nothing", Filter{}, d, true},
		{"not a dead letter", Filter{}, open, false},
		{"station", Filter{Station: "grill"}, d, true},
		{"other station", Filter{Station: "bar"}, d, false},
		{"kitchen", Filter{Kitchen: "main"}, d, true},
		{"other kitchen", Filter{Kitchen: "annex"}, d, false},
		{"order", Filter{Order: "o1"}, d, true},
		{"the beginning of an order's id", Filter{Order: "o"}, d, false},
		{"reason", Filter{Reason: "refused:poison"}, d, true},
		{"kind of reason", Filter{Reason: "refused"}, d, true},
		{"the beginning of a reason", Filter{Reason: "ref"}, d, false},
		{"since", Filter{Since: day}, d, true},
		{"since later", Filter{Since: day.Add(1)}, d, false},
		{"until", Filter{Until: day}, d, false},
		{"until later", Filter{Until: day.Add(1)}, d, true},
	} {
		if got := test.filter.Chooses(test.d); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestADeadLetterIsDiscardedOnceAndStaysSo(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.bury(content("o1/1", wire.KindNew, soup))
	discard := Discard{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Why: "refunded"}
	if r := s.result(s.must(discard)); !r.Changed || r.State != Cancelled {
		t.Errorf("%+v", r)
	}
	s.why(id("o1", 1), ReasonDiscarded)
	last := s.events[len(s.events)-1]
	var said eventData
	if err := json.Unmarshal(last.Data, &said); err != nil || said.Who != "ana" ||
		said.Why != "refunded" || last.Type != "delivery.cancelled" {
		t.Errorf("the log says %s %+v (%v)", last.Type, said, err)
	}
	if r := s.result(s.must(discard)); r.Changed || r.State != Cancelled {
		t.Errorf("again: %+v", r)
	}
	if r := s.result(s.must(Redrive{Tenant: "t1", Ticket: id("o1", 1)})); r.Changed {
		t.Errorf("redriven afterwards: %+v", r)
	}
	s.accept(content("o2/1", wire.KindNew, soup))
	if _, err := s.do(Discard{Tenant: "t1", Ticket: id("o2", 1)}); !errors.Is(err, ErrNotDead) {
		t.Errorf("an open one: %v", err)
	}
}
