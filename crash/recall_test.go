package crash

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// TestARecallOfAPaperThatBeganIsKeptOverADeath kills the device at each step of a recall whose
// ticket hangs half printed in a printer without paper: after its restart the rest does not come
// out, nothing prints twice, and the next paper says where the ticket went.
func TestARecallOfAPaperThatBeganIsKeptOverADeath(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"device.recalled.before-commit", "device.recalled.after-commit",
		"device.clear.before-command", "device.clear.after-answer",
		"device.resolved.before-commit", "device.resolved.after-commit",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			prompt(bounded(t), t).recallMidway(point)
		})
	}
}

func (p *prompter) recallMidway(point string) {
	p.Helper()
	p.must(p.printer.Raise(virtual.Fault{Name: virtual.PaperOut, After: 8, HasAfter: true}))
	c := order("half", 1, "grill", wire.KindNew)
	for range 30 {
		c.Items = append(c.Items, wire.Item{Quantity: 1, Name: "one of many"})
	}
	id := c.ID + "@grill"
	p.publish(wire.LeafTicket, p.message(c, 1, nil))
	p.await("the printer to stand still", func() bool { return p.said(id, wire.OutcomeHeld) > 0 })
	raw, err := p.signer.SignRecall(wire.Recall{ID: "recall-half", Ticket: id, Attempt: 1,
		Reason: "moved", Device: p.id, MovedTo: "bar"})
	p.must(err)
	arm(p.T, p.device, point, 1)
	p.publish(wire.LeafRecall, raw)
	if strings.HasPrefix(point, "device.resolved") {
		p.must(p.printer.Clear(virtual.PaperOut)) // The question waits for the printer.
	}
	die(p.ctx, p.T, p.device, point)
	p.again()
	p.publish(wire.LeafRecall, raw) // Until it is answered.
	if !strings.HasPrefix(point, "device.resolved") {
		p.await("the printer to be heard of", func() bool { return p.said(id, wire.OutcomeHeld) > 1 })
		p.emptied()
		p.must(p.printer.Clear(virtual.PaperOut))
	}
	p.await("the recall to be answered", func() bool {
		return p.said(id, wire.OutcomeRefused, wire.OutcomePrinted) > 0
	})
	next := order("next", 1, "grill", wire.KindNew)
	p.publish(wire.LeafTicket, p.message(next, 1, nil))
	refused := false
	p.await("the next paper", func() bool {
		refused = p.said(id, wire.OutcomeRefused) > 0
		return p.said(next.ID+"@grill", wire.OutcomePrinted) > 0
	})
	text := ""
	for _, s := range p.printer.Sheets() {
		text += strings.Join(strings.Fields(s.Text()), " ") + "\n"
	}
	if refused != strings.Contains(text, "WAS MOVED TO BAR, IGNORE IF ABOVE") ||
		strings.Contains(text, "POSSIBLE DUPLICATE") {
		p.Errorf("refused %v, paper:\n%s", refused, text)
	}
	if n := strings.Count(text, "one of many"); refused && n >= 30 {
		p.Errorf("%d items came out of a ticket that was taken back:\n%s", n, text)
	}
}

// emptied waits until the printer holds no more than questions.
func (p *prompter) emptied() {
	p.Helper()
	const questions = 64
	for again := time.NewTicker(10 * time.Millisecond); ; {
		rest := 0
		p.must(p.printer.Do(func(v *virtual.Printer, _ time.Time) { rest = v.Buffered() }))
		if rest < questions {
			again.Stop()
			return
		}
		select {
		case <-again.C:
		case <-p.ctx.Done():
			p.Fatalf("the printer still holds %d bytes", rest)
		}
	}
}
