package status

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func unknown(raw string) Unknown { return Unknown{Raw: []byte(raw)} }

// same compares events and lets the reason of an Unknown be any but none.
func same(got, want []Event) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if u, ok := got[i].(Unknown); ok && u.Reason != "" {
			u.Reason = ""
			got[i] = u
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			return false
		}
	}
	return true
}

var abcd = ProcessID{Token: [4]byte{'A', 'B', 'C', 'D'}}

var streamCases = []struct {
	name   string
	expect []Kind
	in     string
	want   []Event
	open   int
}{
	{"nothing", nil, "", nil, 0},
	{"an answer to DLE EOT", []Kind{ExpectPrinter}, "\x12", []Event{Printer{}}, 0},
	{"four answers in the order of the questions",
		[]Kind{ExpectPrinter, ExpectOffline, ExpectError, ExpectPaper}, "\x1A\x16\x1A\x72",
		[]Event{Printer{Offline: true}, Offline{CoverOpen: true}, Error{Cutter: true},
			Paper{End: true}}, 0},
	{"a real-time answer does not wait for a queued one", []Kind{ExpectFence, ExpectError},
		"\x12\x00",
		[]Event{Error{}, Fence{}}, 0},
	{"a process id needs no question", nil, "7\"ABCD\x00", []Event{abcd}, 0},
	{"a clear response", nil, "7%\x00", []Event{Cleared{}}, 0},
	{"an offline response", nil, "7#@A\x00", []Event{WentOffline{Causes: []byte("@A")}}, 0},
	{"an offline response without causes", nil, "7#\x00",
		[]Event{WentOffline{Causes: []byte{}}}, 0},
	{"automatic status", nil, "\x14\x00\x00\x0F", []Event{ASB{DrawerHigh: true}}, 0},
	{"XOFF and XON wedged into automatic status", nil, "\x14\x00\x13\x00\x11\x0F",
		[]Event{Flow{}, Flow{On: true}, ASB{DrawerHigh: true}}, 0},
	{"XOFF wedged into a process id", nil, "7\"AB\x13CD\x00", []Event{Flow{}, abcd}, 0},
	{"a counter", []Kind{ExpectCounter}, "_0123\x00", []Event{Counter{Value: 123}}, 0},
	{"an identity of digits is an identity", []Kind{ExpectIdentity}, "_0123\x00",
		[]Event{Identity{Text: "0123"}}, 0},
	{"counters and identities in order", []Kind{ExpectIdentity, ExpectCounter, ExpectFence},
		"_X1\x00_7\x00\x0C",
		[]Event{Identity{Text: "X1"}, Counter{Value: 7}, Fence{Paper: Paper{End: true}}}, 0},
	{"everything mixed", []Kind{ExpectFence, ExpectPaper},
		"\x10\x00\x00\x007\"ABCD\x00\x12\x00",
		[]Event{ASB{}, abcd, Paper{}, Fence{}}, 0},

	// Garbage is Unknown and leaves questions open.
	{"an answer nobody asked for", nil, "\x12", []Event{unknown("\x12")}, 0},
	{"a fence nobody asked for", nil, "\x00", []Event{unknown("\x00")}, 0},
	{"an answer of the wrong family", []Kind{ExpectFence}, "\x12", []Event{unknown("\x12")}, 1},
	{"noise", []Kind{ExpectFence, ExpectPrinter}, "\xFF\x80\x17",
		[]Event{unknown("\xFF\x80\x17")}, 2},
	{"noise around an answer", []Kind{ExpectPrinter}, "\xFF\x12\xFF",
		[]Event{unknown("\xFF"), Printer{}, unknown("\xFF")}, 0},
	{"a counter nobody asked for", []Kind{ExpectFence}, "_ 0\x00",
		[]Event{unknown("_ 0\x00")}, 1},
	{"text where a counter is awaited", []Kind{ExpectCounter}, "_12a\x00",
		[]Event{unknown("_12a\x00")}, 1},
	{"a status byte where a counter is awaited", []Kind{ExpectCounter}, "\x00",
		[]Event{unknown("\x00")}, 1},
	{"printer information A is no fence", []Kind{ExpectFence}, "=! \x00",
		[]Event{unknown("=! \x00")}, 1},
	{"extended status is no fence", []Kind{ExpectFence}, "9A@\x00",
		[]Event{unknown("9A@\x00")}, 1},
	{"a process id torn by another", nil, "7\"AB7\"ABCD\x00", []Event{unknown("7\"AB7\"A"),
		unknown("BCD\x00")}, 0},
	{"a process id torn by a status byte", []Kind{ExpectPrinter}, "7\"AB\x12",
		[]Event{unknown("7\"AB"), Printer{}}, 0},
	{"automatic status torn by a real-time answer", []Kind{ExpectPrinter}, "\x14\x00\x12",
		[]Event{unknown("\x14\x00"), Printer{}}, 0},
	{"automatic status torn by the next", nil, "\x14\x00\x14\x00\x00\x0F",
		[]Event{unknown("\x14\x00"), ASB{DrawerHigh: true}}, 0},
	{"an unknown identifier", nil, "7\x26", []Event{unknown("7\x26")}, 0},
}

func TestStream(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			var s Stream
			for _, k := range c.expect {
				s.Expect(k)
			}
			got := s.Write([]byte(c.in))
			want := c.want
			if strings.HasPrefix(c.name, "a process id torn by another") {
				// Its bytes are all wasted; how they are grouped is of no interest.
				for _, e := range got {
					if _, ok := e.(Unknown); !ok {
						t.Errorf("%+v out of a torn block", e)
					}
				}
				return
			}
			if !same(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			open := 0
			for k := ExpectPrinter; k <= ExpectCounter; k++ {
				open += s.Awaits(k)
			}
			if open != c.open {
				t.Errorf("%d questions open, want %d", open, c.open)
			}
		})
	}
}

func TestStreamMayBeCutAnywhere(t *testing.T) {
	in := []byte("\x14\x00\x00\x0F7\"ABCD\x00_42\x00\x12\x037%\x00\x10\x08\x00\x00")
	ask := func() *Stream {
		s := new(Stream)
		for _, k := range []Kind{ExpectCounter, ExpectPrinter, ExpectFence} {
			s.Expect(k)
		}
		return s
	}
	want := ask().Write(in)
	if len(want) != 7 {
		t.Fatalf("%d events: %+v", len(want), want)
	}
	for i := range len(in) {
		s := ask()
		got := append(s.Write(in[:i]), s.Write(in[i:])...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cut at %d: %+v", i, got)
		}
	}
}

// research/escpos.md section 1: rafiki270/PrinterDriver demands the pattern of DLE EOT in all four
// bytes of automatic status, so a real block never matches, and four answers do.
func TestAutomaticStatusIsNotFourRealTimeAnswers(t *testing.T) {
	var s Stream
	if got := s.Write([]byte("\x14\x00\x00\x0F")); !same(got, []Event{ASB{DrawerHigh: true}}) {
		t.Errorf("an idle Epson says %+v", got)
	}
	if got := s.Write([]byte("\x38\x00\x0C\x0F")); !same(got, []Event{ASB{Offline: true,
		CoverOpen: true, End: true}}) {
		t.Errorf("cover open without paper says %+v", got)
	}
	for _, e := range s.Write([]byte("\x12\x12\x12\x12")) {
		if _, ok := e.(Unknown); !ok {
			t.Errorf("four stray answers to DLE EOT say %+v", e)
		}
	}
}

// research/escpos.md section 1: receiptio takes any byte with bits 7 and 4 clear for the answer to
// GS r once a job is written.
func TestAStrayByteIsNoFence(t *testing.T) {
	var s Stream
	s.Expect(ExpectFence)
	for _, in := range []string{
		"\x01",             // the late answer to a drawer query GS r 2
		"\x14\x00\x00\x0F", // automatic status, whose tail looks like answers to GS r
		"_ 0\x00",          // a text block
		"=  \x00", "9 @\x00",
		"\x04", "\x08", "\x02",
	} {
		for _, e := range s.Write([]byte(in)) {
			if fence, ok := e.(Fence); ok {
				t.Errorf("%q: %+v", in, fence)
			}
		}
	}
	if s.Awaits(ExpectFence) != 1 {
		t.Fatal("the question is closed")
	}
	if got := s.Write([]byte{0x00}); !same(got, []Event{Fence{}}) {
		t.Errorf("%+v", got)
	}
}

// A block that merely ends with the token's bytes is not its answer.
func TestAnIdentityThatEndsLikeATokenIsNoProcessID(t *testing.T) {
	var s Stream
	s.Expect(ExpectIdentity)
	if got := s.Write([]byte("_x7\"ABCD\x00")); !same(got, []Event{Identity{Text: "x7\"ABCD"}}) {
		t.Errorf("%+v", got)
	}
	if got := s.Write([]byte("_x7\"ABCD\x00")); !same(got, []Event{unknown("_x7\"ABCD\x00")}) {
		t.Errorf("%+v", got)
	}
}

func TestCancelledQuestionsAreNotAnswered(t *testing.T) {
	var s Stream
	s.Expect(ExpectPrinter)
	s.Expect(ExpectPaper)
	if !s.Cancel(ExpectPrinter) || s.Cancel(ExpectPrinter) || s.Cancel(ExpectFence) {
		t.Error("cancelling")
	}
	if got := s.Write([]byte{0x72}); !same(got, []Event{Paper{End: true}}) {
		t.Errorf("%+v", got)
	}
	if got := s.Write([]byte{0x12}); !same(got, []Event{unknown("\x12")}) {
		t.Errorf("a late answer says %+v", got)
	}
}

func TestResetForgetsTheOldConnection(t *testing.T) {
	var s Stream
	s.Expect(ExpectPrinter)
	s.Write([]byte("7\"AB"))
	if got := s.Reset(); !same(got, []Event{unknown("7\"AB")}) {
		t.Errorf("%+v", got)
	}
	if got := s.Write([]byte("CD\x00\x12")); len(got) != 1 {
		t.Errorf("%+v", got)
	} else if _, ok := got[0].(Unknown); !ok {
		t.Errorf("%+v", got)
	}
}

func TestEndlessBlocksAndQuestionsAreBounded(t *testing.T) {
	var s Stream
	for range expectMax {
		if !s.Expect(ExpectIdentity) {
			t.Fatal("refused too early")
		}
	}
	if s.Expect(ExpectIdentity) || !s.Expect(ExpectPrinter) {
		t.Error("the bound is not kept for one family alone")
	}
	s.Write([]byte("_"))
	for _, e := range s.Write(bytes.Repeat([]byte{'a'}, 10_000)) {
		if _, ok := e.(Unknown); !ok {
			t.Errorf("%+v", e)
		}
	}
	if len(s.part) > BlockBytesMax {
		t.Errorf("%d bytes kept", len(s.part))
	}
}

// FuzzStream: any bytes, in any pieces, are told of once; what was not asked is never answered.
func FuzzStream(f *testing.F) {
	f.Add([]byte("\x14\x00\x00\x0F7\"ABCD\x00_42\x00\x12\x03"), []byte{1, 5, 7}, uint8(2))
	f.Add([]byte("7%\x00\x13\x11=! \x009A@\x00\xFF"), []byte{}, uint8(0))
	f.Add([]byte("_TM-T20III\x00\x12\x12\x12\x12\x00"), []byte{6, 1, 2, 3, 4, 5}, uint8(5))
	f.Fuzz(func(t *testing.T, b, asked []byte, piece uint8) {
		var s Stream
		open := map[string]int{}
		for _, k := range asked {
			if kind := Kind(k%7) + 1; s.Expect(kind) {
				open[kindName(kind)]++
			}
		}
		size, counted := 0, false
		for rest := b; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			for _, e := range s.Write(rest[:n]) {
				size += eventBytes(t, e)
				name := fmt.Sprintf("%T", e)
				switch id := e.(type) {
				case Printer, Offline, Error, Paper, Fence, Identity, Counter:
					if open[name]--; open[name] < 0 {
						t.Fatalf("%+v was not asked", e)
					}
					counted = counted || name == "status.Counter" // Leading zeros are lost.
				case ProcessID:
					if !bytes.Contains(strip(b), append(append([]byte("7\""), id.Token[:]...), 0)) {
						t.Fatalf("%+v is not in % X", e, b)
					}
				}
			}
			rest = rest[n:]
		}
		for _, e := range s.Reset() {
			size += eventBytes(t, e)
		}
		if !counted && size != len(b) {
			t.Fatalf("% X: %d bytes are told of, %d were written", b, size, len(b))
		}
	})
}

func strip(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte{xon}, nil), []byte{xoff}, nil)
}

func kindName(k Kind) string {
	return [...]string{"", "status.Printer", "status.Offline", "status.Error", "status.Paper",
		"status.Fence", "status.Identity", "status.Counter"}[k]
}

func eventBytes(t *testing.T, e Event) int {
	switch e := e.(type) {
	case Unknown:
		if len(e.Raw) == 0 || e.Reason == "" {
			t.Fatalf("an empty Unknown: %+v", e)
		}
		return len(e.Raw)
	case ASB:
		return 4
	case ProcessID:
		return 7
	case Cleared:
		return 3
	case WentOffline:
		return 3 + len(e.Causes)
	case Identity:
		return 2 + len(e.Text)
	}
	return 1
}
