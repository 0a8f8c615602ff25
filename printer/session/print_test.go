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
		after := st.until("trust", func(s State) bool { return s.Unit.Trust.Text == Earned })
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

func TestATokenIsRefusedWhereItIsNoneOrWasUsed(t *testing.T) {
	tell(t, good(), Unit{}, func(st *story) {
		st.untilReady()
		if r := st.print(Job{}); r.Started || !errors.Is(r.Err, ErrToken) {
			t.Errorf("zero token: %+v", r)
		}
		wantResult(t, st.print(job(1, "A", 2)), Confirmed)
		if r := st.print(job(1, "A", 2)); r.Started || !errors.Is(r.Err, ErrToken) {
			t.Errorf("used token: %+v", r)
		}
		st.wantPapers(ticket("A", 2))
	})
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
		if r := st.print(j); r.Started || !errors.Is(r.Err, ErrMoved) || r.Counters != moved.Unit.Counters {
			t.Errorf("got %+v, want ErrMoved at %+v", r, moved.Unit.Counters)
		}
		j.Before = moved.Unit.Counters
		wantResult(t, st.print(j), Confirmed)
		if trust := st.s.State().Unit.Trust.Text; trust == Lost {
			t.Error("trust was lost by a hand")
		}
	})
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
		st.until("a new connection", func(s State) bool { return st.m.connections() == 2 && s.Ready() })
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		if papers := st.m.papers(); len(papers) != 1 || slices.Contains(papers, ticket("A", 200)) {
			t.Errorf("paper %q", papers)
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
