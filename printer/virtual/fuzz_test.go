package virtual

import (
	"testing"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// FuzzPrinter feeds foreign bytes in two pieces, with hands at work in between. Nothing panics, the
// buffer keeps its bound, time runs out for nothing, and what is remembered is bounded.
func FuzzPrinter(f *testing.F) {
	for _, seed := range []string{
		initialise + asbOn + lines(3) + id("A001") + cutFeed + id("A002") + fence,
		"\x1dv0\x00\x02\x00\x03\x00abcdef" + clearAll + "\x10\x05\x02\x10\x04\x04",
		"\x1b*\x21\x02\x00abcdef\n\x1bd\xff\x1bJ\xff\x1b3\x00\n\n\x1dL\xff\xff\x1dW\x01\x00abc\n",
		"\x1d(k\x05\x001P0ab\x1d(k\x03\x001Q0\x1dk\x04123\x00\x1b{\x01\x1bV\x01\x1d!\x77x\n",
		"\x1dP\x01\x01\x1b3\xff\n\n\n\x1bJ\xff", "\x10\x14\x02\x01\x08after",
		"\x1b$\x00\x00a\x1b$\x00\x00b\x09c\x1bD\x08\x10\x00\x09d\n",
		"\x1d8L\x0c\x00\x00\x000p0\x01\x021\x09\x00\x01\x00\xff\x80\x1d(L\x02\x0002",
		"\x1c&\xc3\xe6\x1cW\x01\xc3\xe6\x1c.\x1bR\x02[\x1b4\x01\x1cS\x01\x01\x1cC1\x93\xfa\n",
		"\x1dH\x03\x1dk\x49\x05{C\x0c\x22\x38\x1dk\x0104252614\x00\x1dk\x02400638133393\x00",
		"\x1d(k\x05\x006P0ab\x1d(k\x03\x006Q0\x1d(k\x05\x000P0ab\x1d(k\x03\x000Q0",
	} {
		f.Add([]byte(seed), byte(3), byte(5))
	}
	f.Fuzz(func(t *testing.T, stream []byte, split, fault byte) {
		c := config()
		c.BufferBytes = 512
		c.Can.Red, c.Can.RasterFeeds = true, true
		c.Kanji = []string{"", "GB18030", "SHIFT-JIS"}[split%3]
		c.Impact = fault&1 != 0
		if split&1 != 0 {
			c.LinesPerSecond = 1000
		}
		p := New(c)
		now := start
		p.Connect(now)
		cut := len(stream) * int(split) / 255
		offer := func(b []byte) {
			for rounds := 0; len(b) > 0 && rounds < 1000; rounds++ {
				n := p.Receive(now, b)
				if n < 0 || n > len(b) || p.Buffered() > c.BufferBytes {
					t.Fatalf("took %d of %d, buffer %d", n, len(b), p.Buffered())
				}
				b = b[n:]
				now = now.Add(time.Second)
				p.Advance(now)
			}
		}
		offer(stream[:cut])
		names := FaultNames()
		name := names[int(fault)%len(names)]
		p.Raise(now, Fault{Name: name, LinesPerSecond: 10, Wait: time.Second})
		offer(stream[cut:])
		p.Clear(now, name)
		now = now.Add(time.Hour)
		p.Advance(now)
		p.Disconnect(now)
		if len(p.Errors()) > ErrorsMax || len(p.Events()) > EventsMax ||
			len(p.Pending().Lines) > itemsMax {
			t.Fatal("remembers too much")
		}
		for i, s := range append(p.Sheets(), p.Pending()) {
			_ = s.Styled()
			if i == 0 && s.HeightDots < 2000 {
				s.Render()
			}
		}
	})
}

// A document that our own encoder spelt comes out as it was meant, without one objection, and the
// odometer counts what the encoder said it would.
func TestOurOwnTicketsComeOutWithoutAnObjection(t *testing.T) {
	for _, facts := range []profile.Profile{profile.Safe80(), profile.Safe58()} {
		d := document.Document{Blocks: []document.Block{
			document.Line{Align: document.Centre, Spans: []document.Span{{Text: " GRILL ",
				Style: document.Style{Width: 2, Height: 2, Inverse: true}}}},
			document.Rule{},
			document.Line{Spans: []document.Span{{Text: "2 x Crème brûlée 4 €"}}},
			document.Line{Spans: []document.Span{{Text: "no nuts",
				Style: document.Style{Bold: true, Underline: true}}}},
			document.Feed{Lines: 2},
		}}
		paper, err := escpos.Encode(d, facts)
		if err != nil {
			t.Fatal(err)
		}
		p := New(ConfigFor(facts))
		p.Connect(start)
		for _, part := range [][]byte{paper.Body, paper.Cut} {
			if n := p.Receive(start, part); n != len(part) {
				t.Fatalf("accepted %d of %d bytes", n, len(part))
			}
		}
		if !facts.Cutter {
			p.Tear(start)
		}
		for _, e := range p.Errors() {
			t.Errorf("%s: byte %d: %s", facts.Name, e.Offset, e.Text)
		}
		feeds, cuts := p.Counters()
		if int(feeds) != paper.LineFeeds || int(cuts) != paper.Cuts {
			t.Errorf("%s: counted %d line feeds and %d cuts, the encoder says %d and %d",
				facts.Name, feeds, cuts, paper.LineFeeds, paper.Cuts)
		}
		sheets := p.Sheets()
		if len(sheets) != 1 {
			t.Fatalf("%s: %d sheets", facts.Name, len(sheets))
		}
		golden(t, "ticket-"+facts.Name, sheets[0])
	}
}
