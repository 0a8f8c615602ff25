package service

import (
	"slices"
	"strings"
	"testing"
	"time"

	"chit/device/wire"
	"chit/printer/virtual"
)

// beer is a ticket of many items, so that a printer can run out of paper within it.
func (k *kitchen) beer(order, number string, items int) {
	k.t.Helper()
	c := wire.Content{ID: order + "/1", Kitchen: "main", Station: "grill", Kind: wire.KindNew,
		Order: order, PlacedAt: "2026-12-01T12:00:00Z"}
	for range items {
		c.Items = append(c.Items, wire.Item{Quantity: 2, Name: "beer for " + order})
	}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		k.t.Fatal(err)
	}
	payload, err := k.phone.broker.SignTicket(wire.Ticket{
		ID: order + "/1@grill", Source: "chit/" + k.tenant, Time: "2026-12-01T12:00:00Z", Data: data,
		Attempt: 1, Lease: 30_000, Expires: 30 * 86400, Printer: "main", Station: "grill",
		Number: number,
	})
	k.deliver(wire.LeafTicket, payload, err)
}

func (k *kitchen) recall(order, reason, to string) {
	k.t.Helper()
	payload, err := k.phone.broker.SignRecall(wire.Recall{ID: "rc-" + order,
		Ticket: order + "/1@grill", Attempt: 1, Reason: reason, MovedTo: to})
	k.deliver(wire.LeafRecall, payload, err)
}

// held waits until the printer said why it stands still.
func (k *kitchen) held(why ...string) {
	k.t.Helper()
	k.phone.until("printer held: "+strings.Join(why, ", "), func() bool {
		return slices.ContainsFunc(k.phone.status.Printers, func(p wire.PrinterStatus) bool {
			return slices.Contains(why, p.Held)
		})
	})
}

// printed is all text on paper, cut or hanging, in capitals and on one line.
func (k *kitchen) printed() string {
	text := ""
	for _, s := range k.printer.Sheets() {
		text += s.Text() + " "
	}
	pending, err := k.printer.Pending()
	if err != nil {
		k.t.Fatal(err)
	}
	text += pending.Text()
	return strings.ToUpper(strings.Join(strings.Fields(text), " "))
}

// midway runs out of paper in the fifth line of a ticket of 30 items, and recalls it.
func midway(t *testing.T, faults ...string) *kitchen {
	t.Helper()
	k := newKitchen(t)
	k.runsOut(faults...)
	return k
}

func (k *kitchen) runsOut(faults ...string) {
	t := k.t
	t.Helper()
	for _, text := range append(faults, "paper-out:after=12") {
		f, err := virtual.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.printer.Raise(f); err != nil {
			t.Fatal(err)
		}
	}
	k.beer("a1", "41", 30)
	k.held("paper_out")
}

func TestARecalledTicketStopsInThePrinterAndTheNextPaperSaysSo(t *testing.T) {
	for _, c := range []struct{ reason, to, notice string }{
		{"moved", "bar", "41 WAS MOVED TO BAR, IGNORE IF ABOVE"},
		{"cancelled", "", "41 WAS CANCELLED, IGNORE IF ABOVE"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			k := midway(t)
			before := strings.Count(k.printed(), "BEER FOR A1")
			k.recall("a1", c.reason, c.to)
			k.beer("a2", "42", 1)
			k.cleared()
			if err := k.printer.Clear(virtual.PaperOut); err != nil {
				t.Fatal(err)
			}
			k.phone.untilSaid("refused a1/1@grill", "printed a2/1@grill")
			text := k.printed()
			if n := strings.Count(text, "BEER FOR A1"); n != before || n == 0 || n > 12 {
				t.Errorf("%d items on paper, %d before it was cleared:\n%s", n, before, text)
			}
			above, next := strings.Index(text, c.notice), strings.Index(text, "BEER FOR A2")
			if above < 0 || above > next || !strings.Contains(text[:above], "MAY BE INCOMPLETE") {
				t.Errorf("the notice is missing or late:\n%s", text)
			}
			if strings.Count(text, "IGNORE IF ABOVE") != 1 {
				t.Errorf("the notice is said more than once:\n%s", text)
			}
		})
	}
}

// cleared waits until the printer has forgotten the rest.
func (k *kitchen) cleared() {
	k.t.Helper()
	const polls = 64 // bytes of questions, which a printer without paper keeps too
	late := time.After(patience)
	for again := time.NewTicker(time.Millisecond); ; <-again.C {
		rest := 0
		read := func(p *virtual.Printer, _ time.Time) { rest = p.Buffered() }
		if err := k.printer.Do(read); err != nil {
			k.t.Fatal(err)
		}
		if rest < polls {
			again.Stop()
			return
		}
		select {
		case <-late:
			k.t.Fatalf("the printer still holds %d bytes", rest)
		default:
		}
	}
}

// A device that dies between recall and paper says the same after its restart.
func TestARecallOutlivesARestartOfTheDevice(t *testing.T) {
	k := midway(t)
	k.recall("a1", "moved", "bar")
	k.cleared()
	k.stop()
	k.start()
	k.held("paper_out")
	if err := k.printer.Clear(virtual.PaperOut); err != nil {
		t.Fatal(err)
	}
	k.phone.untilSaid("refused a1/1@grill")
	k.papers(1)
	text := k.printed()
	if !strings.Contains(text, "41 WAS MOVED TO BAR, IGNORE IF ABOVE") ||
		strings.Count(text, "BEER FOR A1") > 12 {
		t.Errorf("paper:\n%s", text)
	}
}

// A unit that cannot clear prints the rest, whole, and the answer says so: nothing is to be
// ignored.
func TestAUnitThatCannotClearTellsThatThePaperCameOut(t *testing.T) {
	k := midway(t, "no-clear")
	k.recall("a1", "moved", "bar")
	k.phone.until("the second answer", func() bool { return len(k.phone.acks) > 1 })
	k.beer("a2", "42", 1)
	if err := k.printer.Clear(virtual.PaperOut); err != nil {
		t.Fatal(err)
	}
	k.phone.untilSaid("printed a1/1@grill", "printed a2/1@grill")
	text := k.printed()
	if strings.Count(text, "BEER FOR A1") != 30 || strings.Contains(text, "IGNORE") {
		t.Errorf("paper:\n%s", text)
	}
}

// A connection that was lost cannot be cleared: nothing is printed again, and the notice is.
func TestATicketRecalledAfterItsConnectionWasLostIsNotPrintedAgain(t *testing.T) {
	k := midway(t)
	if err := k.printer.Raise(virtual.Fault{Name: virtual.Drop}); err != nil {
		t.Fatal(err)
	}
	k.held("absent")
	k.recall("a1", "moved", "bar")
	k.cleared()
	if err := k.printer.Clear(virtual.PaperOut); err != nil {
		t.Fatal(err)
	}
	k.phone.untilSaid("refused a1/1@grill")
	k.beer("a2", "42", 1)
	k.phone.untilSaid("printed a2/1@grill")
	text := k.printed()
	if strings.Count(text, "BEER FOR A1") > 12 ||
		!strings.Contains(text, "41 WAS MOVED TO BAR, IGNORE IF ABOVE") {
		t.Errorf("paper:\n%s", text)
	}
}
