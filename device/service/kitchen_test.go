package service

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/identity"
	"chit/device/journal"
	"chit/device/link"
	"chit/device/wire"
	"chit/printer/profile"
	"chit/printer/transport"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// phone is a broker at the other end of the voice: it hears what the daemon says, and talks to the
// daemon's handler.
type phone struct {
	t       testing.TB
	keys    wire.Keys
	broker  *wire.Signer
	handler *handler

	mu      sync.Mutex
	session string
	status  wire.Status
	acks    []wire.Ack
	story   []string // what left, in order: "stored 1/1@grill", "puback"
	greets  int
	changed chan struct{}
}

func (p *phone) tell(word string, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f != nil {
		f()
	}
	if word != "" {
		p.story = append(p.story, word)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *phone) Publish(_ context.Context, leaf wire.Leaf, payload []byte) error {
	if p.Session() == "" {
		return link.ErrNotConnected
	}
	if leaf == wire.LeafStatus {
		status, err := wire.DecodeStatus(payload)
		if err != nil {
			p.t.Errorf("a status cannot be read: %v", err)
		}
		p.tell("", func() { p.status = status })
	}
	if leaf != wire.LeafAck {
		return nil
	}
	a, err := p.keys.OpenAck(payload)
	if err != nil {
		p.t.Errorf("an answer does not verify: %v", err)
		return err
	}
	p.tell(string(a.Outcome)+" "+a.Ticket, func() { p.acks = append(p.acks, a) })
	return nil
}

func (p *phone) Session() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// Renew counts as a greeting: a phone keeps its one session.
func (p *phone) Renew() { p.Greet() }

func (p *phone) Greet() { p.tell("", func() { p.greets++ }) }

// until waits for a condition about what was heard.
func (p *phone) until(what string, ok func() bool) {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		done, changed := ok(), p.changed
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-late:
			p.t.Fatalf("waited for %s; heard %q; status %+v", what, p.story, p.status)
		}
	}
}

func (p *phone) untilSaid(words ...string) {
	p.t.Helper()
	for _, word := range words {
		p.until(word, func() bool { return slices.Contains(p.story, word) })
	}
}

// kitchen is a daemon with a virtual printer and a phone.
type kitchen struct {
	t       testing.TB
	conf    Config
	tenant  string
	printer *serve.Server
	phone   *phone
	signer  *wire.Signer
	service *Service
	loop    *loop
	fail    atomic.Bool        // every commit fails
	commits chan time.Duration // how long each took, where somebody listens
	stop    func()
}

func newSigner(t testing.TB) (*wire.Signer, wire.Keys) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := wire.NewKeys(s.Public())
	if err != nil {
		t.Fatal(err)
	}
	return s, keys
}

func newKitchen(t testing.TB) *kitchen {
	return newKitchenOf(t, virtual.ConfigFor(profile.Safe80()), Printer{Profile: "safe-80"})
}

// newKitchenOf has a printer of that kind, configured so.
func newKitchenOf(t testing.TB, c virtual.Config, conf Printer) *kitchen {
	t.Helper()
	c.LinesPerSecond = 5000
	printer, err := serve.Start(context.Background(), serve.Config{Printer: c, SecondWaits: true})
	if err != nil {
		t.Fatal(err)
	}
	k := &kitchen{t: t, tenant: "t", printer: printer}
	conf.Name, conf.URL = "main", "virtual:"
	k.conf = Config{
		RetryFirst: time.Second, RetryMax: time.Second,
		State: t.TempDir(), Printers: []Printer{conf},
		Virtual:   func(string) (transport.Dialer, error) { return printer.Dialer(), nil },
		InProcess: true,
	}
	k.signer, k.phone = k.dial()
	k.start()
	t.Cleanup(func() {
		k.stop()
		if err := printer.Close(); err != nil {
			t.Error(err)
		}
		report, err := journal.Check(k.conf.JournalPath())
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("journal: %v %q", err, report.Problems)
		}
	})
	return k
}

func (k *kitchen) dial() (device *wire.Signer, p *phone) {
	device, heard := newSigner(k.t)
	broker, _ := newSigner(k.t)
	return device, &phone{t: k.t, keys: heard, broker: broker, changed: make(chan struct{})}
}

// start runs a daemon on the kitchen's state.
func (k *kitchen) start() {
	k.t.Helper()
	s, err := New(k.conf, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	trusted, err := wire.NewKeys(k.phone.broker.Public())
	if err != nil {
		k.t.Fatal(err)
	}
	d, h := s.daemon(ctx, who{
		tenant: k.tenant, device: "dev-1", signer: k.signer, keys: func() wire.Keys { return trusted },
		stations: []identity.Station{{Station: "grill", Name: "Grill", Printer: "main"}},
	})
	if err := d.speak(k.phone, h); err != nil {
		k.t.Fatal(err)
	}
	d.loop.apply = func(j *journal.Journal, changes []core.Change) error {
		if k.fail.Load() {
			return errors.New("the card is broken")
		}
		began := time.Now()
		err := j.Apply(changes)
		select {
		case k.commits <- time.Since(began):
		default:
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	k.service, k.loop, k.phone.handler = s, d.loop, h
	k.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				k.t.Error(err)
			}
		case <-time.After(patience):
			k.t.Error("the daemon does not end")
		}
	})
	k.connect()
}

func (k *kitchen) connect() {
	k.t.Helper()
	session := fmt.Sprint("session-", time.Now().UnixNano())
	k.phone.tell("", func() { k.phone.session = session })
	k.phone.handler.Up(session)
	_, hello, err := k.phone.handler.Greeting(session)
	if err != nil {
		k.t.Fatal(err)
	}
	h, err := k.phone.keys.OpenHello(hello)
	if err != nil {
		k.t.Fatal(err)
	}
	w, err := k.phone.broker.SignWelcome(wire.Welcome{
		Session: session, Epoch: 1, Host: "host-1", Now: time.Now().UnixMilli(), Journal: h.Journal,
	})
	k.deliver(wire.LeafCommand, w, err)
}

func (k *kitchen) deliver(leaf wire.Leaf, payload []byte, err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
	k.phone.handler.deliver(leaf, payload, false, func() { k.phone.tell("puback", nil) })
}

// ticket is a signed ticket as it travels.
func (k *kitchen) ticket(order string, attempt int) ([]byte, error) {
	data, err := wire.CanonicalContent(wire.Content{
		ID: order + "/1", Kitchen: "main", Station: "grill", Kind: wire.KindNew, Order: order,
		PlacedAt: "2026-12-01T12:00:00Z", Items: []wire.Item{{Quantity: 2, Name: "Käsespätzle"}},
	})
	if err != nil {
		return nil, err
	}
	return k.phone.broker.SignTicket(wire.Ticket{
		ID: order + "/1@grill", Source: "chit/" + k.tenant, Time: "2026-12-01T12:00:00Z", Data: data,
		Attempt: attempt, Lease: 30_000, Expires: 30 * 86400, Printer: "main", Station: "grill",
		Number: "41",
	})
}

func (k *kitchen) sends(order string, attempt int) {
	k.t.Helper()
	payload, err := k.ticket(order, attempt)
	k.deliver(wire.LeafTicket, payload, err)
}

// papers waits for n sheets and returns their texts.
func (k *kitchen) papers(n int) []string {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := k.printer.Wait(ctx, func(s []virtual.Sheet) bool { return len(s) >= n })
	sheets := k.printer.Sheets()
	if err != nil || len(sheets) != n {
		k.t.Fatalf("%d papers, want %d: %v", len(sheets), n, err)
	}
	var texts []string
	for _, s := range sheets {
		texts = append(texts, s.Text())
	}
	return texts
}
