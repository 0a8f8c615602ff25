package virtual

import (
	"testing"
	"time"
)

// Each command's answer by a healthy printer at rest, beside Epson's page for it.
func TestAHealthyPrinterAnswersEveryQuestion(t *testing.T) {
	for _, tt := range []struct{ name, send, want string }{
		{"DLE EOT 1, printer", "\x10\x04\x01", "12"},
		{"DLE EOT 2, offline cause", "\x10\x04\x02", "12"},
		{"DLE EOT 3, error cause", "\x10\x04\x03", "12"},
		{"DLE EOT 4, paper", "\x10\x04\x04", "12"},
		{"GS r 1, paper, queued", fence, "00"},
		{"GS r 49, the same", "\x1dr1", "00"},
		{"GS r 2, drawer", "\x1dr\x02", "00"},
		{"GS a 15, a block at once", asbOn, "10 00 00 0F"},
		{"GS a 0, nothing", "\x1da\x00", ""},
		{"GS ( H fn 48", id("A001"), "37 22 41 30 30 31 00"},
		{"GS I 1, model", "\x1dI\x01", "20"},
		{"GS I 66, maker", "\x1dIB", "5F 43 48 49 54 00"},
		{"GS I 67, model", "\x1dIC", "5F 56 49 52 54 55 41 4C 2D 38 30 00"},
		{"GS I 68, serial", "\x1dID", "5F 56 30 30 30 30 30 30 31 00"},
		{"GS g 2, line feeds", lines(3) + "\x1dg2\x00\x14\x00", "5F 33 00"},
		{"GS g 2, feeds of ESC d", "\x1bd\x0c\x1dg2\x00\x14\x00", "5F 31 32 00"},
		{"GS g 2, cuts", "x\n" + cutFeed + "\x1dg2\x00\x32\x00", "5F 31 00"},
		{"GS g 2, cumulative", "x\n" + cutFeed + "\x1dg0\x00\x32\x00\x1dg2\x00\x32\x00\x1dg2\x00\xb2\x00",
			"5F 30 00 5F 31 00"},
		{"DLE DC4 8, clear", clearAll, "37 25 00"},
		{"LF and text, nothing", "hello\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, config())
			b.send(tt.send)
			b.says(tt.want)
			b.noErrors()
		})
	}
}

func TestTheTwoIDsOfOneTicketAreAnsweredInOrder(t *testing.T) {
	b := newBench(t, config())
	b.send(initialise + "soup\n" + id("A001") + cutFeed + id("A002"))
	b.says("37 22 41 30 30 31 00 37 22 41 30 30 32 00")
	b.paper("soup\n")
	b.noErrors()
}

func TestAnIDIsAnsweredWhenWhatPrecedesItHasPrintedAndNotBefore(t *testing.T) {
	c := config()
	c.LinesPerSecond = 10
	b := newBench(t, c)
	b.send(lines(20) + id("A001"))
	b.after(1999 * time.Millisecond)
	b.says("")
	if at, ok := b.p.Wake(); !ok || !at.Equal(start.Add(2*time.Second)) {
		t.Fatalf("wants to be woken at %v %v, want 2 s after the start", at, ok)
	}
	b.after(time.Millisecond)
	b.says("37 22 41 30 30 31 00")
	if _, ok := b.p.Wake(); ok {
		t.Fatal("wants to be woken though nothing is left to do")
	}
}

func TestARealTimeAnswerOvertakesTheBuffer(t *testing.T) {
	c := config()
	c.LinesPerSecond = 1
	b := newBench(t, c)
	b.send(lines(5) + fence + "\x10\x04\x01")
	b.says("12")
	b.after(5 * time.Second)
	b.says("00")
}

func TestARealTimeCommandInsideAnImageIsObeyedAndPrinted(t *testing.T) {
	b := newBench(t, config())
	b.send("\x1dv0\x00\x04\x00\x01\x00" + "\x10\x04\x01\xff")
	b.says("12")
	images := b.p.Pending().Images
	if len(images) != 1 || string(images[0].Bits) != "\x10\x04\x01\xff" {
		t.Fatalf("printed %+v, want the image with the command's bytes in it", images)
	}
	b.noErrors()
}

func TestOnlyTheNewestUnsentIDIsSaid(t *testing.T) {
	c := config()
	c.KeepAnswers = true
	b := newBench(t, c)
	b.p.Disconnect(b.now)
	b.send("a\n" + id("A001") + "b\n" + id("A002"))
	b.p.Connect(b.now)
	b.says("37 22 41 30 30 32 00")
}

func TestAnswersForAClientThatWentAreLostUnlessKept(t *testing.T) {
	for _, keep := range []bool{false, true} {
		c := config()
		c.KeepAnswers, c.LinesPerSecond = keep, 1
		b := newBench(t, c)
		b.send("a\n" + id("A001"))
		b.p.Disconnect(b.now)
		b.after(2 * time.Second)
		b.says("")
		b.p.Connect(b.now)
		if keep {
			b.says("37 22 41 30 30 31 00")
		} else {
			b.says("")
		}
	}
}

func TestUndeliveredAnswersAreSaidToTheNextClient(t *testing.T) {
	c := config()
	c.KeepAnswers = true
	b := newBench(t, c)
	b.send(fence)
	b.p.Undelivered(b.p.Answers())
	b.p.Disconnect(b.now)
	b.p.Connect(b.now)
	b.says("00")
}

func TestStatusIsPushedOnChangeAndInitialiseEndsThat(t *testing.T) {
	b := newBench(t, config())
	b.send(asbOn)
	b.says("10 00 00 0F")
	b.p.OpenCover(b.now)
	b.says("38 00 00 0F")
	b.p.CloseCover(b.now)
	b.says("10 00 00 0F")
	b.p.RemovePaper(b.now)
	b.says("18 00 0C 0F")
	b.p.LoadPaper(b.now)
	b.says("10 00 00 0F")
	b.p.SetNearEnd(b.now, true)
	b.says("10 00 03 0F")
	b.p.KickDrawer(b.now, true)
	b.says("14 00 03 0F")
	b.send(initialise)
	b.p.OpenCover(b.now)
	b.says("")
}

func TestStatusIsPushedOnlyForWhatWasAsked(t *testing.T) {
	b := newBench(t, config())
	b.send("\x1da\x08") // paper alone
	b.says("10 00 00 0F")
	b.p.KickDrawer(b.now, true)
	b.p.OpenCover(b.now)
	b.says("")
	b.p.CloseCover(b.now)
	b.p.SetNearEnd(b.now, true)
	b.says("14 00 03 0F")
}

func TestRealTimeStatusNamesWhatIsWrong(t *testing.T) {
	all := "\x10\x04\x01\x10\x04\x02\x10\x04\x03\x10\x04\x04"
	for _, tt := range []struct {
		name string
		do   func(*Printer, time.Time)
		want string
	}{
		{"cover", (*Printer).OpenCover, "1A 16 12 12"},
		{"paper end", (*Printer).RemovePaper, "1A 32 12 72"},
		{"near end", func(p *Printer, t time.Time) { p.SetNearEnd(t, true) }, "12 12 12 1E"},
		{"hot head", (*Printer).Overheat, "1A 52 52 12"},
		{"broken", (*Printer).Break, "1A 52 32 12"},
		{"jam before a cut", (*Printer).JamCutter, "12 12 12 12"},
		{"paper taken under an open cover is not seen", func(p *Printer, t time.Time) {
			p.OpenCover(t)
			p.RemovePaper(t)
		}, "1A 16 12 12"},
		{"and seen when it closes", func(p *Printer, t time.Time) {
			p.OpenCover(t)
			p.RemovePaper(t)
			p.CloseCover(t)
		}, "1A 32 12 72"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, config())
			tt.do(b.p, b.now)
			b.send(all)
			b.says(tt.want)
		})
	}
}

func TestUnknownBytesAreAnErrorOnThePaper(t *testing.T) {
	b := newBench(t, config())
	b.send("a\n\x1b\x01b\n" + cutFeed)
	if n := len(b.p.Errors()); n == 0 {
		t.Fatal("nobody objected to ESC 01")
	}
	sheet := b.p.Sheets()[0]
	if len(sheet.Errors()) == 0 {
		t.Fatalf("the sheet has no error: %+v", sheet.Marks)
	}
	if got := b.p.Errors()[0].Offset; got != 2 {
		t.Fatalf("the error is at byte %d, want 2", got)
	}
}

func TestADecodedCommandThatThisPrinterLacksIsAnError(t *testing.T) {
	for _, tt := range []struct{ name, send string }{
		{"FS ( C, UTF-8", "\x1c(C\x02\x0002"},
		{"ESC t without that page", "\x1bt\x63"},
		{"ESC R without that set", "\x1bR\x28"},
		{"red on a black printer", "\x1br\x01"},
		{"GS ( H fn 49", "\x1d(H\x03\x00\x310\x01"},
		{"GS g 2, no such counter", "\x1dg2\x00\x63\x00"},
		{"an image wider than the paper", "\x1dv0\x00\x49\x00\x01\x00" + string(make([]byte, 0x49))},
		{"a fence within a line", "abc" + id("A001")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, config())
			b.send(tt.send)
			if len(b.p.Errors()) != 1 {
				t.Fatalf("objections: %+v, want one", b.p.Errors())
			}
		})
	}
}

func TestAFenceWithinALineIsAnsweredWhenThatLineHasPrinted(t *testing.T) {
	b := newBench(t, config())
	b.send("abc" + id("A001"))
	b.says("")
	b.send("\n")
	b.says("37 22 41 30 30 31 00")
}

func TestBuzzerAndDrawerAreEvents(t *testing.T) {
	b := newBench(t, config())
	b.send("\x1bB\x03\x02" + "\x1b(A\x04\x000\x31\x02\x03" +
		"\x1bp\x00\x32\x32" + "\x10\x14\x01\x00\x01")
	if n := len(b.p.Events()); n != 4 {
		t.Fatalf("%d events, want 4: %+v", n, b.p.Events())
	}
	b.noErrors()
}
