package service

import (
	"chit/device/core"
	"chit/failpoint"
)

// The failpoints of the daemon, at every step boundary of a ticket's life.
const (
	pointStartBefore    = "device.start.before-commit"
	pointStartAfter     = "device.start.after-commit"
	pointReceivedBefore = "device.received.before-commit"
	pointReceivedAfter  = "device.received.after-commit"
	pointPrintBefore    = "device.print.before-first-byte"
	pointPrintAfter     = "device.print.after-first-byte"
	pointPaper          = "device.print.after-paper" // the printer's word is heard and not stored
	pointResultBefore   = "device.result.before-commit"
	pointResultAfter    = "device.result.after-commit" // and before the ack
	pointResolveBefore  = "device.resolve.before-question"
	pointResolveAfter   = "device.resolve.after-answer"
	pointResolvedBefore = "device.resolved.before-commit"
	pointResolvedAfter  = "device.resolved.after-commit"
	pointAckBefore      = "device.ack.before-publish"
	pointAckAfter       = "device.ack.after-publish"
	pointPubackBefore   = "device.puback.before"
	pointPubackAfter    = "device.puback.after"
	pointHelloBefore    = "device.hello.before"
	pointWelcomeBefore  = "device.welcome.before-commit"
	pointWelcomeAfter   = "device.welcome.after-commit"
)

// Failpoints lists them for the tests that kill the daemon at each.
func Failpoints() []string {
	return []string{
		pointStartBefore, pointStartAfter, pointReceivedBefore, pointReceivedAfter, pointPrintBefore,
		pointPrintAfter, pointPaper, pointResultBefore, pointResultAfter, pointResolveBefore,
		pointResolveAfter, pointResolvedBefore, pointResolvedAfter, pointAckBefore, pointAckAfter,
		pointPubackBefore, pointPubackAfter, pointHelloBefore, pointWelcomeBefore, pointWelcomeAfter,
	}
}

// atCommit passes the failpoints of what a batch is about.
func atCommit(batch []item, after bool) {
	if !failpoint.Enabled {
		return
	}
	pick := func(before, behind string) {
		if after {
			before = behind
		}
		failpoint.Here(before)
	}
	for _, it := range batch {
		switch it.event.(type) {
		case core.Started:
			pick(pointStartBefore, pointStartAfter)
		case core.TicketArrived:
			pick(pointReceivedBefore, pointReceivedAfter)
		case core.PrintDone:
			pick(pointResultBefore, pointResultAfter)
		case core.Resolved:
			pick(pointResolvedBefore, pointResolvedAfter)
		case core.Welcomed:
			pick(pointWelcomeBefore, pointWelcomeAfter)
		}
	}
}
