package relay_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/relay"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// world is one broker on a real bbolt file, and the devices it serves. Everything runs inside a
// synctest bubble: time stands still until everybody waits.
type world struct {
	t      testing.TB
	path   string
	tenant *wire.Signer
	fleet  map[string]*device // by id
	serves map[string]relay.Station
	store  *bolt.Store
	desk   *desk.Desk
	relay  *relay.Relay
	rate   float64
	burst  int
	// The whole broker's.
	total      float64
	totalBurst int
	stop       func()
	mu         sync.Mutex
	deaf       error            // what Publish returns
	refused    map[string]error // what Publish returns for a topic
	hosts      [][]byte         // host messages
}

// device is a chitd as the broker sees it: a journal, a session, and a will to answer.
type device struct {
	w       *world
	id      string
	signer  *wire.Signer
	session string
	hint    wire.Status // what it says of itself and its printers
	boot    uint64
	journal string
	n       uint64
	// answer says what to answer to a ticket, takeBack to a recall; nil answers nothing.
	answer   func(t wire.Ticket) []wire.Ack
	takeBack func(r wire.Recall) []wire.Ack

	mu       sync.Mutex
	here     bool
	got      []wire.Ticket
	recalls  []wire.Recall
	welcomes []wire.Welcome
	commands []wire.Command
	papers   map[string][]bool // ticket id → marked, per paper
	memory   map[string]bool   // what the journal knows as printed
	said     [][]byte          // everything signed, to forge and replay
}

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func signer(t testing.TB, name string) *wire.Signer {
	t.Helper()
	s, err := wire.NewSigner(key(name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// build runs a story in a bubble with a broker and device d1, which serves the stations grill and
// bar by two printers.
func build(t *testing.T, story func(w *world)) {
	t.Helper()
	buildWith(t, func(w *world) { w.add("d1", "grill", "bar") }, story)
}

// buildWith is build with other devices.
func buildWith(t *testing.T, fleet, story func(w *world)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broker.db")
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, path: path, tenant: signer(t, "tenant"), fleet: map[string]*device{},
			serves: map[string]relay.Station{}, refused: map[string]error{}, rate: 1e6, burst: 1e6,
			total: 1e6, totalBurst: 1e6}
		fleet(w)
		w.start()
		story(w)
		w.end()
	})
}

func (w *world) add(id string, stations ...string) *device {
	d := &device{w: w, id: id, signer: signer(w.t, id), boot: 1, journal: "j-" + id,
		papers: map[string][]bool{}, memory: map[string]bool{}}
	w.fleet[id] = d
	for i, s := range stations {
		w.serves[s] = relay.Station{Device: id, Printer: fmt.Sprintf("p%d", i+1)}
	}
	return d
}

func (w *world) start() {
	w.t.Helper()
	var err error
	if w.store, err = bolt.Open(w.path, bolt.Options{}); err != nil {
		w.t.Fatal(err)
	}
	w.relay = relay.New(relay.Config{Store: w.store, Devices: w, Publisher: w, Host: "host-1",
		Rate: w.rate, Burst: w.burst, Total: w.total, TotalBurst: w.totalBurst,
		Rand: func() float64 { return 0.5 }})
	w.desk = desk.New(desk.Config{Store: w.store, Effects: w.relay.Effects})
	w.relay.Attach(w.desk)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := w.desk.Run(ctx); err != nil {
			w.t.Errorf("desk: %v", err)
		}
	})
	group.Go(func() {
		if err := w.relay.Run(ctx); err != nil {
			w.t.Errorf("relay: %v", err)
		}
	})
	w.stop = func() { cancel(); group.Wait() }
}

// end stops the broker, and checks the store.
func (w *world) end() {
	w.t.Helper()
	w.stop()
	if err := errors.Join(w.store.Check(), w.store.Close()); err != nil {
		w.t.Errorf("store: %v", err)
	}
}

// restart is a new process on the same file. The devices lose their connections with the old one.
func (w *world) restart() {
	w.t.Helper()
	w.end()
	for _, d := range w.fleet {
		d.mu.Lock()
		d.here = false
		d.mu.Unlock()
	}
	w.start()
	w.settle()
}

// settle waits until everybody waits for time or for news.
func (w *world) settle() { synctest.Wait() }

// advance lets time pass, and what it brings happen.
func (w *world) advance(d time.Duration) {
	<-time.After(d) // The bubble's clock, not the real one.
	synctest.Wait()
}

// Keys implements relay.Devices.
func (w *world) Keys(id string) (map[string]ed25519.PublicKey, string, bool) {
	d := w.fleet[id]
	if d == nil {
		return nil, "", false
	}
	return map[string]ed25519.PublicKey{d.signer.KID(): d.signer.Public()}, "t1", true
}

// Station implements relay.Devices.
func (w *world) Station(tenant, station string) (relay.Station, bool) {
	s, ok := w.serves[station]
	return s, ok && tenant == "t1"
}

// Signer implements relay.Devices.
func (w *world) Signer(string) (*wire.Signer, error) { return w.tenant, nil }

// Publish implements relay.Publisher.
func (w *world) Publish(_ context.Context, topic string, payload []byte, retain bool) error {
	w.mu.Lock()
	err := errors.Join(w.deaf, w.refused[topic])
	w.mu.Unlock()
	if err != nil {
		return err
	}
	parsed, err := wire.ParseTopic(topic)
	if err == nil && parsed.Leaf == wire.LeafHost && retain {
		w.mu.Lock()
		w.hosts = append(w.hosts, payload)
		w.mu.Unlock()
		return nil
	}
	if err != nil || retain {
		w.t.Errorf("published to %s (retain %v): %v", topic, retain, err)
		return nil
	}
	w.fleet[parsed.Device].hear(parsed.Leaf, payload)
	return nil
}

func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf = err
}

// hear is the device's end of the pipe.
func (d *device) hear(leaf wire.Leaf, payload []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.here {
		return // Nobody is subscribed.
	}
	keys, err := wire.NewKeys(d.w.tenant.Public())
	if err != nil {
		d.w.t.Error(err)
		return
	}
	if typ, _, err := wire.Peek(payload); err == nil && typ == wire.TypeCommand {
		command, err := keys.OpenCommand(payload)
		if err != nil {
			d.w.t.Errorf("command: %v", err)
		}
		d.commands = append(d.commands, command)
		return
	}
	if leaf == wire.LeafCommand {
		welcome, err := keys.OpenWelcome(payload)
		if err != nil {
			d.w.t.Errorf("welcome: %v", err)
		}
		d.welcomes = append(d.welcomes, welcome)
		return
	}
	if leaf == wire.LeafRecall {
		recall, err := keys.OpenRecall(payload)
		if err != nil || recall.Device != d.id {
			d.w.t.Errorf("recall for %s: %v", recall.Device, err)
		}
		d.recalls = append(d.recalls, recall)
		if d.takeBack != nil {
			for _, ack := range d.takeBack(recall) {
				d.say(ack)
			}
		}
		return
	}
	ticket, err := keys.OpenTicket(payload)
	if err != nil {
		d.w.t.Errorf("ticket: %v", err)
		return
	}
	if len(d.welcomes) == 0 || d.welcomes[len(d.welcomes)-1].Session != d.session {
		d.w.t.Errorf("%s got %s before its welcome", d.id, ticket.ID)
	}
	d.got = append(d.got, ticket)
	if d.answer == nil {
		return
	}
	for _, ack := range d.answer(ticket) {
		d.say(ack)
	}
}

// say signs and sends. Called with mu held.
func (d *device) say(ack wire.Ack) {
	d.n++
	ack.Device, ack.Journal, ack.Boot, ack.N, ack.IssuedAt = d.id, d.journal, d.boot, d.n,
		time.Now().Unix()
	raw, err := d.signer.SignAck(ack)
	if err != nil {
		d.w.t.Errorf("ack: %v", err)
		return
	}
	d.said = append(d.said, raw)
	d.w.relay.Heard("t1", d.id, "ack", raw, false)
}

// about is the beginning of an ack to t.
func about(t wire.Ticket, o wire.Outcome) wire.Ack {
	a := wire.Ack{Ticket: t.ID, Attempt: t.Attempt, Outcome: o, Digest: wire.Digest(t.Data)}
	if o.OnPaper() {
		a.Evidence = wire.EvidenceConfirmed
	}
	return a
}

// prints is a device in order: it remembers what it printed and never prints it twice unmarked.
func (d *device) prints(t wire.Ticket) []wire.Ack {
	marked := slices.Contains(t.Marks, wire.MarkPossibleDuplicate)
	if d.memory[t.ID] {
		return []wire.Ack{about(t, wire.OutcomeDuplicate)}
	}
	d.memory[t.ID] = true
	d.papers[t.ID] = append(d.papers[t.ID], marked)
	printed := about(t, wire.OutcomePrinted)
	printed.Marked = marked
	return []wire.Ack{about(t, wire.OutcomeStored), printed}
}

// connect opens a session and says hello.
func (d *device) connect() {
	d.mu.Lock()
	d.here = true
	d.session = fmt.Sprintf("s-%d-%d", d.boot, time.Now().UnixNano())
	d.mu.Unlock()
	d.status("online", d.session)
	d.hello()
	d.w.settle()
}

func (d *device) hello() {
	d.w.t.Helper()
	raw, err := d.signer.SignHello(wire.Hello{Device: d.id, Session: d.session, Boot: d.boot,
		Journal: d.journal, N: d.n, Version: "test", Format: 1})
	if err != nil {
		d.w.t.Fatal(err)
	}
	d.w.relay.Heard("t1", d.id, "ack", raw, false)
}

func (d *device) status(state, session string) {
	d.w.t.Helper()
	raw, err := wire.EncodeStatus(wire.Status{State: state, Session: session, Boot: d.boot,
		Journal: d.journal, Version: "test", Degraded: d.hint.Degraded, Printers: d.hint.Printers})
	if err != nil {
		d.w.t.Fatal(err)
	}
	d.w.relay.Heard("t1", d.id, "status", raw, true)
}

// drop loses the connection; the engine publishes the will.
func (d *device) drop() {
	d.mu.Lock()
	d.here = false
	d.mu.Unlock()
	d.status("offline", d.session)
	d.w.settle()
}

// crash is drop with a new process behind it.
func (d *device) crash() {
	d.drop()
	d.boot++
}

// forget is crash with a new journal behind it.
func (d *device) forget() {
	d.crash()
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.memory)
	d.journal, d.n, d.boot = d.journal+"x", 0, 1
}

func (d *device) tickets() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []string
	for _, t := range d.got {
		ids = append(ids, t.ID)
	}
	return ids
}

func (d *device) wantTickets(ids ...string) {
	d.w.t.Helper()
	if got := d.tickets(); !slices.Equal(got, ids) {
		d.w.t.Fatalf("%s got %v, want %v", d.id, got, ids)
	}
}

func (w *world) accept(id string, stations ...string) {
	w.t.Helper()
	if len(stations) == 0 {
		stations = []string{"grill"}
	}
	for _, s := range stations {
		c := wire.Content{ID: id, Kitchen: "main", Station: s, Kind: wire.KindNew,
			Items: []wire.Item{{Quantity: 1, Name: "soup"}}}
		w.post(c)
	}
	w.settle()
}

func (w *world) post(c wire.Content) {
	w.t.Helper()
	w.postTo(c, nil)
}

// postTo is post with copies at other stations.
func (w *world) postTo(c wire.Content, also []delivery.Copy) {
	w.t.Helper()
	data, err := wire.CanonicalContent(c)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.desk.Do(context.Background(),
		delivery.Accept{Tenant: "t1", Content: c, Data: data, Also: also}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delivery(ticket string) delivery.Delivery {
	w.t.Helper()
	if !strings.Contains(ticket, "@") {
		ticket += "@grill"
	}
	d, version, err := delivery.Load(w.store, "t1", ticket)
	if err != nil || version == 0 {
		w.t.Fatalf("%s: version %d, %v", ticket, version, err)
	}
	return d
}

func (w *world) want(ticket string, state delivery.State, failed int) delivery.Delivery {
	w.t.Helper()
	d := w.delivery(ticket)
	if d.State != state || d.Failed != failed {
		w.t.Fatalf("%s is %s with %d failed (%s), want %s with %d\n%+v", ticket, d.State, d.Failed,
			d.Reason, state, failed, d.Timeline)
	}
	return d
}

func (w *world) wantBad(reason string, times uint64) {
	w.t.Helper()
	if got := w.relay.Counters().BadAcks[reason]; got != times {
		w.t.Errorf("%d messages were bad by %q, want %d (%v)", got, reason, times,
			w.relay.Counters().BadAcks)
	}
}

func (w *world) rows(list string) []entity.Row {
	w.t.Helper()
	rows, err := w.store.Rows(list, "t1", entity.Row{}, 1e6)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}
