package service

import (
	"chit/device/core"
	"chit/failpoint"
)

// beforeCommit passes the failpoints of what a batch is about: nothing of it is on disk.
func beforeCommit(batch []item) {
	if !failpoint.Enabled {
		return
	}
	for _, it := range batch {
		switch it.event.(type) {
		case core.Started:
			failpoint.Here("device.start.before-commit")
		case core.Welcomed:
			failpoint.Here("device.welcome.before-commit")
		case core.TicketArrived:
			failpoint.Here("device.received.before-commit")
		case core.PrintDone:
			failpoint.Here("device.result.before-commit")
		case core.Resolved:
			failpoint.Here("device.resolved.before-commit")
		case core.Recalled:
			failpoint.Here("device.recalled.before-commit")
		}
	}
}

// afterCommit is behind the commit of a batch and before all its effects.
func afterCommit(batch []item) {
	if !failpoint.Enabled {
		return
	}
	for _, it := range batch {
		switch it.event.(type) {
		case core.Started:
			failpoint.Here("device.start.after-commit")
		case core.Welcomed:
			failpoint.Here("device.welcome.after-commit")
		case core.TicketArrived:
			failpoint.Here("device.received.after-commit")
		case core.PrintDone:
			failpoint.Here("device.result.after-commit")
		case core.Resolved:
			failpoint.Here("device.resolved.after-commit")
		case core.Recalled:
			failpoint.Here("device.recalled.after-commit")
		}
	}
}
