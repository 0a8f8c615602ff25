package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"chit/printer/virtual"
	"chit/rig"
)

// trouble is something that happens to the printer while a program is killed.
type trouble struct {
	raise virtual.Fault
	// after is true where nothing comes out before the fault is cleared, so that the kill comes
	// first and the repair behind it.
	after bool
}

// forgets tells whether the printer loses what it had taken. Of one that never answers nobody can
// know: its tickets have the evidence "sent" and no better (DESIGN section 2), so it is spared.
func (t trouble) forgets() bool {
	switch t.raise.Name {
	case virtual.PowerCut, virtual.ForgetBuffer, virtual.Drop:
		return true
	}
	return false
}

// closed tells whether the printer refuses work from the beginning.
func (t trouble) closed() bool { return t.raise.Name == virtual.PaperOut && !t.raise.HasAfter }

// troubles are what kitchens know.
var troubles = []struct {
	name string
	trouble
}{
	{"paper out in the middle of a ticket", trouble{virtual.Fault{Name: virtual.PaperOut, After: 12,
		HasAfter: true}, true}},
	{"paper out between tickets", trouble{virtual.Fault{Name: virtual.PaperOut}, true}},
	{"cover opened in the middle of a ticket", trouble{virtual.Fault{Name: virtual.CoverOpen,
		After: 12, HasAfter: true}, true}},
	{"cutter jams", trouble{virtual.Fault{Name: virtual.CutterError, After: 1, HasAfter: true}, true}},
	{"power cut in the middle of a ticket", trouble{virtual.Fault{Name: virtual.PowerCut, After: 12,
		HasAfter: true}, true}},
	{"power cut in the middle of the bytes", trouble{virtual.Fault{Name: virtual.PowerCut,
		AfterBytes: 400, HasBytes: true, Wait: 500 * time.Millisecond}, false}},
	{"buffer forgotten in the middle", trouble{virtual.Fault{Name: virtual.ForgetBuffer, After: 12,
		HasAfter: true}, false}},
	{"connection falls after some bytes", trouble{virtual.Fault{Name: virtual.Drop, AfterBytes: 300,
		HasBytes: true}, false}},
	{"printer is slow", trouble{virtual.Fault{Name: virtual.Slow, LinesPerSecond: 40}, false}},
	{"answers come late", trouble{virtual.Fault{Name: virtual.LateAnswers,
		Wait: 600 * time.Millisecond}, false}},
}

// killsInTrouble are where the device dies meanwhile: before and in the middle of the bytes, with
// the paper out and nothing stored, and not at all.
var killsInTrouble = []string{
	"", "device.print.after-first-byte", "device.received.after-commit",
}

func TestAPrinterInTroubleLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			k := newKiller(t, kind.can)
			for _, trouble := range troubles {
				if kind.name == "mute" && trouble.forgets() {
					continue
				}
				for _, point := range killsInTrouble {
					if trouble.closed() && point == "device.print.after-first-byte" {
						continue // No byte is sent to a printer that says it has no paper.
					}
					k.trouble(fmt.Sprintf("%s, killed at %q", trouble.name, point), trouble.trouble, point)
				}
			}
			k.judge(false)
		})
	}
}

// trouble raises a fault, sends tickets, kills the device where point says, starts it again, puts
// the printer right and waits for the end.
func (k *killer) trouble(name string, what trouble, point string) {
	k.Helper()
	began := time.Now()
	if what.raise.Name == virtual.Drop {
		k.torn++
	}
	printer := k.rig.Printers["grill"]
	if err := printer.Raise(what.raise); err != nil {
		k.Fatal(err)
	}
	if point != "" {
		arm(k.T, k.rig.Device, point, 1)
	}
	posts := k.post()
	if point != "" {
		die(k.ctx, k.T, k.rig.Device, point)
		k.restart()
	}
	posts.Wait()
	if what.after {
		k.stuck(what.raise.Name)
	}
	if err := printer.Clear(what.raise.Name); err != nil {
		k.Fatal(err)
	}
	k.over(name)
	k.Logf("%s: %v", name, time.Since(began).Round(time.Millisecond))
}

// stuck waits until the fault has happened, or everything came out before it.
func (k *killer) stuck(name virtual.FaultName) {
	k.Helper()
	printer := k.rig.Printers["grill"]
	err := k.rig.Until(k.ctx, string(name)+" to happen", func(context.Context) bool {
		state, err := printer.State()
		if err != nil {
			k.Fatal(err)
		}
		if !state.On || len(state.Wrong) > 0 {
			return true
		}
		found := map[string]bool{}
		for _, sheet := range printer.Sheets() {
			found[rig.Read(sheet).ID] = true
		}
		for _, c := range k.round {
			if c.Station == "grill" && !found[c.ID+"@"+c.Station] {
				return false
			}
		}
		return true
	})
	if err != nil {
		k.Fatal(err)
	}
}
