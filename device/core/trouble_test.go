package core_test

import (
	"fmt"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/session"
)

func TestPoisonIsPrintedPlainly(t *testing.T) {
	t.Run("a panic at once", func(t *testing.T) {
		k := opened(t)
		k.lay = func(core.Sheet) (document.Document, error) { panic("layout") }
		k.arrives(ticket("1/1@grill"))
		k.wantPaper("1/1@grill PLAIN")
	})
	t.Run("an error at once", func(t *testing.T) {
		k := opened(t)
		k.lay = func(core.Sheet) (document.Document, error) { return document.Document{}, errTest }
		k.arrives(ticket("1/1@grill"))
		k.wantPaper("1/1@grill PLAIN")
	})
	t.Run("the third start that tried it", func(t *testing.T) {
		k := opened(t)
		k.printer("kitchen", session.HoldPaper)
		k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
		for i := range core.PlainAt {
			k.crash()
			k.forget()
			k.printer("kitchen", session.HoldNone)
			if i > 0 { // The last process died with the ticket at the printer.
				k.resolve(session.Resolution{})
			}
		}
		k.printed(session.Fenced)
		k.wantPaper("1/1@grill DUPLICATE PLAIN", "2/1@grill")
	})
	t.Run("a start that never tried it is no start to blame", func(t *testing.T) {
		k := opened(t)
		k.printer("kitchen", session.HoldPaper)
		k.arrives(ticket("1/1@grill"))
		for range core.RefuseAt {
			k.crash()
		}
		k.forget()
		k.printer("kitchen", session.HoldNone)
		k.wantPaper("1/1@grill")
	})
	t.Run("plain text that fails too is refused", func(t *testing.T) {
		k := opened(t)
		k.lay = func(core.Sheet) (document.Document, error) { panic("layout") }
		k.plain = func(core.Sheet, string) document.Document { panic("plain") }
		k.arrives(ticket("1/1@grill"))
		k.wantAcks("stored 1/1@grill", "refused 1/1@grill poison permanent")
		k.wantPaper()
	})
	t.Run("stopping on purpose is no start to blame", func(t *testing.T) {
		k := opened(t)
		k.printer("kitchen", session.HoldPaper)
		k.arrives(ticket("1/1@grill"))
		for range core.RefuseAt {
			k.do(core.Stopping{})
			k.crash()
		}
		k.forget()
		k.printer("kitchen", session.HoldNone)
		k.wantPaper("1/1@grill")
	})
}

// A drawing may be what ended the program: the start after it spells.
func TestAPlainTicketThatEndsTheProgramIsDrawnOnce(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill"))
	for i := range core.PlainAt + 1 {
		k.crash()
		k.forget()
		if i == core.PlainAt {
			k.unspelt = escpos.ErrTooLong // Whoever draws now is told so.
		}
		k.printer("kitchen", session.HoldNone)
		if i > 0 {
			k.resolve(session.Resolution{})
		}
	}
	k.printed(session.Fenced)
	k.wantPaper("1/1@grill DUPLICATE PLAIN")
}

// A paper that lacks a word could be cooked by: it is refused, and only what must come out whatever
// it says is printed with something visible in the word's place.
func TestATicketWithWordsThePrinterHasNoLettersForIsRefused(t *testing.T) {
	unspelt := fmt.Errorf("block 3: %w", escpos.ErrUnprintable)
	t.Run("a ticket", func(t *testing.T) {
		k := opened(t)
		k.unspelt = unspelt
		k.arrives(ticket("1/1@grill"))
		k.wantAcks("stored 1/1@grill", "refused 1/1@grill unprintable permanent")
		k.wantPaper()
		k.unspelt = nil
		k.arrives(ticket("2/1@grill"))
		k.wantPaper("2/1@grill")
	})
	t.Run("a ticket whose layout failed too", func(t *testing.T) {
		k := opened(t)
		k.unspelt = unspelt
		k.lay = func(core.Sheet) (document.Document, error) { panic("layout") }
		k.arrives(ticket("1/1@grill"))
		k.wantPaper("1/1@grill PLAIN")
	})
	t.Run("a plain ticket with code points for words", func(t *testing.T) {
		k := opened(t)
		k.unspelt, k.replaced = unspelt, []rune("花")
		k.lay = func(core.Sheet) (document.Document, error) { panic("layout") }
		k.arrives(ticket("1/1@grill"))
		k.wantAcks("stored 1/1@grill", "refused 1/1@grill unprintable permanent")
		k.wantPaper()
	})
	t.Run("a slip", func(t *testing.T) {
		k := opened(t)
		k.unspelt, k.replaced = unspelt, []rune("花")
		k.do(core.CommandArrived{Command: wire.Command{ID: "c1", Do: "test-print"}, Handle: 4})
		k.wantPaper("test")
	})
}

func TestWithoutMemoryTicketsAreRefusedForNow(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	last := k.acks[len(k.acks)-1].N
	k.forget()
	t.Logf("# the commit of 2/1 fails: its effects never leave, and it is repeated to be refused")
	e := ticket("2/1@grill")
	e.Handle = 50
	_, _ = k.decide(e)
	k.do(core.StorageLost{}, e)
	k.wantAcks("refused 2/1@grill storage")
	if k.light != core.LightAlarm || k.status.Degraded != "storage" {
		t.Fatalf("light %s, degraded %q", k.light, k.status.Degraded)
	}
	k.wantPaper("memoryless")
	t.Logf("# the journal is opened again; the paper of 1/1 is still a question")
	k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
	k.resolve(session.Resolution{Evidence: session.Fenced})
	if k.acks[0].N <= last {
		t.Fatalf("n %d after %d", k.acks[0].N, last)
	}
	k.arrives(e)
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill")
	if k.status.Degraded != "" {
		t.Fatal("still degraded")
	}
}

func TestNeverOpenedJournalAnswersUnderAVolatileIdentity(t *testing.T) {
	k := &kitchen{t: t, at: map[string]core.Print{}, asked: map[string]core.Resolve{}}
	k.m = core.New(k.config())
	for _, e := range []core.Event{
		core.StorageLost{}, core.Connected{Session: "s"},
		core.Welcomed{Welcome: wire.Welcome{Session: "s"}}, ticket("1/1@grill"),
	} {
		d := k.m.Step(k.now, e)
		if len(d.Write) != 0 {
			t.Fatalf("%T writes without a journal: %v", e, d.Write)
		}
		k.perform(d.Then)
	}
	k.acks = k.acks[len(k.acks)-1:]
	if a := k.acks[0]; a.Journal != core.VolatileJournal || a.Boot != 77 || a.N == 0 {
		t.Fatalf("ack %+v", a)
	}
	k.wantAcks("refused 1/1@grill storage")
}

func TestTicketOfAPrinterThatIsGoneIsHeldAndCallsPeople(t *testing.T) {
	k := opened(t, "kitchen", "bar")
	k.printer("bar", session.HoldPaper)
	k.arrives(ticket("1/1@bar", func(e *core.TicketArrived) { e.Ticket.Printer = "bar" }))
	t.Logf("# the configuration forgets the bar, and the daemon starts again")
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.forget()
	k.connect(0)
	k.wantAcks("held 1/1@bar absent")
	k.advance(core.AlarmGrace + time.Second)
	if k.light != core.LightAlarm {
		t.Fatalf("light %s, want an alarm", k.light)
	}
	k.recalls("1/1@bar", 1)
	if last := k.acks[len(k.acks)-1]; last.Outcome != wire.OutcomeRecalled {
		t.Fatalf("answer %+v, want recalled: the order moves to another printer", last)
	}
}

func TestOrderOfOneOrderIsToldOnPaper(t *testing.T) {
	pred := func(id string) func(*core.TicketArrived) {
		return func(e *core.TicketArrived) { e.Ticket.Pred = id }
	}
	k := opened(t)
	k.arrives(ticket("7/1@grill"), ticket("7/3@grill", pred("7/2@grill")),
		ticket("7/2@grill", pred("7/1@grill")))
	for range 3 {
		k.printed(session.Fenced)
	}
	k.wantPaper("7/1@grill", "7/3@grill missing 7/2@grill", "7/2@grill older than 3")
}

func TestTwoPrintersWorkIndependently(t *testing.T) {
	at := func(p string) func(*core.TicketArrived) {
		return func(e *core.TicketArrived) { e.Ticket.Printer = p }
	}
	k := opened(t, "hot", "bar")
	k.printer("hot", session.HoldPaper)
	k.arrives(ticket("1/1@grill", at("hot")), ticket("1/1@bar", at("bar")))
	k.wantPaper("1/1@bar")
	k.result("bar", session.Result{Started: true, Evidence: session.Fenced})
	k.printer("hot", session.HoldNone)
	k.wantPaper("1/1@grill")
}

func TestIdsAndContentsAreDroppedByLivedTimeOnly(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Fenced)
	k.connect(1 << 40)
	k.now.Wall = k.now.Wall.AddDate(50, 0, 0)
	k.advance(72 * time.Hour)
	if len(k.store.Content) != 0 {
		t.Fatalf("contents of %d days after 72 h, want none", len(k.store.Content))
	}
	if !k.store.Lookup("1/1@grill").Found {
		t.Fatal("the id is forgotten before it expires")
	}
	k.advance(31 * 24 * time.Hour)
	if len(k.store.Seen) != 0 {
		t.Fatalf("seen %v after 34 days", k.store.Seen)
	}
}

func TestTestPrintIsRepliedOnce(t *testing.T) {
	k := opened(t)
	c := core.CommandArrived{Command: wire.Command{ID: "c1", Do: "test-print"}, Handle: 4}
	k.do(c)
	k.do(c)
	k.wantPaper("test")
	k.printed(session.Confirmed)
	if len(k.replies) != 1 || !k.replies[0].OK || k.replies[0].Result["evidence"] != "confirmed" {
		t.Fatalf("replies %+v", k.replies)
	}
	k.do(core.CommandArrived{Command: wire.Command{ID: "c2", Do: "dance"}})
	if k.replies[1].OK || k.replies[1].Error != "not built yet: dance" {
		t.Fatalf("reply %+v", k.replies[1])
	}
}

func TestNumbersNeverRepeatWhileTheJournalComesAndGoes(t *testing.T) {
	k := opened(t)
	seen := map[wire.AckKey]bool{}
	for range 5 {
		e := ticket("1/1@grill")
		_, then := k.decide(core.StorageLost{}, e, e, e)
		k.perform(then)
		t.Logf("# the journal opens, and its first commit fails")
		k.decide(core.Started{State: k.store.Load(), KernelBoot: k.boot})
	}
	for range 2 * core.BlockN {
		_, then := k.decide(core.StorageLost{}, ticket("1/1@grill"))
		k.perform(then)
	}
	for _, a := range k.acks {
		if seen[a.Key()] {
			t.Fatalf("%+v was used before", a.Key())
		}
		seen[a.Key()] = true
	}
}
