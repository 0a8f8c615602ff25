package virtual

import (
	"strings"
	"testing"
)

func TestSettingsChangeWhatTheyNameAndInitialisePutsThemBack(t *testing.T) {
	for _, tt := range []struct{ name, send, want string }{
		{"ESC !, all at once", "\x1b!\xb9ab\n", "{2x2 small bold underline|ab}\n"},
		{"ESC G", "\x1bG\x01ab\n", "{bold|ab}\n"},
		{"GS L, left margin", "\x1dL\x78\x00ab\n", "          ab\n"},
		{"GS W, area", "\x1dW\x30\x00abcdef\n", "abcd\nef\n"},
		{"ESC $, then ESC \\ back", "\x1b$\x78\x00a\x1b\\\xf4\xffb\n", "          ab\n"},
		{"ESC D, own tabs", "\x1bD\x03\x05\x00\ta\tb\n", "   a b\n"},
		{"ESC a right", "\x1ba2ab\n", "                                              ab\n"},
		{"GS P 0 0, the units of the paper", "\x1dP\x00\x00\x1dL\x78\x00ab\n", "          ab\n"},
		{"CR and smoothing do nothing", "a\r\x1db\x01b\n", "ab\n"},
		{"ESC M 1, small", "\x1bM\x01ab\n", "{small|ab}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, config())
			b.send(tt.send)
			if got := b.p.Pending().Styled(); got[:min(len(got), len(tt.want))] != tt.want {
				t.Errorf("reads %q, want %q", got, tt.want)
			}
			b.noErrors()
			b.send(initialise + "plain\n" + cutFeed)
			if got := b.p.Sheets()[0].Text(); got[len(got)-6:] != "plain\n" || got[len(got)-7] != '\n' {
				t.Errorf("after ESC @ reads %q", got)
			}
		})
	}
}

func TestWhatStandsWithinALineAndMustNotIsAnErrorAndPrintsIt(t *testing.T) {
	for _, send := range []string{
		"ab" + cutHere,
		"ab\x1dv0\x00\x01\x00\x01\x00\xff", "ab\x1dL\x00\x00",
	} {
		b := newBench(t, config())
		b.send(send)
		if got := b.p.Errors(); len(got) == 0 || !strings.Contains(got[0].Text, "within an unfinished") {
			t.Errorf("%q: objections %+v, want one about the unfinished line", send, got)
		}
		if feeds, _ := b.p.Counters(); feeds != 1 {
			t.Errorf("%q: %d line feeds, want the unfinished line's", send, feeds)
		}
	}
}

func TestTheHostCanSwitchOffRealTimePulseAndPowerOff(t *testing.T) {
	b := newBench(t, config())
	b.send("\x1d(D\x05\x00\x14\x01\x00\x02\x00")
	b.send("\x10\x14\x01\x00\x01" + "\x10\x14\x02\x01\x08")
	if !b.p.On() || len(b.p.Events()) != 0 {
		t.Fatalf("on: %v, events: %+v", b.p.On(), b.p.Events())
	}
	b.send(initialise)
	b.p.Receive(b.now, []byte("\x10\x14\x02\x01\x08"))
	if b.p.On() {
		t.Fatal("the power-off sequence was not obeyed after ESC @")
	}
}

func TestWrongListsWhatHandsCanPutRight(t *testing.T) {
	b := newBench(t, config())
	for _, name := range []FaultName{CoverOpen, PaperOut, NearEnd, HeadHot, Broken, Silent, PowerCut} {
		b.raise(string(name))
		if got := b.p.Wrong(); len(got) != 1 || got[0] != name {
			t.Errorf("%s: wrong is %v", name, got)
		}
		b.p.Clear(b.now, name)
		b.p.Connect(b.now)
		if got := b.p.Wrong(); len(got) != 0 {
			t.Errorf("%s cleared: wrong is %v", name, got)
		}
	}
}
