package faults

import (
	"os"
	"sync"
	"testing"
	"time"

	"chit/printer/session"
	"chit/printer/transport/serial"
	"chit/printer/transport/transporttest"
	"chit/printer/virtual"
)

// wireBench is a printer at the far end of a pseudo-terminal, in real time.
type wireBench struct {
	*serial.Dialer
	m *machine
	f *os.File
}

func newWire(t *testing.T, c virtual.Config, flow serial.Flow) bench {
	f, path := transporttest.OpenPTY(t)
	settings := serial.Default()
	settings.Baud, settings.Flow = 115200, flow
	m := newMachine(c)
	m.wire = true
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plug(f)
	return &wireBench{serial.New(path, settings), m, f}
}

func (b *wireBench) printer() *machine { return b.m }
func (b *wireBench) pull()             { b.set(true) }
func (b *wireBench) push()             { b.set(false) }

func (b *wireBench) set(cut bool) {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.m.cut = cut
	b.m.notify()
}

// brisk is for a printer of 400 lines a second.
var brisk = pace{settle: 200 * time.Millisecond, moment: 25 * time.Millisecond,
	help: time.Second, patience: time.Minute,
	session: session.Timing{Hello: 150 * time.Millisecond, Answer: 300 * time.Millisecond,
		Fence: 2 * time.Second, Poll: 100 * time.Millisecond, Keepalive: 400 * time.Millisecond,
		RedialMin: 10 * time.Millisecond, RedialMax: 100 * time.Millisecond}}

// TestTroublesOnASerialLine carries tickets over real ports: a printer that holds the host back by
// XON and XOFF, and one with room for a ticket whose next one waits for the fence. Their time is
// real, so that only the paper is judged: nothing lost, nothing doubled without a mark.
func TestTroublesOnASerialLine(t *testing.T) {
	var lives sync.WaitGroup
	defer lives.Wait()
	for _, line := range []struct {
		name   string
		flow   serial.Flow
		buffer int
	}{{"XON and XOFF", serial.FlowBytes, 256}, {"paced by fences", serial.FlowNone, 4096}} {
		for _, what := range []trouble{
			{name: "nothing"},
			{name: "paper out", at: []string{"paper-out:after=0", "paper-out:after=6"}},
			{name: "cover open", at: []string{"cover-open:after=6"}},
			{name: "cutter jams", at: []string{"cutter-error"}},
			{name: "power off and on", at: []string{"power-off:after=6", "power-off:after-bytes=90"}},
			{name: "power off, device killed", at: []string{"power-off:after=6"}, killed: true},
			{name: "cable out and in", do: (*kitchen).cable},
			{name: "mute", at: []string{"silent:after=6"}},
			{name: "slow", at: []string{"slow:lines-per-second=30"}},
			{name: "stray bytes", do: (*kitchen).noise},
			{name: "write-only clone", lacks: []string{"mute"}, blind: true},
		} {
			faults := what.at
			if len(faults) == 0 {
				faults = []string{""}
			}
			for _, fault := range faults {
				c := virtual.ConfigFor(facts())
				c.LinesPerSecond, c.LineFeeds, c.Cuts, c.BufferBytes = 400, 1000, 50, line.buffer
				for _, text := range what.lacks {
					c.Faults = append(c.Faults, mustFault(text))
				}
				name, b := line.name+", "+what.name+" "+fault, newWire(t, c, line.flow)
				lives.Go(func() { // All at once: they wait more than they work.
					v := live(t, b, brisk, what, fault)
					t.Logf("%s: %v", name, v)
					if v.wrong != "" {
						t.Errorf("%s: %s", name, v.wrong)
					}
					if b.printer().stops == 0 && what.name == "slow" && line.flow == serial.FlowBytes {
						t.Errorf("%s: the printer never had to hold the host back", name)
					}
				})
			}
		}
	}
}
