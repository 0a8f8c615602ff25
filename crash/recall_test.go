package crash

import (
	"fmt"
	"testing"

	"chit/device/wire"
	"chit/printer/virtual"
)

// TestARecallIsKeptOverADeath kills the device around the commit of a recall: what was recalled
// before its paper began does not print, however often the device dies.
func TestARecallIsKeptOverADeath(t *testing.T) {
	t.Parallel()
	p := prompt(bounded(t), t)
	var kept []string
	for round := range max(3, *rounds) {
		for _, point := range []string{"device.recalled.before-commit", "device.recalled.after-commit"} {
			name := fmt.Sprintf("r%d%s", round, point[len("device.recalled."):len(point)-len("-commit")])
			kept = append(kept, p.recall(point, name))
		}
	}
	p.await("paper of what was not recalled", func() bool {
		for _, id := range kept {
			if p.said(id, wire.OutcomePrinted) == 0 {
				return false
			}
		}
		return true
	})
	p.only(kept...)
}

// recall lets two tickets wait for paper, recalls the second and kills the device there. It returns
// the id of the first, which is still owed.
func (p *prompter) recall(point, name string) (kept string) {
	p.Helper()
	p.must(p.printer.Raise(virtual.Fault{Name: virtual.PaperOut}))
	first := order(name+"a", 1, "grill", wire.KindNew)
	second := order(name+"b", 1, "grill", wire.KindNew)
	kept, recalled := first.ID+"@grill", second.ID+"@grill"
	p.publish(wire.LeafTicket, p.message(first, 1, nil))
	p.publish(wire.LeafTicket, p.message(second, 1, nil))
	p.await("both to be stored", func() bool {
		return p.said(kept, wire.OutcomeStored, wire.OutcomeHeld) > 0 &&
			p.said(recalled, wire.OutcomeStored, wire.OutcomeHeld) > 0
	})
	message := wire.Recall{ID: "recall-" + name, Ticket: recalled, Attempt: 1, Reason: "moved",
		Device: p.id, MovedTo: "bar"}
	raw, err := p.signer.SignRecall(message)
	p.must(err)
	arm(p.T, p.device, point, 1)
	p.publish(wire.LeafRecall, raw)
	die(p.ctx, p.T, p.device, point)
	p.again()
	p.publish(wire.LeafRecall, raw) // Until it is answered.
	p.await("the recall to be answered", func() bool {
		return p.said(recalled, wire.OutcomeRecalled) > 0
	})
	p.must(p.printer.Clear(virtual.PaperOut))
	p.await("paper of "+kept, func() bool { return p.said(kept, wire.OutcomePrinted) > 0 })
	return kept
}
