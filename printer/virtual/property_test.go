package virtual

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever hands do to the cover, the roll, the blade and the head, in whatever order: what was
// received comes out once, in order, and the counters count just that. It is the fact on which
// "paper out is not failure" rests (DESIGN section 5).
func TestHandsNeverLoseOrDoubleALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config()
		c.LinesPerSecond = float64(rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "speed"))
		p := New(c)
		now := start
		p.Connect(now)
		var want strings.Builder
		var offered []byte
		sent, tickets := 0, 0
		hand := func(f func(*Printer, time.Time)) func(*rapid.T) {
			return func(*rapid.T) { f(p, now) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				sent++
				fmt.Fprintf(&want, "line %d\n", sent)
				offered = append(offered, fmt.Sprintf("line %d\n", sent)...)
				if rapid.Bool().Draw(t, "cut") {
					tickets++
					offered = append(offered, cutFeed...)
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
				p.Advance(now)
			},
			"open the cover":  hand((*Printer).OpenCover),
			"close the cover": hand((*Printer).CloseCover),
			"take the paper":  hand((*Printer).RemovePaper),
			"load paper":      hand((*Printer).LoadPaper),
			"overheat":        hand((*Printer).Overheat),
			"cool":            hand((*Printer).Cool),
			"jam":             hand((*Printer).JamCutter),
			"clear the jam":   hand((*Printer).ClearJam),
			"": func(t *rapid.T) {
				offered = offered[p.Receive(now, offered):]
				p.Advance(now)
			},
		})
		for _, name := range []FaultName{PaperOut, CoverOpen, HeadHot, CutterError} {
			p.Clear(now, name)
		}
		for range 10_000 {
			if len(offered) == 0 && p.Idle() {
				break
			}
			offered = offered[p.Receive(now, offered):]
			now = now.Add(time.Minute)
			p.Advance(now)
		}
		var got strings.Builder
		sheets := p.Sheets()
		for _, s := range append(sheets, p.Pending()) {
			got.WriteString(s.Text())
		}
		feeds, cuts := p.Counters()
		if got.String() != want.String() || int(feeds) != sent || int(cuts) != tickets ||
			len(sheets) != tickets {
			t.Fatalf("sent %q in %d tickets, came out %q in %d; counted %d feeds, %d cuts",
				want.String(), tickets, got.String(), len(sheets), feeds, cuts)
		}
	})
}
