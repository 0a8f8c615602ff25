package session

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/printer/escpos"
	"chit/printer/virtual"
)

func TestWhatIsDecidedAboutAnInterruptedDocument(t *testing.T) {
	token := escpos.TokenOf(7)
	before := Counters{Known: true, LineFeeds: 100, Cuts: 10}
	at := func(lines, cuts uint64) Counters { return Counters{true, lines, cuts} }
	intent := Intent{
		Token: token, Fingerprint: "x#g", Before: before, LineFeeds: 5, Cuts: 1, Trusted: true,
	}
	untrusted := func(i *Intent, _ *Unit) { i.Trusted = false }
	another := func(_ *Intent, u *Unit) { u.Fingerprint = "y#g" }
	nameless := func(i *Intent, u *Unit) { i.Fingerprint, u.Fingerprint = "", "" }
	unread := func(i *Intent, _ *Unit) { i.Before = Counters{} }
	uncuttable := func(i *Intent, _ *Unit) { i.Cuts = 0 }
	empty := func(i *Intent, _ *Unit) { i.LineFeeds, i.Cuts = 0, 0 }
	unit := Unit{Fingerprint: "x#g", TwoWay: true, Odometer: true}
	heard := func(tokens ...escpos.Token) (p proofs) {
		for _, token := range tokens {
			p.answered(token)
		}
		return p
	}
	fenced := func(of part) proofs { return proofs{{token, of, Fenced}} }
	for _, c := range []struct {
		name   string
		change func(*Intent, *Unit)
		heard  proofs
		now    Counters
		want   Evidence
		torn   bool
	}{
		{"own token", nil, heard(token), Counters{}, Confirmed, false},
		{"own token, whatever the odometer says", nil, heard(token), at(1, 1), Confirmed, false},
		{"another's token", nil, heard(escpos.TokenOf(6)), Counters{}, None, false},
		{"a later token is not its own", nil, heard(escpos.TokenOf(8)), Counters{}, None, false},
		{"body token, no odometer", nil, heard(bodyToken(token)), Counters{}, Fenced, true},
		{"body token, no cut counted", nil, heard(bodyToken(token)), at(105, 10), Fenced, true},
		{"body token, cut counted", nil, heard(bodyToken(token)), at(105, 11), Fenced, false},
		{"both tokens", nil, heard(bodyToken(token), token), Counters{}, Confirmed, false},
		{"GS r after the cut", nil, fenced(whole), Counters{}, Fenced, false},
		{"GS r after the body", nil, fenced(body), Counters{}, Fenced, true},
		{"counted exactly", nil, nil, at(105, 11), Counted, false},
		{"counted exactly, not trusted", untrusted, nil, at(105, 11), None, false},
		{"counted exactly, another unit", another, nil, at(105, 11), None, false},
		{"counted exactly, unit without a name", nameless, nil, at(105, 11), None, false},
		{"counted exactly, before unknown", unread, nil, at(5, 1), None, false},
		{"one line short", nil, nil, at(104, 11), None, false},
		{"one line over", nil, nil, at(106, 11), None, false},
		{"a cut over", nil, nil, at(105, 12), None, false},
		{"nothing moved", nil, nil, at(100, 10), None, false},
		{"lines without the cut", nil, nil, at(103, 10), None, true},
		{"all lines without the cut", nil, nil, at(105, 10), None, true},
		{"lines without the cut, not trusted", untrusted, nil, at(103, 10), None, true},
		{"lines without the cut, another unit", another, nil, at(103, 10), None, false},
		{"no cutter", uncuttable, nil, at(103, 10), None, false},
		{"no cutter, counted", uncuttable, nil, at(105, 10), Counted, false},
		{"adds nothing to count", empty, nil, before, None, false},
		{"a reading too low after a power cut", nil, nil, at(90, 9), None, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, u := intent, unit
			if c.change != nil {
				c.change(&i, &u)
			}
			got := decide(i, u, c.heard, c.now)
			if got != (Resolution{Evidence: c.want, Torn: c.torn, Counters: c.now}) {
				t.Errorf("got %+v, want %v, torn %v", got, c.want, c.torn)
			}
		})
	}
}

// The promise behind Counted: it is said only where an odometer that stood at before, and lost
// nothing it did not lose for good, has printed the document to its end.
func TestNothingIsEverCountedThatIsNotWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, cuts := rapid.IntRange(1, 60).Draw(t, "lines"), rapid.IntRange(0, 1).Draw(t, "cuts")
		before := Counters{
			true, rapid.Uint64Max(1e9).Draw(t, "feeds"), rapid.Uint64Max(1e6).Draw(t, "cut"),
		}
		printed := rapid.IntRange(0, lines).Draw(t, "printed")
		lost := rapid.IntRange(0, printed).Draw(t, "lost") // increments lost at power-off, never invented
		now := before
		now.LineFeeds += uint64(printed - lost)
		cut := printed == lines && cuts == 1 && rapid.Bool().Draw(t, "cut made")
		if cut {
			now.Cuts++
		}
		unit := Unit{Fingerprint: "x", TwoWay: true, Odometer: true}
		got := decide(Intent{
			Fingerprint: "x", Before: before, LineFeeds: lines, Cuts: cuts, Trusted: true,
		}, unit, nil, now)
		complete := printed == lines && (cut || cuts == 0)
		if got.Evidence == Counted && !complete {
			t.Fatalf("counted a document that printed %d of %d lines, cut %v", printed, lines, cut)
		}
		if complete && lost == 0 && got.Evidence != Counted {
			t.Fatalf("a whole document was not counted: %+v", got)
		}
		if got.Torn && (cut || printed == 0) {
			t.Fatalf("called torn with %d lines and cut %v", printed, cut)
		}
	})
}

// crash ends the session in the middle of a document, as SIGKILL would, and starts the next one
// with what the journal held.
func (st *story) crash(j Job, when func()) (Intent, Unit) {
	st.t.Helper()
	unit := st.untilReady().Unit
	intent := NewIntent(unit, j)
	done := st.begun(context.Background(), j)
	when()
	st.end()
	if r := <-done; r.Evidence != None {
		st.t.Fatalf("the document was finished before the crash: %+v", r)
	}
	return intent, unit
}

func trusted(u Unit) Unit {
	u.Trust = Trust{Text: Earned, Raster: Earned}
	return u
}

// known is what an earlier process learned about the good printer.
var known = trusted(Unit{
	Fingerprint: "TM-T20III/EPSON/1.02/X3CK000123#hrgca",
	TwoWay:      true, ProcessID: true, Fence: true, Odometer: true, Identity: true,
	Realtime: 0b11110, Pushes: true, Cumulative: true,
})

func TestAfterACrash(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []string
		keep   bool // the printer keeps answers for the next client
		known  Unit
		away   time.Duration // how long no client is there
		want   Evidence
		torn   bool
	}{
		{"the late answer is heard", nil, true, known, time.Minute, Confirmed, false},
		{"the odometer counted it", nil, false, known, time.Minute, Counted, false},
		{"it still prints, and answers the new client", nil, false, known, 0, Confirmed, false},
		{"the odometer is not trusted yet", nil, false, Unit{}, time.Minute, None, false},
		{"a clone without GS ( H stopped before its cut",
			[]string{"clone"}, false, Unit{}, time.Minute, None, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := with(t, c.faults...)
			conf.KeepAnswers = c.keep
			tell(t, conf, c.known, func(st *story) {
				intent, unit := st.crash(job(1, "A", 40), func() { pass(time.Second) })
				pass(c.away)
				st.begin(Config{Known: unit})
				r := st.s.Resolve(st.t.Context(), intent)
				if r.Evidence != c.want || r.Torn != c.torn || r.Err != nil {
					t.Errorf("got %+v, want %v, torn %v", r, c.want, c.torn)
				}
				wantResult(t, st.print(job(2, "B", 2)), st.expected())
			})
		})
	}
}

// expected is the evidence that the unit's documents end with.
func (st *story) expected() Evidence {
	if st.s.State().Unit.ProcessID {
		return Confirmed
	}
	return Fenced
}

func TestAResolutionWaitsForTheRollThatTheDocumentWaitsFor(t *testing.T) {
	conf := with(t, "paper-out:after=3")
	tell(t, conf, known, func(st *story) {
		intent, unit := st.crash(job(1, "A", 6), func() { st.untilHold(HoldPaper) })
		st.begin(Config{Known: unit})
		resolved := make(chan Resolution, 1)
		go func() { resolved <- st.s.Resolve(st.t.Context(), intent) }()
		st.untilHold(HoldPaper)
		select {
		case r := <-resolved:
			t.Fatalf("resolved to %+v while the printer holds the document", r)
		case <-time.After(3 * time.Hour):
		}
		st.clear(virtual.PaperOut)
		if r := <-resolved; r.Evidence != Confirmed {
			t.Errorf("got %+v, want confirmed", r)
		}
		st.wantPapers(ticket("A", 6))
	})
}

func TestAResolutionThatEndsEarlyLeavesTheIntentOpen(t *testing.T) {
	tell(t, good(), known, func(st *story) {
		st.untilReady()
		st.m.mu.Lock()
		st.m.deaf = true
		st.m.mu.Unlock()
		st.m.do(func(p *virtual.Printer, now time.Time) { p.HangUp(now) })
		st.untilHold(HoldAbsent)
		ctx, cancel := context.WithTimeout(st.t.Context(), time.Minute)
		defer cancel()
		if r := st.s.Resolve(ctx, Intent{}); r.Err == nil {
			t.Errorf("got %+v without a printer", r)
		}
	})
}

// A connection that fell in the middle of a strip leaves a printer that takes our questions for
// dots.
func TestAStripTornByACrashIsEndedBeforeAnythingIsAsked(t *testing.T) {
	for _, remembered := range []Unit{known, {}} {
		tell(t, with(t, "drop:after-bytes=2000"), remembered, func(st *story) {
			st.untilReady()
			j := job(1, "A", 1)
			strip := append([]byte{0x1D, 'v', '0', 0, 72, 0, 96, 0}, make([]byte, 72*96)...)
			j.Paper.Body = append(j.Paper.Body, strip...)
			if r := st.print(j); r.Evidence != None || !r.Started {
				t.Errorf("got %+v, want unknown", r)
			}
			st.untilHold(HoldAbsent)
			st.untilReady()
			if r := st.s.Resolve(st.t.Context(), NewIntent(known, j)); r.Evidence != None {
				t.Errorf("resolved to %+v", r)
			}
			wantResult(t, st.print(job(2, "B", 2)), Confirmed)
		})
	}
}

// Row 37: an answer that belongs to an earlier question. A late GS r of a document that was given
// up is that document's, and the next one still waits for its own.
func TestRow37ALateFenceSpeaksForItsOwnDocument(t *testing.T) {
	tell(t, with(t, "clone", "paper-out:after=2"), Unit{}, func(st *story) {
		unit := st.untilReady().Unit
		ctx, cancel := context.WithCancel(st.t.Context())
		a := job(1, "A", 4)
		done := st.begun(ctx, a)
		st.untilHold(HoldPaper)
		cancel()
		<-done
		st.clear(virtual.PaperOut)
		st.untilReady()
		r := st.s.Resolve(st.t.Context(), NewIntent(unit, a))
		if r.Evidence != Fenced || !r.Torn {
			t.Errorf("the late answer: %+v, want fenced and torn", r)
		}
		st.raise("paper-out:after=1")
		ctx, cancel = context.WithCancel(st.t.Context())
		b := job(2, "B", 4)
		done = st.begun(ctx, b)
		st.untilHold(HoldPaper)
		cancel()
		if r := <-done; r.Evidence != None {
			t.Errorf("the next document took another's answer: %+v", r)
		}
	})
}
