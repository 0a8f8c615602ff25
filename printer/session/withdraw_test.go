package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"chit/printer/escpos"
	"chit/printer/virtual"
)

// withdraw takes a document back that runs out of paper after its second line.
func (st *story) withdraw(j Job) (Result, error) {
	st.t.Helper()
	done := st.begun(st.t.Context(), j)
	st.untilHold(HoldPaper)
	err := st.s.Withdraw(st.t.Context(), j.Token)
	if err != nil {
		return Result{}, err
	}
	return <-done, nil
}

func TestAWithdrawnDocumentPrintsNothingMore(t *testing.T) {
	for _, lacks := range [][]string{nil, {"clone"}, {"clone", "no-odometer"}, {"no-asb"}} {
		tell(t, with(t, append(lacks, "paper-out:after=2")...), Unit{}, func(st *story) {
			unit := st.untilReady().Unit
			j := job(1, "A", 40)
			began := time.Now()
			r, err := st.withdraw(j)
			if err != nil || !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrWithdrawn) {
				t.Errorf("lacking %v: got %+v, %v", lacks, r, err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("lacking %v: took %v", lacks, took)
			}
			if st.s.State().Unit.Clears != Earned {
				t.Errorf("lacking %v: unit %+v, want that it clears", lacks, st.s.State().Unit)
			}
			pass(10 * time.Minute)
			st.clear(virtual.PaperOut)
			st.untilReady()
			got := st.s.Resolve(st.t.Context(), NewIntent(unit, j))
			if got.Evidence != None || got.Untouched || got.Torn != unit.Odometer {
				t.Errorf("lacking %v: got %+v, want torn", lacks, got)
			}
			if r := st.print(job(2, "B", 2)); r.Evidence < Fenced {
				t.Errorf("lacking %v: the next: %+v", lacks, r)
			}
			if paper := st.allPaper(); strings.Count(paper, "two beers") > 4 {
				t.Errorf("lacking %v: the rest came out: %q", lacks, paper)
			}
		})
	}
}

// A question about a document waits for the printer, for hours if need be; taking the document back
// does not wait behind it.
func TestAQuestionDoesNotKeepADocumentFromBeingTakenBack(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		j := job(1, "A", 5)
		ctx, cancel := context.WithCancel(st.t.Context())
		done := st.begun(ctx, j)
		st.untilHold(HoldPaper)
		cancel()
		<-done
		asked := make(chan Resolution, 1)
		go func() { asked <- st.s.Resolve(st.t.Context(), NewIntent(unit, j)) }()
		pass(time.Hour)
		began := time.Now()
		if err := st.s.Withdraw(st.t.Context(), j.Token); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > clearWait {
			t.Errorf("took %v", took)
		}
		st.clear(virtual.PaperOut)
		if r := <-asked; r.Evidence != None || !r.Torn {
			t.Errorf("got %+v, want torn", r)
		}
		if paper := st.allPaper(); strings.Count(paper, "two beers") > 1 {
			t.Errorf("the rest came out: %q", paper)
		}
	})
}

func TestAUnitThatDoesNotClearIsLearnedOnce(t *testing.T) {
	tell(t, with(t, "no-clear", "paper-out:after=2"), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		j := job(1, "A", 5)
		done := st.begun(st.t.Context(), j)
		st.untilHold(HoldPaper)
		began := time.Now()
		if err := st.s.Withdraw(st.t.Context(), j.Token); !errors.Is(err, ErrNotCleared) {
			t.Errorf("got %v, want ErrNotCleared", err)
		}
		if took := time.Since(began); took > 2*clearWait {
			t.Errorf("took %v", took)
		}
		if r := <-done; !r.Started || r.Evidence != None {
			t.Errorf("got %+v, want unknown", r)
		}
		st.clear(virtual.PaperOut)
		st.untilReady()
		t.Log("# it came out whole, and says so")
		got := st.s.Resolve(st.t.Context(), NewIntent(unit, j))
		if got.Evidence != Confirmed || got.Untouched {
			t.Errorf("got %+v, want confirmed", got)
		}
		t.Log("# the next one is not given up")
		st.raise("paper-out:after=2")
		j = job(2, "B", 5)
		done = st.begun(st.t.Context(), j)
		st.untilHold(HoldPaper)
		heard := st.received()
		if err := st.s.Withdraw(st.t.Context(), j.Token); !errors.Is(err, ErrNotCleared) {
			t.Errorf("got %v, want ErrNotCleared", err)
		}
		if got := st.received(); got != heard {
			t.Errorf("%d bytes were sent to a unit that does not clear", got-heard)
		}
		st.clear(virtual.PaperOut)
		wantResult(t, <-done, Confirmed)
		st.wantPapers(ticket("A", 5), ticket("B", 5))
	})
}

func TestAMuteUnitIsNotClearedAndItsDocumentGoesOn(t *testing.T) {
	tell(t, with(t, "mute"), Unit{}, func(st *story) {
		st.untilReady()
		wantResult(t, st.print(job(1, "A", 2)), Sent)
		heard := st.received()
		if err := st.s.Withdraw(st.t.Context(), escpos.TokenOf(1)); !errors.Is(err, ErrNotCleared) {
			t.Errorf("got %v, want ErrNotCleared", err)
		}
		if got := st.received(); got != heard {
			t.Errorf("%d bytes were sent to a mute unit", got-heard)
		}
	})
}

func TestADocumentWithdrawnBeforeItsTurnDoesNotStart(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		j := job(1, "A", 2)
		if err := st.s.Withdraw(st.t.Context(), j.Token); err != nil {
			t.Errorf("withdrawing: %v", err)
		}
		if r := st.print(j); r.Started || !errors.Is(r.Err, ErrWithdrawn) {
			t.Errorf("got %+v, want that it did not start", r)
		}
		got := st.s.Resolve(st.t.Context(), NewIntent(unit, j))
		if got.Untouched {
			t.Errorf("got %+v of a document that this connection did not carry", got)
		}
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		st.wantPapers(ticket("B", 2))
	})
}

// Only a trusted odometer that did not move, read behind a clearing that the printer confirmed on
// the connection that carried the document, proves that nothing came out.
func TestOnlyAnOdometerThatStandsProvesThatNothingCameOut(t *testing.T) {
	for _, c := range []struct {
		name      string
		lacks     []string
		taught    bool
		after     time.Duration // from the first byte to the open cover
		meanwhile func(*story)
		untouched bool
	}{
		{"nothing moved", nil, true, 50 * time.Millisecond, nil, true},
		{"a line came out", nil, true, 150 * time.Millisecond, nil, false},
		{"an odometer that is not trusted yet", nil, false, 50 * time.Millisecond, nil, false},
		{"no odometer", []string{"no-odometer"}, true, 50 * time.Millisecond, nil, false},
		{"fed by hand", nil, true, 50 * time.Millisecond, func(st *story) {
			st.m.do(func(p *virtual.Printer, now time.Time) { p.Receive(now, []byte("by hand\n")) })
		}, false},
		{"another connection", nil, true, 50 * time.Millisecond, func(st *story) {
			st.m.do(func(p *virtual.Printer, now time.Time) { p.HangUp(now) })
			st.untilHold(HoldAbsent)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tell(t, with(t, c.lacks...), Unit{}, func(st *story) {
				st.untilReady()
				if c.taught {
					wantResult(st.t, st.print(job(9, "first", 2)), Confirmed)
				}
				unit := st.untilReady().Unit
				j := job(1, "A", 5)
				done := st.begun(st.t.Context(), j)
				pass(c.after)
				st.m.do(func(p *virtual.Printer, now time.Time) { p.OpenCover(now) })
				st.untilHold(HoldCover)
				if err := st.s.Withdraw(st.t.Context(), j.Token); err != nil {
					t.Error(err)
				}
				if r := <-done; !r.Started || r.Evidence != None {
					t.Errorf("got %+v, want unknown", r)
				}
				if c.meanwhile != nil {
					c.meanwhile(st)
				}
				st.clear(virtual.CoverOpen)
				st.untilReady()
				got := st.s.Resolve(st.t.Context(), NewIntent(unit, j))
				if got.Untouched != c.untouched || got.Evidence != None {
					t.Errorf("got %+v, want untouched %v", got, c.untouched)
				}
				printed := strings.Contains(st.allPaper(), "A")
				if got.Untouched && printed {
					t.Errorf("said untouched, paper %q", st.allPaper())
				}
			})
		})
	}
}

// received is how many bytes the printer was given.
func (st *story) received() int {
	st.m.mu.Lock()
	defer st.m.mu.Unlock()
	return st.m.given
}
