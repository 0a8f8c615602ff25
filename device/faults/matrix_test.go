package faults

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/device/wire"
	"chit/printer/virtual"
)

var update = flag.Bool("faults.update", false, "write testdata/matrix.txt anew")

// trouble is one row of the matrix.
type trouble struct {
	name string
	// at are the faults to raise, one run for each; with none there is one run.
	at []string
	// do is what else happens when the ticket is under way, after its first second.
	do func(*kitchen)
	// lacks is what the printer cannot do from the beginning.
	lacks []string
	// identity is what it says that it is.
	identity virtual.Identity
	// drawn is true for tickets whose food no code page can spell, so that it is sent as images.
	drawn bool
	// killed is true where the device's process dies too.
	killed bool
	// blind is true where nothing the printer says can prove a ticket: only then may one that is
	// called sent be lost (DESIGN section 2).
	blind bool
}

// ticketLines is what the printer feeds for a ticket, header and cut included.
const ticketLines = items + 5

func each(form string, from, to, step int) (texts []string) {
	for n := from; n <= to; n += step {
		texts = append(texts, fmt.Sprintf(form, n))
	}
	return texts
}

// ticketBytes is about the length of a ticket with its fences.
const ticketBytes = 300

var troubles = []trouble{
	{name: "nothing"},
	{name: "paper out at each line", at: each("paper-out:after=%d", 0, ticketLines, 1)},
	{name: "paper out at each line, device killed",
		at: each("paper-out:after=%d", 0, ticketLines, 2), killed: true},
	{name: "cover open at each line", at: each("cover-open:after=%d", 0, ticketLines, 2)},
	{name: "head hot at each line", at: each("head-hot:after=%d", 0, ticketLines, 4)},
	{name: "cutter jams", at: []string{"cutter-error"}},
	{name: "cutter jams, device killed", at: []string{"cutter-error"}, killed: true},
	{name: "power off and on at each line", at: each("power-off:after=%d", 0, ticketLines, 1)},
	{name: "power off and on at each region of bytes",
		at: each("power-off:after-bytes=%d", 1, ticketBytes, 18)},
	{name: "power off for 2 s at each line",
		at: each("power-off:after=%d,for=2s", 0, ticketLines, 2)},
	{name: "power off at each line, device killed",
		at: each("power-off:after=%d", 0, ticketLines, 2), killed: true},
	{name: "connection falls at each region of bytes",
		at: each("drop:after-bytes=%d", 1, ticketBytes, 18)},
	{name: "buffer forgotten at each line", at: each("forget-buffer:after=%d", 0, ticketLines, 4)},
	{name: "cable out and in", do: (*kitchen).cable},
	{name: "cable out and in, device killed", do: (*kitchen).cable, killed: true},
	{name: "mute after each answer", at: each("silent:after=%d", 0, 8, 1)},
	{name: "slow", at: []string{"slow:lines-per-second=0.5"}},
	{name: "answers late", at: []string{"late-answers:delay=700ms", "late-answers:delay=900ms"}},
	{name: "stray bytes", do: (*kitchen).noise},
	{name: "write-only clone", lacks: []string{"mute"}, blind: true},
	{name: "write-only clone without paper", lacks: []string{"mute"},
		at:    []string{"paper-out:after=3"},
		blind: true},
	{name: "wrong identity", lacks: []string{"clone", "no-odometer"},
		identity: virtual.Identity{Maker: "EPSON", Model: "TM-T88III", Firmware: "9.99", Serial: "1"}},
	{name: "odometer loses at power off", lacks: []string{"odometer-loses"},
		at: each("power-off:after=%d", 0, ticketLines, 4)},
	{name: "another printer at the cable", do: (*kitchen).exchange},
	{name: "drawn, nothing", drawn: true},
	{name: "drawn, paper out at each line", drawn: true,
		at: each("paper-out:after=%d", 0, ticketLines, 3)},
	{name: "drawn, power off and on at each line", drawn: true,
		at: each("power-off:after=%d", 0, ticketLines, 3)},
	{name: "drawn, power off at each line, device killed", drawn: true, killed: true,
		at: each("power-off:after=%d", 0, ticketLines, 4)},
	{name: "drawn, connection falls at each region of bytes", drawn: true,
		at: each("drop:after-bytes=%d", 1, drawnBytes, drawnBytes/6)},
}

// drawnBytes is about the length of a drawn ticket with its fences.
const drawnBytes = 3000

// columns are the printers and the cables.
var columns = []struct {
	name  string
	lacks []string
	bench func(*testing.T, virtual.Config) bench
	skip  int // of each so many faults only one is tried: what differs is the cable
}{
	{"TCP, GS ( H", nil, newTCP, 1},
	{"TCP, GS r", []string{"clone"}, newTCP, 1},
	{"TCP, GS r, no push, no odometer", []string{"clone", "no-asb", "no-odometer"}, newTCP, 2},
	{"USB, GS ( H", nil, newUSB, 2},
	{"USB, GS r", []string{"clone"}, newUSB, 3},
}

// cable is a cable that is out for a minute.
func (k *kitchen) cable() {
	k.bench.pull()
	<-time.After(6 * k.pace.settle)
	k.bench.push()
}

// noise is what bad lines and boards say between answers: drawer bytes, halves of blocks, text,
// flow control. What is exactly the awaited answer no parser can tell from it, so that is not among
// them.
func (k *kitchen) noise() {
	m := k.bench.printer()
	for range 20 {
		m.mu.Lock()
		m.stray = append(m.stray, "\xff\x01\x13\x117%\x80_12\x00=! \x007\"1234\x00\x05"...)
		m.notify()
		m.mu.Unlock()
		<-time.After(100 * time.Millisecond)
	}
}

// exchange puts another printer of the same make in, whose counters are where the first one's would
// be if the ticket had come out.
func (k *kitchen) exchange() {
	m := k.bench.printer()
	k.bench.pull()
	<-time.After(2 * userTimeout)
	m.do(func(p *virtual.Printer, now time.Time) { p.ForgetBuffer(now) })
	k.bench.push()
}

// verdict is what one run came to.
type verdict struct {
	said, paper, wrong string
	held               []string // the reasons that were given meanwhile
}

// mustFault reads a fault of a table.
func mustFault(text string) virtual.Fault {
	f, err := virtual.ParseFault(text)
	if err != nil {
		panic("faults: " + err.Error())
	}
	return f
}

// live carries one ticket through its trouble and judges the paper.
func live(t *testing.T, b bench, p pace, what trouble, fault string) verdict {
	k := newKitchen(t, b, p)
	defer k.end()
	k.drawn = what.drawn
	before := k.arrives("BEFORE") // An odometer is trusted once it has counted right.
	k.answer(before)
	<-time.After(p.settle)
	m := b.printer()
	if fault != "" {
		f := mustFault(fault)
		m.do(func(p *virtual.Printer, now time.Time) { p.Raise(now, f) })
	}
	id := k.arrives("FAULTY")
	<-time.After(p.moment)
	if what.killed {
		k.dies()
	}
	if what.do != nil {
		what.do(k)
	}
	over := make(chan struct{})
	defer close(over)
	go k.help(over)
	if what.killed {
		<-time.After(2*p.help + p.moment)
		k.start()
	}
	answer := k.answer(id)
	after := k.answer(k.arrives("AFTER"))
	<-time.After(6 * p.settle) // for what was only sent
	return judge(answer, after, k.holds(id), m.papers(), what.blind)
}

// help puts right whatever is wrong, again and again: a fault may come with the ticket behind.
func (k *kitchen) help(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-time.After(k.pace.help):
		}
		k.bench.printer().do(func(p *virtual.Printer, now time.Time) {
			p.Advance(now)
			for _, name := range p.Wrong() {
				p.Clear(now, name)
			}
			p.Speak(now)
		})
	}
}

func judge(answer, after *wire.Ack, held string, papers []string, blind bool) verdict {
	v := verdict{said: "no answer", held: strings.Fields(held)}
	if answer != nil {
		v.said = fmt.Sprintf("%s, %s", answer.Outcome, answer.Evidence)
		if answer.Outcome != wire.OutcomePrinted {
			v.said = fmt.Sprintf("%s, %s", answer.Outcome, answer.Reason)
		}
	}
	plain, marked, pieces, told := 0, 0, 0, 0
	for _, text := range papers {
		for _, one := range strings.SplitAfter(text, "END OF FAULTY") {
			whole := strings.HasSuffix(one, "END OF FAULTY")
			switch {
			case strings.Contains(one, "SLIP"):
				told++
			}
			switch {
			case !strings.Contains(one, "FAULTY"):
			case !whole:
				pieces++
			case strings.Contains(one, "POSSIBLE DUPLICATE"):
				marked++
			default:
				plain++
			}
		}
	}
	count := func(n int, word string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(" + %d %s", n, word)
	}
	v.paper = strings.TrimPrefix(count(plain, "plain")+count(pieces, "torn")+count(told, "slip")+
		count(marked, "marked"), " + ")
	switch {
	case answer == nil || after == nil:
		v.wrong = "a ticket has no answer"
	case plain+marked == 0 && !(blind && answer.Evidence == wire.EvidenceSent):
		v.wrong = "lost"
	case plain > 1:
		v.wrong = "doubled without a mark"
	case pieces > 0 && marked == 0 && !blind:
		v.wrong = "a piece of paper, and nothing says so"
	case !blind && !strings.Contains(strings.Join(papers, " "), "END OF AFTER"):
		v.wrong = "the next ticket is lost"
	}
	return v
}

func (v verdict) String() string {
	s := v.said + ": " + v.paper
	if v.wrong != "" {
		s += " WRONG: " + v.wrong
	}
	return s
}

// TestTheMatrix: zero lost, zero doubled without a mark, and what the device says is reviewed.
func TestTheMatrix(t *testing.T) {
	var table strings.Builder
	for _, what := range troubles {
		fmt.Fprintf(&table, "%s\n", what.name)
		for _, column := range columns {
			came, held := map[string]int{}, map[string]bool{}
			faults := what.at
			if len(faults) == 0 {
				faults = []string{""}
			}
			for n, fault := range faults {
				if n%column.skip > 0 {
					continue
				}
				var v verdict
				synctest.Test(t, func(t *testing.T) {
					c := virtual.ConfigFor(facts())
					c.LinesPerSecond, c.LineFeeds, c.Cuts = 10, 1000, 50
					if what.identity != (virtual.Identity{}) {
						c.Identity = what.identity
					}
					for _, text := range slices.Concat(column.lacks, what.lacks) {
						c.Faults = append(c.Faults, mustFault(text))
					}
					v = live(t, column.bench(t, c), bubble, what, fault)
				})
				came[v.String()]++
				for _, word := range v.held {
					held[word] = true // Not how often: two things may happen at one instant.
				}
				if v.wrong != "" {
					t.Errorf("%s, %s, %s: %v", column.name, what.name, fault, v)
				}
			}
			fmt.Fprintf(&table, "  %s\n", column.name)
			if words := slices.Sorted(maps.Keys(held)); len(words) > 0 {
				fmt.Fprintf(&table, "         held: %s\n", strings.Join(words, ", "))
			}
			for _, line := range slices.Sorted(maps.Keys(came)) {
				fmt.Fprintf(&table, "    %3d  %s\n", came[line], line)
			}
		}
	}
	t.Log("\n" + table.String())
	golden(t, "matrix.txt", table.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at it and write it with -faults.update", path)
	}
}
