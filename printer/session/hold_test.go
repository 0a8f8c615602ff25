package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"chit/printer/escpos"
	"chit/printer/virtual"
)

// Row 15: a newer batch does not push its status any more, so it is polled.
func TestRow15AUnitThatDoesNotPushIsPolled(t *testing.T) {
	tell(t, with(t, "no-asb", "paper-out:after=3"), Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 6))
		st.untilHold(HoldPaper)
		st.clear(virtual.PaperOut)
		wantResult(t, <-done, Confirmed)
	})
}

// Row 12: out of paper was reported as success. Row 11: after the paper change came more receipts
// than jobs. The printer keeps its data, so the document is waited for and never sent again.
func TestRow12AHoldInTheMiddleIsWaitedOutAndPrintsOnce(t *testing.T) {
	for _, c := range []struct {
		fault string
		name  virtual.FaultName
		hold  Hold
	}{
		{"paper-out:after=3", virtual.PaperOut, HoldPaper},
		{"cover-open:after=3", virtual.CoverOpen, HoldCover},
		{"head-hot:after=3", virtual.HeadHot, HoldHot},
	} {
		for _, lacks := range [][]string{nil, {"clone"}, {"no-asb"}} {
			t.Run(c.fault, func(t *testing.T) {
				tell(t, with(t, append(lacks, c.fault)...), Unit{}, func(st *story) {
					st.untilReady()
					done := st.begun(st.t.Context(), job(1, "A", 6))
					st.untilHold(c.hold)
					select {
					case r := <-done:
						t.Fatalf("Print gave up with %+v", r)
					case <-time.After(6 * time.Hour):
					}
					st.clear(c.name)
					r := <-done
					if !r.Started || r.Err != nil || r.Evidence < Fenced {
						t.Errorf("got %+v", r)
					}
					st.untilReady()
					wantResult(t, st.print(job(2, "B", 2)), r.Evidence)
					st.wantPapers(ticket("A", 6), ticket("B", 2))
				})
			})
		}
	}
}

// A buffer smaller than the ticket: while the printer holds, it takes no bytes, and nobody can ask.
func TestAHoldWithAFullBufferIsWaitedOut(t *testing.T) {
	c := with(t, "paper-out:after=3")
	c.BufferBytes = 256
	tell(t, c, Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 200))
		st.untilHold(HoldPaper)
		select {
		case r := <-done:
			t.Fatalf("Print gave up with %+v", r)
		case <-time.After(6 * time.Hour):
		}
		st.clear(virtual.PaperOut)
		wantResult(t, <-done, Confirmed)
		st.wantPapers(ticket("A", 200))
		st.m.mu.Lock()
		defer st.m.mu.Unlock()
		if !slices.Equal(st.m.patient, []bool{true, false}) {
			t.Errorf("the cable was told to be patient %v", st.m.patient)
		}
	})
}

// Row 13: jobs piled up in the printer while it was out of paper.
func TestRow13AHeldPrinterGetsNotOneByteOfADocument(t *testing.T) {
	for _, c := range []struct {
		fault string
		hold  Hold
	}{
		{"paper-out", HoldPaper}, {"cover-open", HoldCover}, {"head-hot", HoldHot}, {"broken", HoldError},
	} {
		t.Run(c.fault, func(t *testing.T) {
			tell(t, good(), Unit{}, func(st *story) {
				st.untilReady()
				st.raise(c.fault)
				for n := range uint64(3) {
					r := st.print(job(n, "A", 4))
					if r.Started || r.Hold != c.hold || !errors.Is(r.Err, ErrHeld) || r.Evidence != None {
						t.Errorf("got %+v, want held: %s", r, c.hold)
					}
				}
				st.untilHold(c.hold)
				st.m.do(func(p *virtual.Printer, _ time.Time) {
					if questions := 3 * 4 * len(escpos.RealtimeStatus(1)); p.Buffered() > questions {
						t.Errorf("the printer was given %d bytes", p.Buffered())
					}
				})
				st.m.do(func(p *virtual.Printer, now time.Time) {
					p.CloseCover(now)
					p.LoadPaper(now)
					p.Cool(now)
				})
				pass(time.Hour)
				st.wantPapers()
			})
		})
	}
}

func TestACutterErrorLeavesAReadableTicket(t *testing.T) {
	for _, lacks := range [][]string{nil, {"no-asb"}, {"clone"}} {
		tell(t, with(t, append(lacks, "cutter-error")...), Unit{}, func(st *story) {
			st.untilReady()
			r := st.print(job(1, "A", 3))
			if r.Evidence != Fenced || !r.CutFault || r.Err != nil {
				t.Errorf("lacking %v: got %+v, want fenced with a cut fault", lacks, r)
			}
			st.untilHold(HoldCutter)
			if r := st.print(job(2, "B", 3)); r.Started || r.Hold != HoldCutter {
				t.Errorf("got %+v, want held: cutter", r)
			}
			st.clear(virtual.CutterError)
			st.untilReady()
			if r := st.print(job(3, "B", 3)); r.Evidence < Fenced || r.CutFault {
				t.Errorf("got %+v after the jam", r)
			}
		})
	}
}

// Row 14: people ask for a way to drop what the printer still holds.
func TestRow14ClearedBuffersPrintNothingMore(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		ctx, cancel := context.WithCancel(st.t.Context())
		j := job(1, "A", 5)
		done := st.begun(ctx, j)
		st.untilHold(HoldPaper)
		cancel()
		<-done
		if err := st.s.ClearBuffers(st.t.Context()); err != nil {
			t.Errorf("clearing: %v", err)
		}
		st.clear(virtual.PaperOut)
		st.untilReady()
		if r := st.s.Resolve(st.t.Context(), NewIntent(unit, j)); r.Evidence != None || !r.Torn {
			t.Errorf("got %+v, want torn", r)
		}
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		if papers := st.m.papers(); len(papers) != 1 || slices.Contains(papers, ticket("A", 5)) {
			t.Errorf("paper %q", papers)
		}
	})
}

func TestClearingWhereNothingAnswersIsAnError(t *testing.T) {
	tell(t, with(t, "mute"), Unit{}, func(st *story) {
		st.untilReady()
		if err := st.s.ClearBuffers(st.t.Context()); !errors.Is(err, ErrNotCleared) {
			t.Errorf("got %v, want ErrNotCleared", err)
		}
	})
}

// Row 18: paper ends inside an image, and afterwards there is garbage.
func TestRow18PaperThatEndsInsideAnImageLeavesTheNextTicketWhole(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		st.untilReady()
		j := job(1, "A", 1)
		j.Paper.Raster = true
		strip := append([]byte{0x1D, 'v', '0', 0, 72, 0, 96, 0}, make([]byte, 72*96)...)
		j.Paper.Body = slices.Concat(j.Paper.Body, strip, []byte("end\n"))
		done := st.begun(st.t.Context(), j)
		st.untilHold(HoldPaper)
		st.clear(virtual.PaperOut)
		if r := <-done; r.Evidence != Confirmed {
			t.Errorf("got %+v", r)
		}
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		if papers := st.m.papers(); len(papers) != 2 || papers[1] != ticket("B", 2) {
			t.Errorf("paper %q", papers)
		}
	})
}

// A printer that dies while it is held must not be waited for until somebody notices.
func TestAHeldPrinterThatFallsSilentIsGivenUp(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 5))
		st.untilHold(HoldPaper)
		pass(10 * time.Minute)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Silence(now) })
		select {
		case r := <-done:
			if !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrSilence) {
				t.Errorf("got %+v", r)
			}
		case <-time.After(time.Hour):
			t.Error("still waiting after an hour of silence")
			st.m.do(func(p *virtual.Printer, now time.Time) { p.HangUp(now) })
			<-done
		}
	})
}

func TestARollChangeInTheMiddleTeachesNothingAboutTheOdometer(t *testing.T) {
	tell(t, with(t, "paper-out:after=2"), Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 5))
		st.untilHold(HoldPaper)
		st.m.do(func(p *virtual.Printer, now time.Time) {
			p.Receive(now, []byte("fed by hand\n"))
			p.LoadPaper(now)
		})
		wantResult(t, <-done, Confirmed)
		if trust := st.untilReady().Unit.Trust.Text; trust != Unproven {
			t.Errorf("trust %v, want unproven", trust)
		}
	})
}

func TestADocumentIsRefusedWhileAHeldPrinterIsNotKnownYet(t *testing.T) {
	tell(t, with(t, "paper-out"), Unit{}, func(st *story) {
		st.untilHold(HoldPaper)
		begin := time.Now()
		if r := st.print(job(1, "A", 2)); r.Started || r.Hold != HoldPaper {
			t.Errorf("got %+v, want held: paper_out", r)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("refused after %v", took)
		}
		if err := st.s.ClearBuffers(st.t.Context()); err != nil {
			t.Errorf("clearing: %v", err)
		}
		st.clear(virtual.PaperOut)
		st.untilReady()
		wantResult(t, st.print(job(2, "A", 2)), Confirmed)
	})
}
