package failpoint

// Names are all passages at which a program can be killed, in the order of a ticket's life. A test
// compares them with the calls of Here in the tree, so that the crash tests, which walk this list,
// forget none.
//
// broker.<command>.before-commit and .after-commit stand around the group commit that holds the
// command: before it nothing is durable, after it everything is and no answer or effect has left.
// device.<event>.before-commit and .after-commit are the same around the journal's commit.
var Names = []string{
	"broker.accept.before-commit",
	"broker.accept.after-commit",
	"broker.lease.before-commit",
	"broker.lease.after-commit",
	"broker.ticket.after-publish",
	"broker.hello.before-commit",
	"broker.hello.after-commit",
	"broker.ack.before-commit",
	"broker.ack.after-commit",
	"broker.advance.before-commit",
	"broker.advance.after-commit",
	"broker.redrive.before-commit",
	"broker.redrive.after-commit",
	"broker.made.before-commit",
	"broker.made.after-commit",
	"broker.cancel.before-commit",
	"broker.cancel.after-commit",

	"device.start.before-commit",
	"device.start.after-commit",
	"device.hello.before",
	"device.welcome.before-commit",
	"device.welcome.after-commit",
	"device.received.before-commit",
	"device.received.after-commit",
	"device.print.before-first-byte",
	"device.print.after-first-byte",
	"device.print.after-paper",
	"device.result.before-commit",
	"device.result.after-commit",
	"device.ack.before-publish",
	"device.ack.after-publish",
	"device.puback.before",
	"device.puback.after",
	"device.resolve.before-question",
	"device.resolve.after-answer",
	"device.resolved.before-commit",
	"device.resolved.after-commit",
	"device.recalled.before-commit",
	"device.recalled.after-commit",
	"device.clear.before-command",
	"device.clear.after-answer",
}

// Unreached are names that no door leads to yet, with the reason.
var Unreached = map[string]string{
	"device.recalled.before-commit": "recalls come of moves and cancellations, which come later",
	"device.recalled.after-commit":  "recalls come of moves and cancellations, which come later",
	"device.clear.before-command":   "cleared by a recall: TestARecallOfAPaperThatBegan kills there",
	"device.clear.after-answer":     "cleared by a recall: TestARecallOfAPaperThatBegan kills there",
}
