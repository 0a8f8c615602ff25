package session

import (
	"errors"
	"testing"
	"time"

	"chit/printer/virtual"
)

// with is the good printer with these faults from the start.
func with(t *testing.T, faults ...string) virtual.Config {
	t.Helper()
	c := good()
	for _, text := range faults {
		f, err := virtual.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Faults = append(c.Faults, f)
	}
	return c
}

func (st *story) raise(fault string) {
	st.t.Helper()
	f, err := virtual.ParseFault(fault)
	if err != nil {
		st.t.Fatal(err)
	}
	st.m.do(func(p *virtual.Printer, now time.Time) { p.Raise(now, f) })
}

func (st *story) clear(name virtual.FaultName) {
	st.m.do(func(p *virtual.Printer, now time.Time) { p.Clear(now, name) })
}

func TestAGoodPrinterConfirmsADocumentAndEarnsTrust(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		want := Unit{
			Fingerprint: "TM-T20III/EPSON/1.02/X3CK000123#hrgca",
			TwoWay:      true, ProcessID: true, Fence: true, Odometer: true, Identity: true,
			Realtime: 0b11110, Pushes: true, Cumulative: true,
			Counters: Counters{Known: true, LineFeeds: 1000, Cuts: 50},
		}
		if unit != want {
			t.Errorf("unit %+v, want %+v", unit, want)
		}
		r := st.print(job(1, "A", 5))
		wantResult(t, r, Confirmed)
		if want := (Counters{true, 1005, 51}); r.Counters != want || r.CutFault {
			t.Errorf("result %+v, want counters %+v", r, want)
		}
		after := st.s.State() // It comes before the result.
		if intent := NewIntent(after.Unit, job(2, "B", 3)); !intent.Trusted ||
			intent.Before != r.Counters || intent.LineFeeds != 3 || intent.Cuts != 1 {
			t.Errorf("the next intent is %+v", intent)
		}
		st.wantPapers(ticket("A", 5))
	})
}

func TestEachUnitIsPrintedToByWhatItAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []string
		want   Evidence
	}{
		{"everything", nil, Confirmed},
		{"no GS ( H", []string{"clone"}, Fenced},
		{"no GS r", []string{"no-fence"}, Confirmed},
		{"no fence of any kind", []string{"clone", "no-fence"}, Sent},
		{"no odometer", []string{"no-odometer"}, Confirmed},
		{"no ASB", []string{"no-asb"}, Confirmed},
		{"GS r and nothing else", []string{"clone", "no-odometer", "no-asb"}, Fenced},
		{"mute", []string{"mute"}, Sent},
	} {
		t.Run(c.name, func(t *testing.T) {
			tell(t, with(t, c.faults...), Unit{}, func(st *story) {
				st.untilReady()
				for n := range uint64(3) {
					wantResult(t, st.print(job(n, "A", 4)), c.want)
				}
				st.until("paper", func(State) bool { return true })
				pass(time.Minute) // in the bubble: what was only sent prints in its own time
				st.wantPapers(ticket("A", 4), ticket("A", 4), ticket("A", 4))
			})
		})
	}
}

func TestSilenceAfterTheDocumentIsUnknownAfterABound(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		st.raise("silent:after=6")
		begin := time.Now()
		r := st.print(job(1, "A", 2))
		if !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrSilence) {
			t.Errorf("got %+v, want silence", r)
		}
		if took := time.Since(begin); took < fenceDefault || took > 2*fenceDefault {
			t.Errorf("gave up after %v, want about %v", took, fenceDefault)
		}
	})
}

func TestATokenThatCannotBeSentIsRefused(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		if r := st.print(Job{}); r.Started || !errors.Is(r.Err, ErrToken) {
			t.Errorf("zero token: %+v", r)
		}
		st.wantPapers()
	})
}

// A device without a journal has one token for all its slips: an answer to an earlier one is none
// to the next.
func TestAnAnswerToAnEarlierUseOfATokenProvesNothing(t *testing.T) {
	for _, faults := range [][]string{nil, {"clone"}} {
		tell(t, with(t, faults...), Unit{}, func(st *story) {
			st.untilReady()
			for range 2 {
				if r := st.print(job(0, "A", 2)); r.Evidence < Fenced {
					t.Errorf("got %+v", r)
				}
			}
			st.wantPapers(ticket("A", 2), ticket("A", 2))
			st.raise("silent:after=5")
			if r := st.print(job(0, "A", 2)); !r.Started || r.Evidence != None {
				t.Errorf("with a silent printer: %+v", r)
			}
		})
	}
}

func TestPaperMovedByHandAsksForANewIntent(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		before := st.untilReady().Unit.Counters
		st.m.do(func(p *virtual.Printer, now time.Time) {
			p.OpenCover(now)
			p.Receive(now, []byte("by hand\n")) // the other client of row 25
			p.CloseCover(now)
		})
		moved := st.until("a new reading", func(s State) bool { return s.Unit.Counters != before })
		j := job(1, "A", 2)
		j.Before = before
		r := st.print(j)
		if r.Started || !errors.Is(r.Err, ErrMoved) || r.Counters != moved.Unit.Counters {
			t.Errorf("got %+v, want ErrMoved at %+v", r, moved.Unit.Counters)
		}
		j.Before = moved.Unit.Counters
		wantResult(t, st.print(j), Confirmed)
		if trust := st.s.State().Unit.Trust.Text; trust == Lost {
			t.Error("trust was lost by a hand")
		}
	})
}
