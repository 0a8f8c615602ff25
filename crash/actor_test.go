package crash

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chit/device/identity"
	"chit/device/link"
	"chit/device/wire"
	"chit/rig"
)

// actor is a device that the test plays: its keys, TLS and MQTT are real, what it says is the
// test's wish. It has a perfect memory and a printer that never fails.
type actor struct {
	t    *testing.T
	id   *identity.Identity
	link *link.Link

	journal string
	ups     chan struct{} // holds one: a session began

	mu     sync.Mutex
	boot   uint64
	n      uint64
	handed []wire.Ticket
	papers map[string]wire.Ack // newest answer about each ticket that is on paper
	mades  []wire.Made         // tickets made here
	news   chan struct{}       // closed and replaced when handed grows
	// answer says what to answer to a ticket; nil says nothing.
	answer func(wire.Ticket) []wire.Ack
}

// play pairs an actor for stations and connects it.
func play(ctx context.Context, t *testing.T, r *rig.Rig, stations ...string) *actor {
	t.Helper()
	door, pairing, err := r.Pairing(ctx, stations...)
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.Enrol(ctx, identity.Request{Dir: filepath.Join(t.TempDir(), "identity"),
		URL: door, Pairing: pairing, Version: "actor", Printers: stations})
	if err != nil {
		t.Fatal(err)
	}
	a := &actor{t: t, id: id, journal: random(t), boot: 1, papers: map[string]wire.Ack{},
		news: make(chan struct{}), ups: make(chan struct{}, 1)}
	a.answer = a.print
	a.link, err = link.New(link.Config{Address: id.MQTT(), TLS: id.TLS(nil), Tenant: id.Tenant(),
		Device: id.Device(), WaitFirst: 50 * time.Millisecond, WaitMax: 200 * time.Millisecond,
		GreetWithin: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler)}, a)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- a.link.Run(running) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	a.connected(ctx)
	return a
}

func random(t *testing.T) string {
	raw := make([]byte, 12)
	if _, err := rand.Read(raw); err != nil {
		t.Error(err)
	}
	return hex.EncodeToString(raw)
}

// connected waits until a session has begun since the last call.
func (a *actor) connected(ctx context.Context) {
	a.t.Helper()
	select {
	case <-a.ups:
	case <-ctx.Done():
		a.t.Fatal("waiting for the actor's session:", ctx.Err())
	}
}

// Session implements [link.Handler].
func (a *actor) Session() (link.Session, error) {
	s := link.Session{ID: random(a.t)}
	var err error
	s.Will, err = wire.EncodeStatus(wire.Status{State: "offline", Session: s.ID})
	return s, err
}

// Greeting implements [link.Handler].
func (a *actor) Greeting(session string) (birth, hello []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	birth, err = wire.EncodeStatus(wire.Status{State: "online", Session: session, Boot: a.boot,
		Journal: a.journal, Version: "actor"})
	if err != nil {
		return nil, nil, err
	}
	hello, err = a.id.Signer().SignHello(wire.Hello{Device: a.id.Device(), Session: session,
		Boot: a.boot, Journal: a.journal, N: a.n, Version: "actor", Format: 1})
	return birth, hello, err
}

// HostEpoch implements [link.Handler].
func (a *actor) HostEpoch(payload []byte) (string, bool) {
	host, err := a.id.BrokerKeys().OpenHost(payload)
	return host.Epoch, err == nil
}

// Up and Down implement [link.Handler].
func (a *actor) Up(string) {
	select {
	case a.ups <- struct{}{}:
	default:
	}
}

func (a *actor) Down(string, error) {}

// Deliver implements [link.Handler].
func (a *actor) Deliver(m link.Message) {
	m.Ack()
	typ, _, err := wire.Peek(m.Payload)
	if err != nil {
		a.t.Errorf("the broker sent what nobody can read: %v", err)
		return
	}
	switch typ {
	case wire.TypeTicket:
		ticket, err := a.id.BrokerKeys().OpenTicket(m.Payload)
		if err != nil {
			a.t.Errorf("the broker sent a ticket that does not verify: %v", err)
			return
		}
		a.say(a.take(ticket)...)
	case wire.TypeWelcome:
		welcome, err := a.id.BrokerKeys().OpenWelcome(m.Payload)
		if err != nil {
			a.t.Errorf("the broker sent a welcome that does not verify: %v", err)
			return
		}
		a.repeat(welcome.NSeen)
	}
}

// take remembers a ticket and returns the answers to it.
func (a *actor) take(ticket wire.Ticket) []wire.Ack {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handed = append(a.handed, ticket)
	close(a.news)
	a.news = make(chan struct{})
	if a.answer == nil {
		return nil
	}
	return a.answer(ticket)
}

// print answers as a working device does: stored, printed, and duplicate ever after. The caller
// holds mu.
func (a *actor) print(ticket wire.Ticket) []wire.Ack {
	ack := a.ack(ticket, wire.OutcomeDuplicate, wire.EvidenceConfirmed)
	if _, again := a.papers[ticket.ID]; again {
		return []wire.Ack{ack}
	}
	stored := a.ack(ticket, wire.OutcomeStored, wire.EvidenceStored)
	printed := a.ack(ticket, wire.OutcomePrinted, wire.EvidenceConfirmed)
	a.papers[ticket.ID] = printed
	return []wire.Ack{stored, printed}
}

// ack is an honest answer with a number of its own. The caller holds mu.
func (a *actor) ack(ticket wire.Ticket, o wire.Outcome, e wire.Evidence) wire.Ack {
	a.n++
	return wire.Ack{Device: a.id.Device(), Ticket: ticket.ID, Attempt: ticket.Attempt, Outcome: o,
		Evidence: e, Digest: wire.Digest(ticket.Data), Journal: a.journal, Boot: a.boot, N: a.n,
		IssuedAt: time.Now().Unix()}
}

// fresh is an honest answer for a test that says it itself.
func (a *actor) fresh(ticket wire.Ticket, o wire.Outcome, e wire.Evidence) wire.Ack {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ack(ticket, o, e)
}

// repeat says again what the broker has not seen by its n_seen.
func (a *actor) repeat(seen uint64) {
	a.mu.Lock()
	var mades []wire.Made
	for _, made := range a.mades {
		if made.N > seen {
			mades = append(mades, made)
		}
	}
	var acks []wire.Ack
	for _, ack := range a.papers {
		if ack.N > seen {
			acks = append(acks, ack)
		}
	}
	a.mu.Unlock()
	for _, made := range mades {
		a.report(made)
	}
	a.say(acks...)
}

// make prints a ticket that was made at the device itself and reports it.
func (a *actor) make(c wire.Content) {
	data, err := wire.CanonicalContent(c)
	if err != nil {
		a.t.Error(err)
		return
	}
	a.mu.Lock()
	ticket := wire.Ticket{ID: c.ID + "/d1@" + c.Station, Data: data, Attempt: 1}
	a.n++
	made := wire.Made{Device: a.id.Device(), Ticket: ticket.ID, Data: data, Digest: wire.Digest(data),
		Number: "L1", Station: c.Station, Printer: c.Station, Journal: a.journal, Boot: a.boot, N: a.n,
		IssuedAt: time.Now().Unix()}
	a.mades = append(a.mades, made)
	printed := a.ack(ticket, wire.OutcomePrinted, wire.EvidenceConfirmed)
	a.papers[ticket.ID] = printed
	a.mu.Unlock()
	a.report(made)
	a.say(printed)
}

func (a *actor) report(made wire.Made) {
	raw, err := a.id.Signer().SignMade(made)
	if err != nil {
		a.t.Errorf("signing a made message: %v", err)
		return
	}
	a.publish(raw)
}

// say publishes answers. A link that is gone loses them, as in life: they are said again after the
// next hello.
func (a *actor) say(acks ...wire.Ack) {
	for _, ack := range acks {
		raw, err := a.id.Signer().SignAck(ack)
		if err != nil {
			a.t.Errorf("signing an ack: %v", err)
			return
		}
		a.publish(raw)
	}
}

func (a *actor) publish(raw []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = a.link.Publish(ctx, wire.LeafAck, raw) // No proof of delivery either way.
}

// given waits until the ticket was handed over at least times times and returns the newest.
func (a *actor) given(ctx context.Context, id string, times int) wire.Ticket {
	a.t.Helper()
	for {
		a.mu.Lock()
		var found []wire.Ticket
		for _, ticket := range a.handed {
			if ticket.ID == id {
				found = append(found, ticket)
			}
		}
		news := a.news
		a.mu.Unlock()
		if len(found) >= times {
			return found[len(found)-1]
		}
		select {
		case <-news:
		case <-ctx.Done():
			a.t.Fatalf("waiting for %s to be handed over %d times: %v", id, times, ctx.Err())
		}
	}
}

// restart makes the actor another process with the same memory: the next hello says so.
func (a *actor) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.boot++
}

// mute takes the actor's voice.
func (a *actor) mute() { a.reply(nil) }

func (a *actor) reply(answer func(wire.Ticket) []wire.Ack) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}
