package core_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// world is a kitchen in which everything can go wrong, and a naive model of what was promised.
type world struct {
	*kitchen
	rt *rapid.T

	sent     map[string]int  // id -> newest attempt handed over
	promised map[string]bool // answered stored, held or printed
	refused  map[string]int  // newest attempt that was recalled
	poisoned map[string]bool
	out      map[string]int           // papers that truly came out, per id
	printing map[string]*truth        // what is at each printer
	lost     map[string]*truth        // what a dead process had there
	stopped  map[string]int           // newest attempt whose recall is on disk
	gone     map[string]bool          // recalled for another reason than dead since its newest attempt
	ignored  map[string]bool          // a paper came out that said to ignore it
	keys     map[string]bool          // (journal, boot, n) of every signed message
	seen     uint64                   // broker's n_seen
	pressed  map[string]bool          // papers that came out before a press that reached the machine
	wished   map[string]time.Duration // Up when a person, or the broker, last wanted an id to print
	commands int
	online   bool
}

// truth is what really became of the document at a printer.
type truth struct {
	s       sheet
	token   escpos.Token
	out     bool // the paper came out
	started bool
	cleared bool // nothing more of it can come out
}

func newWorld(rt *rapid.T, t testing.TB) *world {
	w := &world{
		kitchen: newKitchen(t, "hot", "bar"), rt: rt, sent: map[string]int{},
		promised: map[string]bool{}, refused: map[string]int{}, out: map[string]int{},
		printing: map[string]*truth{}, lost: map[string]*truth{}, keys: map[string]bool{},
		poisoned: map[string]bool{}, stopped: map[string]int{}, ignored: map[string]bool{},
		gone: map[string]bool{}, pressed: map[string]bool{}, wished: map[string]time.Duration{},
	}
	return w
}

// batch steps events; the process may die before the commit, or after it with only some effects
// out.
func (w *world) batch(events ...core.Event) (survived bool) {
	write, then := w.decide(events...)
	switch fate := rapid.IntRange(0, 19).Draw(w.rt, "fate"); {
	case fate == 0: // Dies before the commit.
		w.reborn()
		return false
	case fate == 1: // The commit fails; on disk or not, nobody knows.
		if rapid.Bool().Draw(w.rt, "on disk") {
			w.store.Apply(write)
		}
		w.storage(events)
		return false
	case fate == 2: // Dies after the commit, with some effects out.
		w.store.Apply(write)
		w.m.Committed()
		w.carry(then[:rapid.IntRange(0, len(then)).Draw(w.rt, "effects out")])
		w.reborn()
		return false
	}
	w.store.Apply(write)
	w.m.Committed()
	w.carry(then)
	return true
}

// storage is what the edge does after a failed commit: refuse, reopen, go on.
func (w *world) storage(events []core.Event) {
	refuse := []core.Event{core.StorageLost{}}
	for _, e := range events {
		switch e.(type) {
		case core.TicketArrived, core.Recalled:
			refuse = append(refuse, e)
		}
	}
	write, then := w.decide(refuse...)
	if len(write) != 0 {
		w.rt.Fatalf("writes without a journal: %v", write)
	}
	w.carry(then)
	write, then = w.decide(core.Started{State: w.store.Load(), KernelBoot: w.boot})
	w.store.Apply(write)
	w.m.Committed()
	w.carry(then)
	for _, e := range events {
		if done, ok := e.(core.PrintDone); ok { // Kept by the edge until the journal is back.
			w.batchSafe(done)
		}
	}
}

func (w *world) batchSafe(events ...core.Event) {
	write, then := w.decide(events...)
	w.store.Apply(write)
	w.m.Committed()
	w.carry(then)
}

// reborn is the next process. What the last one had at a printer may still come out.
func (w *world) reborn() {
	for name, tr := range w.printing {
		w.lost[name] = tr
	}
	clear(w.printing)
	clear(w.asked)
	clear(w.clears)
	w.online = false
	if rapid.IntRange(0, 3).Draw(w.rt, "kernel too") == 0 {
		w.boot += "+"
		clear(w.wished) // What the kernel slept through nobody knows.
		w.now.Up = 20 * time.Second
	}
	w.m = core.New(w.config("hot", "bar"))
	w.batchSafe(core.Started{State: w.store.Load(), KernelBoot: w.boot})
}

// carry performs effects and checks each against what is on disk and what was promised before.
func (w *world) carry(effects []core.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.Print:
			w.print(e)
		case core.Answer:
			w.answer(e.Ack)
		case core.Resolve:
			w.asked[e.Printer] = e
		case core.ClearPrinter:
			w.clears[e.Printer] = e
		}
	}
}

func (w *world) print(e core.Print) {
	if w.printing[e.Printer] != nil {
		if e.Job.Token == escpos.TokenOf(0) {
			return // The slip waits its turn in the session; nobody asks what became of it.
		}
		w.rt.Fatalf("two documents at printer %s", e.Printer)
	}
	if e.Job.Token == escpos.TokenOf(0) {
		return
	}
	in, ok := w.store.Intents[e.Printer]
	if !ok || in.Token != e.Job.Token {
		w.rt.Fatalf("%s left for printer %s without its intent on disk", e.Ticket, e.Printer)
	}
	tr := &truth{s: sheetOf(w.t, e), token: e.Job.Token}
	tr.started = rapid.IntRange(0, 5).Draw(w.rt, "started") != 0
	tr.out = tr.started && rapid.Bool().Draw(w.rt, "came out")
	delete(w.lost, e.Printer)
	w.printing[e.Printer] = tr
	w.at[e.Printer] = e
	for _, id := range tr.s.Ignored {
		if outcome, _, _ := w.store.Recorded(id); outcome != wire.OutcomeRefused {
			w.rt.Fatalf("%s is to be ignored, and on disk it is %s", id, outcome)
		}
		w.ignored[id] = w.ignored[id] || tr.out
	}
	if e.Ticket == "" {
		return
	}
	if w.stopped[e.Ticket] >= w.sent[e.Ticket] && w.stopped[e.Ticket] > 0 {
		w.rt.Fatalf("%s is printed after its recall", e.Ticket)
	}
	if at, known := w.wished[e.Ticket]; known && w.now.Up-at >= modelStale {
		w.rt.Fatalf("%s printed %v after the last wish, and nobody was asked", e.Ticket, w.now.Up-at)
	}
	if !tr.out {
		return
	}
	if w.out[e.Ticket] > 0 && !tr.s.Duplicate {
		w.rt.Fatalf("%s: paper %d without a mark", e.Ticket, w.out[e.Ticket]+1)
	}
	if w.refused[e.Ticket] >= w.sent[e.Ticket] && w.refused[e.Ticket] > 0 && !tr.s.Duplicate {
		w.rt.Fatalf("%s printed after its recall was answered", e.Ticket)
	}
	w.out[e.Ticket]++
}

func (w *world) answer(a wire.Ack) {
	key := fmt.Sprint(a.Key())
	if w.keys[key] {
		w.rt.Fatalf("n repeats: %+v", a)
	}
	w.keys[key] = true
	if a.Journal == w.store.Meta.Journal {
		if a.N > w.store.Meta.NReserved {
			w.rt.Fatalf("n %d left above the reserved %d", a.N, w.store.Meta.NReserved)
		}
		w.seen = max(w.seen, a.N)
	}
	known := w.store.Lookup(a.Ticket)
	outcome, evidence, attempt := w.store.Recorded(a.Ticket)
	switch a.Outcome {
	case wire.OutcomeStored, wire.OutcomeHeld:
		w.promised[a.Ticket] = true
		if !known.Found {
			w.rt.Fatalf("%s %s and not on disk", a.Outcome, a.Ticket)
		}
	case wire.OutcomePrinted, wire.OutcomeDuplicate:
		if outcome != wire.OutcomePrinted || evidence != a.Evidence {
			w.rt.Fatalf("%s %s, on disk %s %s", a.Outcome, a.Ticket, outcome, evidence)
		}
		if w.out[a.Ticket] == 0 {
			w.rt.Fatalf("%s %s without paper", a.Outcome, a.Ticket)
		}
		if a.Evidence == wire.EvidenceSeen && !w.pressed[a.Ticket] {
			w.rt.Fatalf("%s is seen, and nobody pressed after its paper", a.Ticket)
		}
	case wire.OutcomeRecalled:
		again := outcome != wire.OutcomeRecalled && attempt > a.Attempt
		if !again && outcome != wire.OutcomeRecalled {
			w.rt.Fatalf("recalled %s, on disk %s", a.Ticket, outcome)
		}
		if w.out[a.Ticket] > 0 && !again {
			w.rt.Fatalf("recalled %s, and its paper exists", a.Ticket)
		}
		w.refused[a.Ticket] = max(w.refused[a.Ticket], a.Attempt)
	case wire.OutcomeRefused:
		if a.Permanent && a.Reason != "poison" && a.Reason != "doubtful" &&
			a.Reason != core.ReasonStale && a.Reason != core.ReasonNotWanted {
			w.rt.Fatalf("refused for good: %+v", a)
		}
		if a.Permanent {
			w.poisoned[a.Ticket] = true // Loud: a dead letter at once.
		}
	}
}

func (w *world) pickID() string {
	return fmt.Sprintf("%d/1@s", rapid.IntRange(1, 6).Draw(w.rt, "id"))
}

func (w *world) arrive(n int) {
	var events []core.Event
	asks, attempts := map[string]bool{}, maps.Clone(w.sent)
	for range n {
		id := w.pickID()
		delete(asks, id)
		if rapid.IntRange(0, 2).Draw(w.rt, "new attempt") > 0 || w.sent[id] == 0 {
			w.sent[id]++
			w.gone[id] = false
		}
		e := ticket(id, attempt(w.sent[id]))
		e.Ticket.Printer = []string{"hot", "bar"}[int(id[0])%2]
		delete(w.wished, id)
		fresh := e.Ticket.Attempt > attempts[id]
		attempts[id] = e.Ticket.Attempt
		if rapid.IntRange(0, 2).Draw(w.rt, "stales") == 0 {
			e.Ticket.Stale = modelStale.Milliseconds()
			e.Ticket.OnStale = rapid.SampledFrom([]wire.OnStale{
				"", wire.OnStaleAsk, wire.OnStaleAsk, wire.OnStaleDrop,
			}).Draw(w.rt, "policy")
			asks[id] = fresh && e.Ticket.OnStale != "" && !w.isPrinting(id)
		}
		e.Known = w.store.Lookup(id)
		events = append(events, e)
	}
	if !w.batch(events...) {
		return // What the device knows of it now is not for the model to guess.
	}
	w.wish(asks)
}

func (w *world) recall() {
	id := w.pickID()
	if w.sent[id] == 0 {
		return
	}
	reason := rapid.SampledFrom([]string{"moved", "moved", "cancelled", "dead"}).Draw(w.rt, "reason")
	open := slices.ContainsFunc(w.store.Load().Open, func(o core.Stored) bool {
		return o.Open.ID == id && o.Open.Printer != "" // Else nobody knows where its paper is.
	})
	if w.batch(core.Recalled{
		Recall: wire.Recall{ID: "rc-" + reason, Ticket: id, Attempt: w.sent[id], Reason: reason},
		Known:  w.store.Lookup(id),
	}) {
		w.stopped[id] = w.sent[id]
		w.gone[id] = w.gone[id] || open && reason != "dead"
	}
}

// answerClear lets the printer forget the rest of a document, or not.
func (w *world) answerClear(name string) {
	c, ok := w.clears[name]
	if !ok {
		return
	}
	delete(w.clears, name)
	err := rapid.SampledFrom([]error{
		nil, nil, session.ErrNotCleared, session.ErrHeld,
	}).Draw(w.rt, "cleared")
	for _, tr := range []*truth{w.printing[name], w.lost[name]} {
		if tr != nil && tr.token == c.Token {
			tr.cleared = err == nil
		}
	}
	w.batch(core.Cleared{Printer: name, Token: c.Token, Err: err})
}

// press is a person at the button. What is out by then can be meant, and nothing else.
func (w *world) press() {
	for id, papers := range w.out {
		if papers > 0 {
			w.pressed[id] = true
		}
	}
	w.batch(core.Button{})
}

// finishPrint reports the truth, or less than it.
func (w *world) finishPrint(name string) {
	tr := w.printing[name]
	if tr == nil {
		return
	}
	p := w.at[name]
	delete(w.printing, name)
	delete(w.at, name)
	r := session.Result{Started: true, Err: session.ErrLink}
	switch {
	case tr.out && rapid.IntRange(0, 4).Draw(w.rt, "known") > 0:
		r = session.Result{Started: true, Evidence: session.Fenced}
	case !tr.started:
		r = session.Result{Err: session.ErrHeld, Hold: session.HoldPaper}
	}
	w.lost[name] = tr // Until the next print: the result may die with the process.
	w.batch(core.PrintDone{Printer: name, Token: p.Job.Token, Result: r})
}

func (w *world) answerResolve(name string) {
	q, ok := w.asked[name]
	if !ok || w.printing[name] != nil {
		return
	}
	delete(w.asked, name)
	tr := w.lost[name]
	r := session.Resolution{}
	if tr != nil && tr.token == q.Token && tr.out && rapid.Bool().Draw(w.rt, "found out") {
		r.Evidence = session.Counted
	} else if tr != nil && tr.token == q.Token && !tr.out && tr.cleared &&
		rapid.Bool().Draw(w.rt, "untouched") {
		r.Untouched = true
	} else if rapid.IntRange(0, 3).Draw(w.rt, "torn") == 0 {
		r.Torn = true
	}
	w.batch(core.Resolved{Printer: name, Token: q.Token, Resolution: r})
}

func (w *world) setPrinter(name string, hold session.Hold) {
	w.batch(core.PrinterState{Printer: name, State: session.State{Hold: hold}})
}

func (w *world) connectAgain() {
	w.sessions++
	id := fmt.Sprint("s", w.sessions)
	w.batch(core.Connected{Session: id}, core.Welcomed{Welcome: wire.Welcome{
		Session: id, Now: 1_700_000_000_000, Journal: w.store.Meta.Journal, NSeen: w.seen,
	}})
}

// heal lets everything work until nothing more happens, without faults.
func (w *world) heal() {
	w.reborn()
	for _, name := range []string{"hot", "bar"} {
		w.batchSafe(core.PrinterState{Printer: name, State: session.State{}})
	}
	w.sessions++
	id := fmt.Sprint("s", w.sessions)
	w.batchSafe(core.Connected{Session: id}, core.Welcomed{Welcome: wire.Welcome{
		Session: id, Journal: w.store.Meta.Journal, NSeen: w.seen, Now: 1_700_000_000_000,
	}})
	for i := range 100 {
		if i%10 == 0 {
			w.wantAll()
			w.batchSafe(core.Button{Long: true})
		}
		for _, name := range []string{"hot", "bar"} {
			if c, ok := w.clears[name]; ok {
				delete(w.clears, name)
				w.batchSafe(core.Cleared{Printer: name, Token: c.Token})
			}
			if q, ok := w.asked[name]; ok && w.printing[name] == nil {
				delete(w.asked, name)
				w.batchSafe(core.Resolved{Printer: name, Token: q.Token})
			}
			if tr := w.printing[name]; tr != nil {
				if !tr.out && tr.s.ID != "" {
					w.out[tr.s.ID]++
				}
				for _, id := range tr.s.Ignored {
					w.ignored[id] = true
				}
				token := w.at[name].Job.Token
				delete(w.printing, name)
				w.batchSafe(core.PrintDone{
					Printer: name, Token: token,
					Result: session.Result{Started: true, Evidence: session.Confirmed},
				})
			}
		}
		w.now.Up += 2 * time.Second
		w.batchSafe(core.Tick{})
	}
}

// TestEveryPromiseSurvivesEveryCrash is the exam of I1, I2 and I4.
func TestEveryPromiseSurvivesEveryCrash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, t)
		printers := rapid.SampledFrom([]string{"hot", "bar"})
		holds := rapid.SampledFrom([]session.Hold{
			session.HoldNone, session.HoldNone, session.HoldPaper, session.HoldAbsent,
		})
		rt.Repeat(map[string]func(*rapid.T){
			"arrive":  func(*rapid.T) { w.arrive(rapid.IntRange(1, 4).Draw(rt, "batch")) },
			"recall":  func(*rapid.T) { w.recall() },
			"press":   func(*rapid.T) { w.press() },
			"word":    func(*rapid.T) { w.longPress() },
			"backlog": func(*rapid.T) { w.fromElsewhere() },
			"print":   func(*rapid.T) { w.finishPrint(printers.Draw(rt, "printer")) },
			"clear":   func(*rapid.T) { w.answerClear(printers.Draw(rt, "printer")) },
			"resolve": func(*rapid.T) { w.answerResolve(printers.Draw(rt, "printer")) },
			"printer": func(*rapid.T) {
				w.setPrinter(printers.Draw(rt, "printer"), holds.Draw(rt, "hold"))
			},
			"connect":    func(*rapid.T) { w.connectAgain() },
			"disconnect": func(*rapid.T) { w.batch(core.Disconnected{}) },
			"crash":      func(*rapid.T) { w.reborn() },
			"time": func(*rapid.T) {
				w.now.Up += time.Duration(rapid.IntRange(1, 70).Draw(rt, "seconds")) * time.Second
				// Once more at once is right: a tick may count a suspect, whose layout waits for the commit.
				for again := range 3 {
					survived := w.batch(core.Tick{})
					next, ok := w.m.Next(w.now)
					if !survived || !ok || next > w.now.Up+time.Millisecond {
						break
					}
					if again == 2 {
						rt.Fatalf("after ticks at %v the machine wants another at %v", w.now.Up, next)
					}
					w.now.Up = next
				}
			},
			"": func(*rapid.T) {
				for _, name := range []string{"hot", "bar"} {
					if next, ok := w.m.Next(w.now); ok && next <= w.now.Up {
						rt.Fatalf("Next is %v at %v (%s)", next, w.now.Up, name)
					}
				}
			},
		})
		w.heal()
		w.everyPromiseKept()
	})
}

func (w *world) everyPromiseKept() {
	for id := range w.promised {
		outcome, _, _ := w.store.Recorded(id)
		switch {
		case w.out[id] > 0, w.poisoned[id], outcome == wire.OutcomeRecalled:
		default:
			w.rt.Fatalf("%s was promised and has no paper; on disk %s", id, outcome)
		}
	}
	for id := range w.gone {
		outcome, _, _ := w.store.Recorded(id)
		if w.gone[id] && outcome == wire.OutcomeRefused && !w.ignored[id] {
			w.rt.Fatalf("%s is in doubt and elsewhere, and no paper says so", id)
		}
	}
	if len(w.store.Intents) != 0 {
		w.rt.Fatalf("intents left: %+v", w.store.Intents)
	}
}
