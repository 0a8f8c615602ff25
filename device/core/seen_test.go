package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

// attended is a kitchen that wants its tickets acknowledged.
func attended(t testing.TB, insist time.Duration, printers ...string) *kitchen {
	k := &kitchen{insist: insist, attended: true}
	k.begin(t, printers...)
	if len(printers) == 0 {
		printers = []string{"kitchen"}
	}
	for _, p := range printers {
		k.printer(p, session.HoldNone)
	}
	k.connect(0)
	k.forget()
	return k
}

// prints brings tickets to paper, one after the other.
func (k *kitchen) prints(tickets ...core.TicketArrived) {
	k.t.Helper()
	for _, e := range tickets {
		k.arrives(e)
		k.printed(session.Confirmed)
	}
	k.forget()
}

func (k *kitchen) presses(want int) {
	k.t.Helper()
	k.handle++
	k.seen = nil
	k.do(core.Button{Handle: k.handle})
	if !slices.Equal(k.seen, []int{want}) {
		k.t.Fatalf("a press told %v, want [%d]", k.seen, want)
	}
}

func of(kind wire.Kind) func(*core.TicketArrived) {
	return func(e *core.TicketArrived) { e.Kind = kind }
}

func TestAPressRaisesWhatWasPrintedSinceTheLastOneToSeenOnce(t *testing.T) {
	k := opened(t)
	k.prints(ticket("1/1@grill"), ticket("2/1@grill"))
	k.wantCommits(1, func() { k.presses(2) })
	k.wantAcks("printed 1/1@grill seen", "printed 2/1@grill seen")
	for _, id := range []string{"1/1@grill", "2/1@grill"} {
		if _, e, _ := k.store.Recorded(id); e != wire.EvidenceSeen {
			t.Errorf("%s is on disk as %s", id, e)
		}
	}
	k.wantCommits(0, func() { k.presses(0) })
	k.wantAcks()
	t.Log("# asked again, it says what is known now")
	k.arrives(ticket("1/1@grill", attempt(2)))
	k.wantAcks("duplicate 1/1@grill seen")
	t.Log("# what prints later is another press's")
	k.prints(ticket("3/1@grill"))
	k.presses(1)
	k.wantAcks("printed 3/1@grill seen")
}

func TestAPressRaisesAlsoWhatTheBrokerHadTheAnswerOf(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Fenced)
	last := k.acks[len(k.acks)-1].N
	k.connect(last) // The broker has it: its open record goes with the next commit.
	k.printer("kitchen", session.HoldCover)
	k.arrives(ticket("2/1@grill"))
	if _, open := k.store.Open[1]; open {
		t.Fatal("the ticket was not let go")
	}
	k.forget()
	k.wantCommits(1, func() { k.presses(1) })
	k.wantAcks("printed 1/1@grill seen")
	k.crash()
	t.Log("# the answer is lost: the next hello says it again, until the broker has it")
	k.connect(last)
	said := slices.IndexFunc(k.acks, func(a wire.Ack) bool {
		return a.Ticket == "1/1@grill" && a.Evidence == wire.EvidenceSeen
	})
	if said < 0 {
		t.Fatalf("acks %+v, want the seen one again", k.acks)
	}
	n := k.acks[said].N
	k.connect(n)
	k.printer("kitchen", session.HoldNone)
	k.printed(session.Confirmed)
	if known := k.store.Lookup("1/1@grill"); known.Record.Evidence != wire.EvidenceSeen ||
		k.store.Open[1].ID != "" {
		t.Errorf("record %+v, open %+v; want the record alone to know it", known.Record,
			k.store.Open[1])
	}
}

func TestAPressWithoutASessionIsToldAtTheNextHello(t *testing.T) {
	k := opened(t)
	k.prints(ticket("1/1@grill"))
	k.do(core.Disconnected{})
	k.presses(1)
	k.wantAcks()
	k.connect(1000)
	k.wantAcks("printed 1/1@grill seen")
}

func TestAPressSpeaksForNoOldPaperAndForTheNewestOnly(t *testing.T) {
	k := opened(t)
	k.prints(ticket("old/1@grill"))
	k.advance(core.SeenWithin - time.Second)
	for i := range core.SeenMax + 3 {
		k.prints(ticket(fmt.Sprintf("%d/1@grill", i)))
	}
	k.presses(core.SeenMax)
	if first := k.acks[0].Ticket; first != "3/1@grill" {
		t.Errorf("the oldest seen is %s, want 3/1@grill", first)
	}
	k.prints(ticket("late/1@grill"))
	k.advance(core.SeenWithin)
	k.presses(0)
}

func TestAPressSaysNothingOfPaperOfAnEarlierProcessOrOfNoPaper(t *testing.T) {
	k := opened(t)
	k.prints(ticket("1/1@grill"))
	k.crash()
	k.connect(0)
	k.printer("kitchen", session.HoldNone)
	k.arrives(ticket("2/1@grill")) // At the printer, and no paper yet.
	k.forget()
	k.presses(0)
	k.wantAcks()
	k.printed(session.Confirmed)
	k.wantAcks("printed 2/1@grill confirmed")
}

func TestAPressDoesNotVouchForPaperThatThePrinterCannotProve(t *testing.T) {
	k := attended(t, 20*time.Second)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Sent)
	k.prints(ticket("2/1@grill"))
	k.do(core.Button{Handle: 1})
	k.wantAcks("printed 2/1@grill seen")
	if k.seen[0] != 1 || k.light != core.LightReady {
		t.Errorf("seen %v, lamp %q", k.seen, k.light)
	}
	k.arrives(ticket("1/1@grill", attempt(2)))
	k.wantAcks("duplicate 1/1@grill sent")
	k.forget()
	k.advance(time.Minute)
	if len(k.sounds) > 0 {
		t.Errorf("it sounds on after the press: %v", k.sounds)
	}
}

func TestALongPressSeesNothing(t *testing.T) {
	k := opened(t)
	k.prints(ticket("1/1@grill"))
	k.wantCommits(0, func() { k.do(core.Button{Long: true}) })
	k.presses(1)
}

func TestAPressWithoutMemoryOnlySilences(t *testing.T) {
	k := opened(t)
	k.prints(ticket("1/1@grill"))
	k.do(core.StorageLost{})
	k.forget()
	k.presses(0)
	k.wantAcks()
	k.advance(10 * time.Minute)
	if len(k.sounds) > 0 {
		t.Errorf("sounds %v after the press", k.sounds)
	}
}

func TestAnIdThatWasForgottenIsNotSeen(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", func(e *core.TicketArrived) { e.Ticket.Expires = 60 }))
	k.printed(session.Confirmed)
	k.connect(k.acks[len(k.acks)-1].N)
	k.prints(ticket("2/1@grill"))
	k.advance(2 * time.Minute)
	k.presses(1)
	k.wantAcks("printed 2/1@grill seen")
}

func TestThePatternIsRepeatedUntilThePress(t *testing.T) {
	k := attended(t, 20*time.Second)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Confirmed)
	k.advance(time.Minute)
	if want := slices.Repeat([]core.Pattern{core.SoundNew}, 4); !slices.Equal(k.sounds, want) {
		t.Errorf("sounds %v in a minute, want %v", k.sounds, want)
	}
	k.presses(1)
	k.forget()
	k.advance(time.Hour)
	if len(k.sounds) > 0 {
		t.Errorf("sounds %v after the press", k.sounds)
	}
}

func TestTheRepeatedPatternEndsByItselfAfterTenMinutes(t *testing.T) {
	k := attended(t, time.Minute)
	k.prints(ticket("1/1@grill"))
	k.advance(3 * time.Hour)
	if got, want := len(k.sounds), int(core.InsistFor/time.Minute)-1; got != want {
		t.Errorf("repeated %d times, want %d", got, want)
	}
}

func TestAVoidKeepsItsPatternAmongNewTicketsOfAllPrinters(t *testing.T) {
	k := attended(t, 20*time.Second, "hot", "bar")
	at := func(printer string) func(*core.TicketArrived) {
		return func(e *core.TicketArrived) { e.Ticket.Printer = printer }
	}
	out := func(printer string, e core.TicketArrived) {
		k.arrives(e)
		k.result(printer, session.Result{Started: true, Evidence: session.Confirmed})
	}
	out("hot", ticket("1/2@grill", of(wire.KindChange), at("hot")))
	k.advance(5 * time.Second)
	out("bar", ticket("2/2@bar", of(wire.KindVoid), at("bar")))
	for i := range 30 { // New tickets come faster than the pause, and must not put the void off.
		k.advance(4 * time.Second)
		out("hot", ticket(fmt.Sprintf("n%d/1@grill", i), at("hot")))
	}
	voids := 0
	for _, p := range k.sounds {
		if p == core.SoundVoid {
			voids++
		}
	}
	if voids < 6 {
		t.Errorf("the void sounded %d times in two minutes, want at least 6: %v", voids, k.sounds)
	}
	k.presses(32)
}

func TestWithoutTheWishNoPatternIsRepeated(t *testing.T) {
	k := attended(t, 0)
	k.prints(ticket("1/1@grill"))
	k.advance(time.Hour)
	if len(k.sounds) > 0 {
		t.Errorf("sounds %v", k.sounds)
	}
}

func TestTheLampShowsWorkThatWaits(t *testing.T) {
	want := func(k *kitchen, l core.Light) {
		t.Helper()
		if k.light != l {
			t.Errorf("the lamp shows %q, want %q", k.light, l)
		}
	}
	k := attended(t, 0)
	want(k, core.LightReady)
	k.arrives(ticket("1/1@grill"))
	want(k, core.LightReady) // It prints: nobody has to do anything.
	k.arrives(ticket("2/1@grill"))
	want(k, core.LightWaiting)
	k.printed(session.Confirmed)
	k.printed(session.Confirmed)
	want(k, core.LightWaiting)
	k.do(core.Button{})
	want(k, core.LightReady)
	t.Log("# paper that nobody will press for any more waits no longer")
	k.prints(ticket("3/1@grill"))
	want(k, core.LightWaiting)
	k.advance(core.SeenWithin)
	want(k, core.LightReady)
	t.Log("# what is worse shows first")
	k.prints(ticket("4/1@grill"))
	k.do(core.Disconnected{})
	want(k, core.LightOffline)
	k.printer("kitchen", session.HoldPaper)
	want(k, core.LightHeld)
	k.arrives(ticket("5/1@grill"))
	want(k, core.LightAlarm)
	t.Log("# a kitchen without a button is not asked to press")
	plain := opened(t)
	plain.prints(ticket("1/1@grill"))
	want(plain, core.LightReady)
}
