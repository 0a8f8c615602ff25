package crashdisk_test

import (
	"slices"
	"testing"

	"chit/crashdisk"
	"chit/device/core"
	"chit/device/wire"
	"chit/printer/escpos"
)

// The controls: each is a rig in which promises must break, or it would not see them broken.
func TestTheRigSeesAJournalThatDoesNotFlush(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: journalName, wrong: noSync})
}

func TestTheRigSeesAStoreThatDoesNotFlush(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: storeName, wrong: noSync})
}

func TestTheRigSeesADeviceThatPromisesTooEarly(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: journalName, wrong: hasty})
}

func TestTheRigSeesABrokerThatPromisesTooEarly(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: storeName, wrong: hasty})
}

func TestTheRigSeesADiskThatLiesToTheJournal(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: journalName, deaf: true})
}

func TestTheRigSeesADiskThatLiesToTheStore(t *testing.T) {
	t.Parallel()
	fail(t, exam{workload: storeName, deaf: true})
}

// controlCuts are the cuts of a control, of which controlBroken at least must break a promise. Two
// in three do, or more.
const (
	controlCuts   = 30
	controlBroken = 10
)

func fail(t *testing.T, e exam) {
	t.Helper()
	e.noBirths = true
	r := newRun(t, e)
	r.life(controlCuts)
	if len(r.broken) < controlBroken {
		t.Fatalf("%d of %d states broke a promise, want %d at least: the rig does not see", len(r.broken),
			r.states, controlBroken)
	}
	t.Logf("seen: %d of %d broken, such as: %v", len(r.broken), r.states, r.broken[0].err)
}

// TestTheJudgeSeesEveryBrokenPromiseOfADevice tells the judge of promises that nobody made, and so
// nobody kept, one kind at a time.
func TestTheJudgeSeesEveryBrokenPromiseOfADevice(t *testing.T) {
	t.Parallel()
	r := newRun(t, exam{workload: journalName, noBirths: true})
	r.history()
	var last wire.Ack
	var hello born
	for _, f := range r.past {
		if f.Ack != nil && f.Ack.Outcome == wire.OutcomeStored {
			last = *f.Ack
		}
		if f.Born != nil {
			hello = *f.Born
		}
	}
	if last.Ticket == "" {
		t.Fatal("the workload promised nothing")
	}
	ack := func(change func(*wire.Ack)) fact {
		a := last
		change(&a)
		return fact{Ack: &a}
	}
	unknown := "l0-99/1@grill"
	r.forge(map[string]fact{
		"an n beyond the block": ack(func(a *wire.Ack) { a.N += 2 * core.BlockN }),
		"a later boot":          ack(func(a *wire.Ack) { a.Boot += 100 }),
		"another journal":       {Born: &born{Journal: "other", Boot: hello.Boot, N: hello.N}},
		"a ticket that is gone": ack(func(a *wire.Ack) { a.Ticket = unknown }),
		"other content":         ack(func(a *wire.Ack) { a.Digest = wire.Digest(nil) }),
		"an attempt recalled": ack(func(a *wire.Ack) {
			a.Outcome, a.Evidence, a.Attempt = wire.OutcomeExpired, "", 1000
		}),
		"better evidence": ack(func(a *wire.Ack) {
			a.Outcome, a.Evidence, a.Attempt = wire.OutcomePrinted, wire.EvidenceSeen, 1000
		}),
		"paper of nothing": {Paper: &paper{Printer: "hot", Ticket: unknown, Token: escpos.TokenOf(9)}},
	})
}

// TestTheJudgeSeesEveryBrokenPromiseOfABroker is the same for the store.
func TestTheJudgeSeesEveryBrokenPromiseOfABroker(t *testing.T) {
	t.Parallel()
	r := newRun(t, exam{workload: storeName, noBirths: true})
	r.history()
	var f fact
	for _, one := range r.past {
		if one.Ticket != "" {
			f.Ticket, f.Digest = one.Ticket, one.Digest
		}
		if one.Sent != nil {
			f.Sent = one.Sent
		}
		if one.Welcomed != nil {
			f.Welcomed = one.Welcomed
		}
	}
	if f.Ticket == "" || f.Sent == nil || f.Welcomed == nil {
		t.Fatalf("the workload promised too little: %+v", f)
	}
	sending := func(change func(*sent)) fact {
		s := *f.Sent
		change(&s)
		return fact{Sent: &s}
	}
	greeting := *f.Welcomed
	greeting.Epoch += 1000
	r.forge(map[string]fact{
		"a ticket that is gone": {Ticket: "l0-web-1/1@grill", Digest: f.Digest},
		"other content":         {Ticket: f.Ticket, Digest: wire.Digest(nil)},
		"a later attempt":       sending(func(s *sent) { s.Attempt += 1000 }),
		"another number":        sending(func(s *sent) { s.Number += "0" }),
		"the attempt again":     sending(func(s *sent) { s.Device = "pi-3" }),
		"more evidence":         {Settled: &settled{Ticket: f.Ticket, Evidence: wire.EvidenceSeen}},
		"a dead letter":         {Dead: "l0-web-1/1@grill"},
		"a later session":       {Welcomed: &greeting},
	})
}

// historyEntries is long enough for every kind of promise.
const historyEntries = 1000

// history makes the base a disk that has seen much, and past what was promised on it.
func (r *run) history() {
	r.t.Helper()
	r.lives++
	r.base = r.fresh[0]
	log := r.record("l1", historyEntries)
	replay := crashdisk.NewReplay(slices.Clone(r.base), log)
	said := replay.Cut(crashdisk.Cut{At: len(log), Survival: crashdisk.Nothing}, r.image.Content)
	facts, err := readFacts(said)
	if err != nil {
		r.t.Fatal(err)
	}
	r.base, r.past = slices.Clone(r.image.Content), facts
}

// forge judges the next life's disk by its own promises, and by each forged one beside them.
func (r *run) forge(forged map[string]fact) {
	r.t.Helper()
	cut := crashdisk.Cut{Survival: crashdisk.Nothing}
	judge := func(facts []fact) error {
		crashdisk.NewReplay(slices.Clone(r.base), nil).Cut(cut, r.image.Content)
		return r.judge(facts, cut)
	}
	if err := judge(r.past); err != nil {
		r.t.Fatalf("nothing is forged: %v", err)
	}
	for name, f := range forged {
		if err := judge(append(slices.Clone(r.past), f)); err == nil {
			r.t.Errorf("%s: the judge saw nothing", name)
		} else {
			r.t.Logf("%s: %v", name, err)
		}
	}
}
