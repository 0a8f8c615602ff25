package simulate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/wire"
)

// base is the instant at which every story begins.
var base = time.Date(2026, 3, 2, opens, 0, 0, 0, time.UTC)

// world is one story while it is told.
type world struct {
	options Options
	plan    Plan
	now     time.Duration // since base
	queue   queue
	step    uint64
	hash    uint64
	story   []string // while it is recorded
	healing bool
	stagger time.Duration // between two devices' first starts

	broker    *broker
	engine    *engine
	devices   []*device
	judge     *judge
	signers   map[string]*wire.Signer
	stations  map[[2]string]relay.Station
	accepted  map[string]bool // tenant/ticket, answered by the door
	posting   int             // posts that are not accepted yet
	redriven  map[string]int
	fault     []time.Duration          // when the last fault that does not last hit each kitchen
	sessions  map[string]time.Duration // when each began
	until     map[window]time.Duration // when the faults that last are over
	twins     map[int]*twin            // the machine that runs from a copy, by kitchen
	twinned   map[int]bool             // kitchens that ever had one
	answers   []*rand.Rand             // of people, by kitchen
	everTwins []*device
	limits    relay.Config // of dispatches; the broker's defaults where 0
	storm     *watch       // nil where nobody watches a storm
}

// window is a fault that lasts, at one kitchen.
type window struct {
	name    FaultName
	kitchen int
}

func newWorld(o Options, p Plan) *world {
	w := &world{options: o, plan: p, hash: fnvBase, signers: map[string]*wire.Signer{},
		stations: map[[2]string]relay.Station{}, accepted: map[string]bool{},
		redriven: map[string]int{}, sessions: map[string]time.Duration{},
		until: map[window]time.Duration{}, twins: map[int]*twin{}, twinned: map[int]bool{},
		stagger: 300 * time.Millisecond}
	w.judge = newJudge(w)
	w.fault = make([]time.Duration, len(p.Kitchens))
	w.engine = newEngine(w)
	for k, kitchen := range p.Kitchens {
		w.answers = append(w.answers, w.chance(fmt.Sprint("answers ", k)))
		d := newDevice(w, k, kitchen)
		w.devices = append(w.devices, d)
		for i, station := range kitchen.Stations {
			w.stations[[2]string{d.tenant, station}] = kitchen.served(d.id, i)
		}
	}
	w.broker = newBroker(w)
	w.broker.disk.forgetful = func(list string) bool {
		return o.Bug == BugRecallForgotten && w.broker.life > 1 && list == delivery.ListRecall
	}
	return w
}

// signer is the key of a name, the same in every story.
func signer(name string) *wire.Signer {
	seed := sha256.Sum256([]byte(name))
	s, err := wire.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		panic("simulate: an Ed25519 key is refused: " + err.Error())
	}
	return s
}

func (w *world) signer(name string) *wire.Signer {
	s := w.signers[name]
	if s == nil {
		s = signer(name)
		w.signers[name] = s
	}
	return s
}

func keysOf(s *wire.Signer) wire.Keys { return wire.Keys{s.KID(): s.Public()} }

// after plans something.
func (w *world) after(d time.Duration, do func()) { w.queue.add(w.now+max(d, 0), do) }

// at plans something, not before now.
func (w *world) at(t time.Duration, do func()) { w.queue.add(max(t, w.now), do) }

// wall is the true time.
func (w *world) wall() time.Time { return base.Add(w.now) }

func (w *world) chance(purpose string) *rand.Rand { return stream(w.options.Seed, purpose) }

// lasts is true while a fault that lasts is on at a kitchen, -1 the broker.
func (w *world) lasts(name FaultName, kitchen int) bool {
	return w.now < w.until[window{name, kitchen}]
}

const (
	fnvBase  = 14695981039346656037
	fnvPrime = 1099511628211
)

// note is one line of the story. Its hash tells two stories apart; its text is kept where wanted.
func (w *world) note(kitchen int, what string, words ...any) {
	h := fnv.New64a()
	var raw [16]byte
	for i := range 8 {
		raw[i], raw[8+i] = byte(w.now>>(8*i)), byte(w.hash>>(8*i))
	}
	h.Write(raw[:]) // Never fails (hash.Hash).
	h.Write([]byte(what))
	for _, word := range words {
		fmt.Fprint(h, word)
	}
	w.hash = h.Sum64() * fnvPrime
	if !w.options.Tell {
		return
	}
	who := fmt.Sprintf("k%d", kitchen)
	if kitchen < 0 {
		who = "broker"
	}
	line := fmt.Sprintf("%s  %-6s %s", clock(w.now), who, what)
	for _, word := range words {
		line += fmt.Sprintf(" %v", word)
	}
	w.story = append(w.story, line)
}

// run lets everything happen that is planned before end, or until a promise breaks.
func (w *world) run(end time.Duration, quiet func() bool) {
	for !w.judge.stop() {
		if len(w.queue.events) == 0 || w.queue.events[0].at > end {
			w.now = max(w.now, end)
			return
		}
		e, _ := w.queue.next()
		w.now = e.at
		w.step++
		e.do()
		if quiet != nil && w.step%64 == 0 && quiet() {
			return
		}
	}
}

func deviceOf(kitchen int) string { return fmt.Sprintf("d%d", kitchen) }

// tenant is whose a kitchen is.
func (w *world) tenant(kitchen int) string { return w.plan.Kitchens[kitchen].Tenant }

// key names a post's delivery.
func (w *world) key(p Post) string { return w.tenant(p.Kitchen) + "/" + p.Ticket() }
