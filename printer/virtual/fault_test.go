package virtual

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestFaultsAreReadAndWrittenTheSame(t *testing.T) {
	for _, text := range []string{
		"paper-out", "paper-out:after=20", "near-end:after=3", "cover-open:after=5",
		"cutter-error:after=3", "cutter-error:slip", "cutter-error:after=1,slip", "head-hot", "broken",
		"slow:lines-per-second=5", "silent", "silent:after=4", "drop:after-bytes=300",
		"power-off:after-bytes=300", "power-off:after-bytes=300,for=2s", "power-off:after=7",
		"forget-buffer:after-bytes=9", "late-answers:delay=2s", "clone", "mute", "no-fence",
		"no-odometer", "no-asb", "no-clear", "odometer-loses", "kanji",
	} {
		f, err := ParseFault(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if f.String() != text {
			t.Errorf("%s became %s", text, f)
		}
	}
}

func TestABadFaultIsNamedWithWhatIsKnown(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"paper", "paper-out"},
		{"", "late-answers"},
		{"paper-out:after=x", `found "x", expected a whole number`},
		{"paper-out:after=-1", "expected a whole number"},
		{"paper-out:soon", `found parameter "soon", expected after`},
		{"mute:after=3", "expected no parameter"},
		{"slow", "needs lines-per-second"},
		{"slow:lines-per-second=0", "above 0"},
		{"slow:lines-per-second=NaN", "above 0"},
		{"late-answers:delay=2", "a duration such as 2s"},
	} {
		_, err := ParseFault(tt.text)
		if !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one that says %q", tt.text, err, tt.want)
		}
	}
}

func TestPaperOutKeepsTheDataAndGoesOnByItself(t *testing.T) {
	b := newBench(t, config("paper-out:after=2"))
	b.send(asbOn + lines(3) + id("A001") + cutFeed + fence)
	b.says("10 00 00 0F 18 00 0C 0F")
	b.hangs("line 1\nline 2\n")
	b.after(time.Hour)
	b.says("")
	b.p.LoadPaper(b.now)
	b.says("10 00 00 0F 37 22 41 30 30 31 00 00")
	b.paper("line 1\nline 2\nline 3\n")
	b.noErrors()
}

func TestPaperRemovedWithinALineLetsThatLineBeFinished(t *testing.T) {
	c := config()
	c.LinesPerSecond = 1
	b := newBench(t, c)
	b.send(lines(3))
	b.after(500 * time.Millisecond)
	b.p.RemovePaper(b.now)
	b.after(500 * time.Millisecond)
	b.hangs("line 1\n")
	b.after(time.Hour)
	b.hangs("line 1\n")
	b.p.LoadPaper(b.now)
	b.after(2 * time.Second)
	b.hangs("line 1\nline 2\nline 3\n")
}

func TestACoverOpenedWithinALineStopsItAndTheLineIsBegunAgain(t *testing.T) {
	c := config()
	c.LinesPerSecond = 1
	b := newBench(t, c)
	b.send(asbOn + lines(2))
	b.after(900 * time.Millisecond)
	b.says("10 00 00 0F")
	b.p.OpenCover(b.now)
	b.says("38 40 00 0F")
	b.after(time.Hour)
	b.hangs("")
	b.p.CloseCover(b.now)
	b.says("10 00 00 0F")
	b.after(999 * time.Millisecond)
	b.hangs("")
	b.after(1001 * time.Millisecond)
	b.hangs("line 1\nline 2\n")
}

func TestCoverOpenAfterLines(t *testing.T) {
	b := newBench(t, config("cover-open:after=1"))
	b.send(lines(2) + fence)
	b.says("")
	b.hangs("line 1\n")
	b.p.Clear(b.now, CoverOpen)
	b.says("00")
	b.hangs("line 1\nline 2\n")
}

func TestACutterErrorStopsBeforeTheCutUntilTheJamIsCleared(t *testing.T) {
	b := newBench(t, config("cutter-error:after=1"))
	b.send("a\n" + cutFeed)
	b.paper("a\n")
	b.send(asbOn + "b\n" + id("A001") + cutFeed + id("A002"))
	b.says("10 00 00 0F 37 22 41 30 30 31 00 18 08 00 0F")
	b.paper()
	b.send("\x10\x04\x03")
	b.says("1A")
	b.p.ClearJam(b.now)
	b.says("10 00 00 0F 37 22 41 30 30 32 00")
	b.paper("b\n")
}

func TestAfterASlipTheHostRecoversByItself(t *testing.T) {
	b := newBench(t, config("cutter-error:slip"))
	b.send("b\n" + cutFeed + id("A002"))
	b.says("")
	b.send("\x10\x05\x01")
	b.says("37 22 41 30 30 32 00")
	b.paper("b\n")
}

func TestWhileSomethingIsStuckRecoveringFailsAgain(t *testing.T) {
	b := newBench(t, config("cutter-error"))
	b.send("b\n" + cutFeed + id("A002") + "\x10\x05\x01")
	b.says("")
	b.send("\x10\x04\x03")
	b.says("1A")
}

func TestClearingBuffersNeverAnswersTheirIDs(t *testing.T) {
	for _, clear := range []struct{ name, bytes, want string }{
		{"DLE ENQ 2", "\x10\x05\x02", ""},
		{"DLE DC4 8", clearAll, "37 25 00"},
	} {
		t.Run(clear.name, func(t *testing.T) {
			b := newBench(t, config("cutter-error"))
			b.send("b\n" + cutFeed + "c\n" + id("A002"))
			b.send(clear.bytes)
			b.says(clear.want)
			b.p.ClearJam(b.now)
			b.says("")
			b.send("d\n" + cutFeed)
			b.paper("b\n\n\n\nd\n") // The feed before the cut had been made.
		})
	}
}

func TestRecoverIsIgnoredWithoutACutterError(t *testing.T) {
	c := config()
	c.LinesPerSecond = 1
	b := newBench(t, c)
	b.send(lines(2) + "\x10\x05\x02" + fence)
	b.after(2 * time.Second)
	b.says("00")
	b.hangs("line 1\nline 2\n")
}

func TestSlowTakesItsTime(t *testing.T) {
	b := newBench(t, config("slow:lines-per-second=5"))
	b.send(lines(10) + fence)
	b.after(1999 * time.Millisecond)
	b.says("")
	b.after(time.Millisecond)
	b.says("00")
}

func TestSilentPrintsAndAnswersNothingAnyMore(t *testing.T) {
	b := newBench(t, config("silent:after=1"))
	b.send("a\n" + id("A001") + cutFeed + id("A002") + fence)
	b.send("\x10\x04\x01")
	b.says("37 22 41 30 30 31 00")
	b.paper("a\n")
	b.p.Speak(b.now)
	b.send(fence)
	b.says("00")
}

func TestMuteNeverAnswers(t *testing.T) {
	b := newBench(t, config("mute"))
	b.send(asbOn + "a\n" + id("A001") + cutFeed + fence + "\x10\x04\x01\x1dIB\x1dg2\x00\x14\x00")
	b.says("")
	b.paper("a\n")
	b.noErrors()
}

func TestLackingCapabilitiesAreSilentAndNotErrors(t *testing.T) {
	for _, tt := range []struct{ fault, ask string }{
		{"clone", id("A001")}, {"no-fence", fence}, {"no-odometer", "\x1dg2\x00\x14\x00"},
		{"no-asb", asbOn},
	} {
		b := newBench(t, config(tt.fault))
		b.send("a\n" + tt.ask + cutFeed)
		b.says("")
		b.paper("a\n")
		b.noErrors()
	}
}

func TestDropEndsTheConnectionAtThatByte(t *testing.T) {
	b := newBench(t, config("drop:after-bytes=5"))
	if n := b.p.Receive(b.now, []byte("ab\ncd\nef\n")); n != 5 {
		t.Fatalf("accepted %d bytes, want 5", n)
	}
	if !b.p.HungUp() {
		t.Fatal("the connection stands")
	}
	b.p.Disconnect(b.now)
	b.p.Connect(b.now)
	b.send("\n")
	b.hangs("ab\ncd\n")
}

func TestPowerOffForgetsAllButThePaper(t *testing.T) {
	c := config("power-off:after-bytes=14")
	c.KeepAnswers = true
	b := newBench(t, c)
	if n := b.p.Receive(b.now, []byte(asbOn+"line 1\nline 2\n"+id("A001"))); n != 14 {
		t.Fatalf("accepted %d bytes, want 14, up to the middle of line 2", n)
	}
	if b.p.On() || !b.p.HungUp() {
		t.Fatal("the power is on")
	}
	b.p.Disconnect(b.now)
	b.after(time.Hour)
	b.p.PowerOn(b.now)
	b.p.Connect(b.now)
	b.says("")
	b.p.OpenCover(b.now) // Status reporting was forgotten.
	b.p.CloseCover(b.now)
	b.says("")
	b.send("again\n" + cutFeed)
	b.paper("line 1\nagain\n")
	b.noErrors()
}

func TestPowerComesBackByItself(t *testing.T) {
	b := newBench(t, config("power-off:after-bytes=1,for=2s"))
	b.p.Receive(b.now, []byte("ab\n"))
	if at, ok := b.p.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("wants to be woken at %v %v", at, ok)
	}
	b.after(2 * time.Second)
	if !b.p.On() {
		t.Fatal("the power is still off")
	}
}

func TestTheOdometerSurvivesPowerOffUnlessItLoses(t *testing.T) {
	for _, tt := range []struct {
		faults []string
		want   string
	}{
		{nil, "5F 33 00"},
		{[]string{"odometer-loses"}, "5F 32 00"},
	} {
		b := newBench(t, config(tt.faults...))
		b.send(lines(2))
		b.send("x\n")
		b.p.PowerOff(b.now)
		b.p.PowerOn(b.now)
		b.p.Connect(b.now)
		b.send("\x1dg2\x00\x14\x00")
		b.says(tt.want)
	}
}

func TestForgetBufferLosesTheRestAndKeepsTheLink(t *testing.T) {
	c := config("forget-buffer:after-bytes=14")
	c.LinesPerSecond = 1
	b := newBench(t, c)
	b.send(lines(2) + "x\n" + fence)
	b.after(10 * time.Second)
	b.says("00")
	b.hangs("x\n")
	if b.p.HungUp() {
		t.Fatal("the connection fell")
	}
}

func TestLateAnswersWait(t *testing.T) {
	b := newBench(t, config("late-answers:delay=2s"))
	b.send(fence)
	b.says("")
	if at, ok := b.p.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("wants to be woken at %v %v", at, ok)
	}
	b.after(2 * time.Second)
	b.says("00")
}

func TestKanjiEatsAccentsUntilItIsSwitchedOff(t *testing.T) {
	b := newBench(t, config("kanji"))
	b.send("caf\x82 X\n" + "\x1c." + "caf\x82 X\n")
	b.hangs("caf\u3013X\ncaf\u00e9 X\n")
	if len(b.p.Errors()) != 1 {
		t.Fatalf("objections: %+v, want one", b.p.Errors())
	}
}

func TestAFullBufferTakesNoMoreAndLosesNothing(t *testing.T) {
	c := config()
	c.BufferBytes, c.LinesPerSecond = 16, 1
	b := newBench(t, c)
	b.p.RemovePaper(b.now)
	text := []byte(lines(5))
	n := b.p.Receive(b.now, text)
	if n != 16 {
		t.Fatalf("accepted %d bytes, want 16", n)
	}
	b.p.LoadPaper(b.now)
	for n < len(text) {
		b.after(time.Second)
		n += b.p.Receive(b.now, text[n:])
	}
	b.after(10 * time.Second)
	b.hangs(lines(5))
}

// Every fault can be raised and cleared at any time, and afterwards the printer prints.
func TestAfterAnyFaultIsClearedThePrinterPrints(t *testing.T) {
	for _, name := range FaultNames() {
		text := string(name)
		switch name {
		case Slow:
			text += ":lines-per-second=1"
		case LateAnswers:
			text += ":delay=1s"
		}
		b := newBench(t, config())
		b.raise(text)
		b.p.Receive(b.now, []byte("lost or not\n"+cutFeed))
		b.p.Clear(b.now, name)
		b.p.Connect(b.now)
		b.after(time.Minute)
		b.p.Sheets()
		b.p.Answers()
		b.send(initialise + "soup\n" + cutFeed + id("A001"))
		b.after(time.Minute)
		b.says("37 22 41 30 30 31 00")
		sheets := b.p.Sheets()
		if len(sheets) == 0 || !strings.HasSuffix(sheets[len(sheets)-1].Text(), "soup\n") {
			t.Errorf("%s: afterwards came out %+v", name, sheets)
		}
	}
}

func TestWithoutItsCableThePrinterHearsAndSaysNothingAndGoesOnAfterwards(t *testing.T) {
	b := newBench(t, config())
	b.send("before\n")
	b.raise("cable-out")
	if n := b.p.Receive(b.now, []byte("within\n")); n != 0 {
		t.Errorf("took %d bytes without a cable", n)
	}
	b.p.OpenCover(b.now) // Says so by itself, as soon as somebody can hear it.
	b.says("")
	if _, ok := b.p.Wake(); ok {
		t.Error("wants to be woken for answers that cannot leave")
	}
	b.p.CloseCover(b.now)
	b.p.Clear(b.now, CableOut)
	b.send("after\n" + fence)
	b.says("00")
	b.hangs("before\nafter\n")
}

func TestTheCableCanGoInTheMiddleOfAWrite(t *testing.T) {
	b := newBench(t, config())
	b.raise("cable-out:after-bytes=3")
	stream := []byte("abcdef\n")
	n := b.p.Receive(b.now, stream)
	if n != 3 {
		t.Fatalf("took %d bytes, want 3", n)
	}
	b.p.Plug(b.now)
	b.p.Receive(b.now, stream[n:])
	b.hangs("abcdef\n")
}
