package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"chit/printer/escpos"
	"chit/printer/transport/file"
	"chit/printer/virtual"
)

// Row 21: the first job after the printer was switched off and on disappears.
func TestRow21AfterAPowerCycleTheNextDocumentComesOut(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		wantResult(t, st.print(job(1, "A", 2)), Confirmed)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.PowerOff(now) })
		st.untilHold(HoldAbsent)
		if r := st.print(job(2, "B", 2)); r.Started || r.Hold != HoldAbsent {
			t.Errorf("got %+v from an absent printer", r)
		}
		st.m.do(func(p *virtual.Printer, now time.Time) { p.PowerOn(now) })
		st.untilReady()
		wantResult(t, st.print(job(3, "B", 2)), Confirmed)
		st.wantPapers(ticket("A", 2), ticket("B", 2))
	})
}

// The same where nothing tells of the power cycle: the link looks whole and answers nothing.
func TestRow21ADeadLinkThatLooksWholeIsFoundBeforeTheFirstByte(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Silence(now) })
		r := st.print(job(1, "A", 2))
		if r.Started || r.Hold != HoldSilent || !errors.Is(r.Err, ErrHeld) {
			t.Errorf("got %+v, want held: silent", r)
		}
		st.untilHold(HoldSilent)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Speak(now) })
		st.untilReady()
		wantResult(t, st.print(job(2, "A", 2)), Confirmed)
		st.wantPapers(ticket("A", 2))
	})
}

// Row 22: power off in the middle gave no exception and lost lines.
func TestRow22PowerOffInTheMiddleIsUnknown(t *testing.T) {
	tell(t, with(t, "power-off:after=3,for=1m"), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		j := job(1, "A", 8)
		r := st.print(j)
		if !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrLink) {
			t.Errorf("got %+v, want an unknown outcome", r)
		}
		resolution := st.s.Resolve(st.t.Context(), NewIntent(unit, j))
		if resolution.Evidence != None || !resolution.Torn || resolution.Err != nil {
			t.Errorf("got %+v, want torn", resolution)
		}
	})
}

// Rows 23, 24 and 7: one long-lived connection; one that is reset while idle is made anew.
func TestRow23AllDocumentsShareOneConnection(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		for n := range uint64(20) {
			wantResult(t, st.print(job(n, "A", 2)), Confirmed)
			pass(time.Duration(n) * time.Minute)
		}
		if st.m.connections() != 1 {
			t.Errorf("%d connections, want 1", st.m.connections())
		}
		st.m.do(func(p *virtual.Printer, now time.Time) { p.HangUp(now) })
		st.untilHold(HoldAbsent)
		st.untilReady()
		wantResult(t, st.print(job(30, "A", 2)), Confirmed)
	})
}

func TestAnEndedContextLeavesAnUnknownOutcome(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		st.untilReady()
		ctx, cancel := context.WithCancel(st.t.Context())
		done := st.begun(ctx, job(1, "A", 5))
		st.untilHold(HoldPaper)
		cancel()
		if r := <-done; !r.Started || r.Evidence != None || !errors.Is(r.Err, context.Canceled) {
			t.Errorf("got %+v", r)
		}
		if r := st.s.Print(ctx, job(2, "B", 5)); r.Started {
			t.Errorf("started with an ended context: %+v", r)
		}
	})
}

// Row 26: a reset after 90 s of idleness. Nothing may be quiet for 60 s.
func TestRow26AnIdleLinkIsNeverQuietForAMinute(t *testing.T) {
	for _, faults := range [][]string{nil, {"mute"}, {"no-asb"}} {
		tell(t, with(t, faults...), Unit{}, func(st *story) {
			st.untilReady()
			pass(2 * time.Hour)
			st.m.mu.Lock()
			defer st.m.mu.Unlock()
			if pause := max(st.m.pause, time.Since(st.m.heard)); pause >= time.Minute {
				t.Errorf("%v: the longest pause was %v", faults, pause)
			}
		})
	}
}

func TestAPrinterThatDiesWhileIdleIsMissedByThePoll(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Silence(now) })
		begin := time.Now()
		st.untilHold(HoldSilent)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("noticed after %v", took)
		}
	})
}

// Row 40: a write-only printer.
func TestRow40AFileIsPrintedToBlindly(t *testing.T) {
	path := t.TempDir() + "/paper.bin"
	st := &story{t: t}
	st.begin(Config{Dialer: file.New(path)})
	defer st.end()
	if s := st.untilReady(); s.Unit != (Unit{}) {
		t.Errorf("unit %+v", s.Unit)
	}
	wantResult(t, st.print(job(1, "A", 2)), Sent)
	r := st.s.Resolve(st.t.Context(), Intent{Token: escpos.TokenOf(9), LineFeeds: 2, Cuts: 1})
	if r.Evidence != None || r.Err != nil {
		t.Errorf("got %+v", r)
	}
}

func TestOrdersToAnEndedSessionEnd(t *testing.T) {
	st := &story{t: t}
	st.begin(Config{Dialer: file.New(t.TempDir() + "/x")})
	st.untilReady()
	st.end()
	if r := st.print(job(1, "A", 2)); r.Started || !errors.Is(r.Err, ErrEnded) {
		t.Errorf("Print: %+v", r)
	}
	if r := st.s.Resolve(st.t.Context(), Intent{}); !errors.Is(r.Err, ErrEnded) {
		t.Errorf("Resolve: %+v", r)
	}
	if err := st.s.ClearBuffers(st.t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("ClearBuffers: %v", err)
	}
}

func TestAMuteUnitThatSpeaksAfterAllIsAskedWhatItCanDo(t *testing.T) {
	tell(t, with(t, "mute"), Unit{}, func(st *story) {
		if unit := st.untilReady().Unit; unit.TwoWay {
			t.Errorf("unit %+v", unit)
		}
		st.clear(virtual.Mute)
		st.until("an answer", func(s State) bool { return s.Unit.TwoWay })
		wantResult(t, st.print(job(1, "A", 2)), Confirmed)
		if st.m.connections() != 1 {
			t.Errorf("%d connections, want 1", st.m.connections())
		}
	})
}

// What the printer has not taken yet when a document is given up must never follow.
func TestADocumentGivenUpInItsWriteEndsTheConnection(t *testing.T) {
	c := with(t, "paper-out:after=3")
	c.BufferBytes = 256
	tell(t, c, Unit{}, func(st *story) {
		st.untilReady()
		ctx, cancel := context.WithCancel(st.t.Context())
		done := st.begun(ctx, job(1, "A", 200))
		st.untilHold(HoldPaper)
		pass(time.Second)
		cancel()
		if r := <-done; !r.Started || r.Evidence != None {
			t.Errorf("got %+v", r)
		}
		st.clear(virtual.PaperOut)
		st.until("a new connection", func(s State) bool { return st.m.connections() > 1 && s.Ready() })
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		if papers := st.m.papers(); len(papers) != 1 || slices.Contains(papers, ticket("A", 200)) {
			t.Errorf("paper %q", papers)
		}
	})
}

func TestAnOrderThatWaitsForTheFirstHelloCanBeWithdrawn(t *testing.T) {
	tell(t, with(t, "mute"), known, func(st *story) {
		pass(10 * time.Millisecond)
		ctx, cancel := context.WithTimeout(st.t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		r := st.s.Print(ctx, job(1, "A", 2))
		if took := time.Since(begin); r.Started || took > 150*time.Millisecond {
			t.Errorf("got %+v after %v", r, took)
		}
	})
}

// A unit that must be probed again, because it did not answer in time, keeps its odometer's name.
func TestTrustSurvivesProbingTheSameUnitAgain(t *testing.T) {
	remembered := known
	remembered.Realtime, remembered.Trust = 0, Trust{Text: Earned, Raster: Lost}
	tell(t, good(), remembered, func(st *story) {
		if unit := st.untilReady().Unit; unit.Trust != remembered.Trust || unit.Realtime == 0 {
			t.Errorf("unit %+v", unit)
		}
	})
}

// A printer that is reset forgets document and fence alike, and goes on answering questions: none
// that is asked afterwards may speak for the document.
func TestAPrinterThatForgetsItsBufferConfirmsNothing(t *testing.T) {
	for _, faults := range [][]string{nil, {"clone"}, {"clone", "no-odometer"}} {
		tell(t, with(t, append(faults, "forget-buffer:after=2")...), Unit{}, func(st *story) {
			unit := st.untilReady().Unit
			j := job(1, "A", 5)
			if r := st.print(j); !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrSilence) {
				t.Errorf("lacking %v: got %+v", faults, r)
			}
			if r := st.s.Resolve(st.t.Context(), NewIntent(trusted(unit), j)); r.Evidence != None {
				t.Errorf("lacking %v: resolved to %+v", faults, r)
			}
		})
	}
}
