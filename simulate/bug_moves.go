package simulate

import (
	"encoding/json"
	"slices"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/device/core"
	"chit/device/wire"
)

// The bugs of moves, recalls and old tickets.
const (
	BugRecalledWrongly Bug = "recalled-of-older-attempt" // a recall is answered, and it prints on
	BugMovedUnasked    Bug = "moved-without-recall"      // the old device is not told
	BugAnyAnswer       Bug = "recall-answered-by-any"    // another device's answer counts
	BugOldLease        Bug = "move-keeps-lease"          // the lease stays the old device's
	BugReprints        Bug = "reprint-after-recall"      // what is at the printer is not taken back
	BugNoticeUnsaid    Bug = "ignore-above-unsaid"       // nor does a paper say so
	BugRecallForgotten Bug = "recall-forgotten"          // a start does not load open recalls
	BugStaleUnasked    Bug = "stale-unasked"             // old tickets print like others
	BugLateUnvoided    Bug = "late-paper-unvoided"       // paper of a cancelled ticket is not heard of
	BugMovedUnmarked   Bug = "moved-unmarked"            // moved alone, whatever the recall came to
)

// moveBugs lists those that are seen to be found.
func moveBugs() []Bug {
	return []Bug{BugRecalledWrongly, BugMovedUnasked, BugAnyAnswer, BugOldLease, BugReprints,
		BugNoticeUnsaid, BugRecallForgotten, BugStaleUnasked, BugMovedUnmarked}
}

// recalledWrongly says recalled of a ticket that goes on to print.
func (d *device) recalledWrongly(a wire.Ack) wire.Ack {
	r, ok := d.w.judge.calls[d.onCard(a.Ticket)]
	if ok && (a.Outcome == wire.OutcomeStored || a.Outcome == wire.OutcomeHeld) {
		a.Outcome, a.Reason, a.Evidence = wire.OutcomeRecalled, r.ID, wire.EvidenceNone
	}
	return a
}

// recallUnheard is true for a recall of what is at the printer, under the bug.
func (d *device) recallUnheard(r wire.Recall) bool {
	return d.w.options.Bug == BugReprints && slices.ContainsFunc(d.presses, func(p *press) bool {
		in, ok := d.journal.Intents[p.name]
		return ok && d.journal.Open[in.Arrival].ID == r.Ticket
	})
}

// misheard is what the broker makes of a command under a bug.
func (b *broker) misheard(c entity.Command) entity.Command {
	switch b.w.options.Bug {
	case BugSessionEndCounts:
		return b.countSessionEnd(c)
	case BugAnyAnswer, BugLateUnvoided:
	default:
		return c
	}
	said, ok := c.(delivery.Acknowledge)
	if !ok {
		return c
	}
	d, _, err := delivery.Load(b.disk, said.Tenant, said.Ack.Ticket)
	switch {
	case err != nil:
		return c
	case b.w.options.Bug == BugAnyAnswer:
		return otherAnswer(d, said)
	case d.State == delivery.Cancelled && said.Ack.Outcome == wire.OutcomePrinted:
		said.Ack.Outcome, said.Ack.Evidence = wire.OutcomeStored, wire.EvidenceStored
	}
	return said
}

// otherAnswer takes what any device says for the answer of the one that was asked.
func otherAnswer(d delivery.Delivery, said delivery.Acknowledge) delivery.Acknowledge {
	for _, r := range d.Recalls {
		for _, h := range d.Handed {
			if r.Device == said.Device || h.Device != r.Device {
				continue
			}
			said.Device, said.Ack.Device, said.Ack.Journal = r.Device, r.Device, h.Journal
			said.Ack.N, said.Ack.Attempt = h.Heard.N+1, r.Attempt
			said.Ack.Outcome, said.Ack.Reason = wire.OutcomeRecalled, r.ID
			return said
		}
	}
	return said
}

// misstored is a batch as a bug writes it.
func (b *broker) misstored(batch []entity.Commit) []entity.Commit {
	switch b.w.options.Bug {
	case BugLostRow:
		return loseRows(batch)
	case BugCopiesUnseen:
		return forgetCopies(batch)
	case BugOldLease:
		return rewrite(batch, keepLease)
	case BugMovedUnasked:
		return rewrite(batch, unask)
	}
	return batch
}

// keepLease leaves a moved ticket's lease with who had it first.
func keepLease(d *delivery.Delivery) {
	if d.Lease != nil && d.MovedTo != "" && len(d.Handed) > 0 {
		d.Lease.Device = d.Handed[0].Device
	}
}

// unask takes the recalls out of a delivery.
func unask(d *delivery.Delivery) { d.Recalls = nil }

// rewrite changes the deliveries of a batch.
func rewrite(batch []entity.Commit, change func(*delivery.Delivery)) []entity.Commit {
	batch = slices.Clone(batch)
	for i := range batch {
		batch[i].Changes = slices.Clone(batch[i].Changes)
		for c, one := range batch[i].Changes {
			var d delivery.Delivery
			if one.Key.Kind != delivery.KindDelivery || json.Unmarshal(one.Data, &d) != nil {
				continue
			}
			change(&d)
			data, err := json.Marshal(d)
			if err != nil {
				panic("simulate: " + err.Error())
			}
			batch[i].Changes[c].Data = data
		}
	}
	return batch
}

// mistold is an effect as a bug lets it out.
func (b Bug) mistold(effects []entity.Effect) []entity.Effect {
	if b != BugMovedUnmarked && b != BugMovedUnasked {
		return effects
	}
	effects = slices.Clone(effects)
	for i, effect := range effects {
		switch e := effect.(type) {
		case delivery.Send:
			moved := slices.Contains(e.Message.Marks, wire.MarkMoved)
			if b == BugMovedUnmarked && moved {
				e.Message.Marks = slices.DeleteFunc(slices.Clone(e.Message.Marks),
					func(m wire.Mark) bool { return m == wire.MarkPossibleDuplicate })
				effects[i] = e
			}
		case delivery.Changed:
			if b == BugMovedUnasked {
				unask(&e.Delivery)
				effects[i] = e
			}
		}
	}
	return effects
}

// unsaid is a sheet without what it should say of the papers above it.
func (b Bug) unsaid(s core.Sheet) core.Sheet {
	if b == BugNoticeUnsaid {
		s.Above, s.AboveMore = nil, 0
	}
	return s
}
