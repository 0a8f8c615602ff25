package crash

import (
	"testing"
	"time"

	"chit/printer/virtual"
)

// The places at which a working device dies or is stuck, in the order of a ticket's life, as
// installations share them.
var atWork = map[string][]string{
	"received": {"device.received.before-commit", "device.received.after-commit",
		"device.puback.before"},
	"print":  {"device.print.before-first-byte", "device.print.after-first-byte"},
	"paper":  {"device.print.after-paper", "device.result.before-commit"},
	"result": {"device.result.after-commit", "device.puback.after"},
	"ack":    {"device.ack.before-publish", "device.ack.after-publish"},
}

// TestTheBackupPrintsWhenThePrimaryIsKilledAtEachStep kills the primary's device with a ticket in
// its hands.
func TestTheBackupPrintsWhenThePrimaryIsKilledAtEachStep(t *testing.T) {
	t.Parallel()
	lists := map[string][]mishap{}
	for name, points := range atWork {
		for _, point := range points {
			lists[name] = append(lists[name], mishap{name: "killed at " + point, point: point})
		}
	}
	failovers(t, lists)
}

// TestTheBackupPrintsWhenThePrimaryIsStuckAtEachStep stops the primary's device there; its
// connections stand.
func TestTheBackupPrintsWhenThePrimaryIsStuckAtEachStep(t *testing.T) {
	t.Parallel()
	lists := map[string][]mishap{}
	for _, points := range atWork {
		for _, point := range points {
			lists[point] = []mishap{{name: "stuck at " + point, point: point, stuck: true}}
		}
	}
	failovers(t, lists)
}

// TestThePrimaryIsKilledAgainWhenItComesBack kills it at each step of its return: it is recalled
// then, and asks its printer what came out.
func TestThePrimaryIsKilledAgainWhenItComesBack(t *testing.T) {
	t.Parallel()
	lists := map[string][]mishap{}
	for name, points := range map[string][]string{
		"start":   {"device.start.before-commit", "device.start.after-commit", "device.hello.before"},
		"welcome": {"device.welcome.before-commit", "device.welcome.after-commit"},
		"resolve": {"device.resolve.before-question", "device.resolve.after-answer",
			"device.resolved.before-commit", "device.resolved.after-commit"},
	} {
		for _, point := range points {
			lists[name] = append(lists[name], mishap{name: "killed again at " + point,
				point: "device.print.after-first-byte", again: point})
		}
	}
	// What waits for paper is still there to be recalled when the device is heard again.
	for _, point := range []string{"device.recalled.before-commit", "device.recalled.after-commit"} {
		lists["recalled"] = append(lists["recalled"], mishap{name: "killed again at " + point,
			cut: true, fault: virtual.Fault{Name: virtual.PaperOut}, again: point})
	}
	// A printer that has half of the ticket and no paper is asked to forget the rest.
	for _, point := range []string{"device.clear.before-command", "device.clear.after-answer"} {
		lists["clear"] = append(lists["clear"], mishap{name: "killed again at " + point, cut: true,
			fault: virtual.Fault{Name: virtual.PaperOut, After: 12, HasAfter: true}, again: point})
	}
	failovers(t, lists)
}

// TestTheBackupPrintsWhenTheNetworkOrThePrinterFails cuts the primary's cable, lets it swallow
// everything, and lets its printer fail with the device alive.
func TestTheBackupPrintsWhenTheNetworkOrThePrinterFails(t *testing.T) {
	t.Parallel()
	lists := map[string][]mishap{
		"cut":    {{name: "cable cut", cut: true}, {name: "cable cut before", early: true}},
		"frozen": {{name: "half-open link", frozen: true}},
		"no paper": {{name: "no paper", within: heldWithin,
			fault: virtual.Fault{Name: virtual.PaperOut}}},
		"paper out": {{name: "paper out in the middle", within: heldWithin,
			fault: virtual.Fault{Name: virtual.PaperOut, After: 12, HasAfter: true}}},
		"silent": {{name: "printer silent", within: heldWithin, shy: true,
			fault: virtual.Fault{Name: virtual.Silent}}},
	}
	if *rounds >= manyRounds {
		// Its connection stands: only that it answers no question any more tells of it.
		lists["unplugged"] = []mishap{{name: "power cut in the middle", within: heldWithin + silentMax,
			fault: virtual.Fault{Name: virtual.PowerCut, After: 12, HasAfter: true}}}
	}
	failovers(t, lists)
}

// manyRounds is from where the slowest mishap is tried too; silentMax is how long a session takes
// to notice that a printer which has taken a ticket says nothing any more.
const (
	manyRounds = 10
	silentMax  = 12 * time.Second
)

// TestTheBrokerIsKilledAtEachStepOfAMove kills the broker while it gives a ticket to the backup and
// while it recalls it.
func TestTheBrokerIsKilledAtEachStepOfAMove(t *testing.T) {
	t.Parallel()
	lists := map[string][]mishap{}
	for _, command := range []string{"advance", "lease", "ack"} {
		for _, when := range []string{"before-commit", "after-commit"} {
			point := "broker." + command + "." + when
			lists[command] = append(lists[command], mishap{name: "broker killed at " + point,
				point: "device.received.after-commit", broker: point})
		}
	}
	for _, command := range []string{"hello", "ack"} {
		for _, when := range []string{"before-commit", "after-commit"} {
			point := "broker." + command + "." + when
			lists["recall"] = append(lists["recall"], mishap{name: "broker killed by a recall at " + point,
				point: "device.received.after-commit", later: point})
		}
	}
	failovers(t, lists)
}
