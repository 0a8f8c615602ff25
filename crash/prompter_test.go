package crash

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/broker/fleet/fleettest"
	"chit/broker/link"
	"chit/device/wire"
	"chit/printer/profile"
	"chit/printer/virtual/serve"
	"chit/rig"
)

// prompter is a broker that the test plays: its fleet, TLS and MQTT engine are real, what it says
// is the test's wish. Beside it stand a chitd and a virtual printer.
type prompter struct {
	*testing.T
	ctx     context.Context
	engine  *link.Embedded
	fleet   *fleet.Fleet
	signer  *wire.Signer
	device  *rig.Process
	printer *serve.Server
	id      string // the device's

	mu   sync.Mutex
	acks []wire.Ack
	news chan struct{} // closed and replaced when something was heard
	up   int           // hellos heard
	seen uint64        // n_seen, as a broker would keep it
}

// The prompter's tenant and station; the station's printer has the same name.
const (
	prompterTenant  = "main"
	prompterStation = "grill"
)

// prompt starts everything and waits for the device's hello.
func prompt(ctx context.Context, t *testing.T) *prompter {
	t.Helper()
	p := &prompter{T: t, ctx: ctx, news: make(chan struct{})}
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	p.must(err)
	p.fleet, err = fleet.Open(ctx, fleet.Config{Dir: dir, Names: []string{"127.0.0.1"},
		MQTT: "tls://" + listener.Addr().String(), Records: &fleettest.Memory{}, Now: time.Now})
	p.must(err)
	key, err := p.fleet.Signer(ctx, prompterTenant)
	p.must(err)
	p.signer, err = wire.NewSigner(key.Key)
	p.must(err)
	p.engine, err = link.NewEmbedded(link.EmbeddedConfig{Listener: listener,
		TLS: p.fleet.ServerTLS(true), Gate: p.fleet}, p)
	p.must(err)
	p.serve()
	p.printer, err = serve.Start(ctx, serve.Config{Printer: rig.Model(profile.Safe80()),
		Listen: "127.0.0.1:0", SecondWaits: true})
	p.must(err)
	t.Cleanup(func() {
		if err := p.printer.Close(); err != nil {
			t.Error(err)
		}
	})
	p.enrol(dir)
	p.must(p.device.Start())
	t.Cleanup(func() {
		if err := p.device.Kill(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(logs(dir))
		}
	})
	p.await("the device's hello", func() bool { return p.up > 0 })
	return p
}

func (p *prompter) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// serve runs the engine until the test ends.
func (p *prompter) serve() {
	running, stop := context.WithCancel(context.WithoutCancel(p.ctx))
	done := make(chan error, 1)
	go func() { done <- p.engine.Run(running) }()
	p.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			p.Error(err)
		}
	})
	<-p.engine.Ready()
}

// enrol pairs a chitd as a technician does.
func (p *prompter) enrol(dir string) {
	p.Helper()
	mux := http.NewServeMux()
	mux.Handle("POST /v1/devices/pair", p.fleet.PairHandler())
	door := httptest.NewUnstartedServer(mux)
	plain := door.Listener
	door.Listener = tls.NewListener(plain, p.fleet.ServerTLS(false))
	door.Start()
	defer door.Close()
	code, err := p.fleet.NewCode(p.ctx, fleet.CodeRequest{Tenant: prompterTenant,
		Stations: []fleet.Station{{Station: prompterStation, Name: prompterStation,
			Printer: prompterStation}}})
	p.must(err)
	conf := filepath.Join(dir, "device.toml")
	text := fmt.Sprintf("state = %q\nretry_first = \"300ms\"\nretry_max = \"2s\"\n[[printers]]\n"+
		"name = %q\nurl = \"tcp://%s\"\n", filepath.Join(dir, "device"), prompterStation,
		p.printer.Addr())
	p.must(os.WriteFile(conf, []byte(text), 0o600))
	chitd := filepath.Join(programs, "chitd")
	pair := exec.CommandContext(p.ctx, chitd, "pair", "--config", conf, "--url",
		"https://"+plain.Addr().String(), code.Pairing)
	if out, err := pair.CombinedOutput(); err != nil {
		p.Fatalf("pairing: %v\n%s", err, out)
	}
	p.device = &rig.Process{Name: "device", Args: []string{chitd, "--config", conf},
		Log: filepath.Join(dir, "device.log"),
		Env: []string{failpointVariable + "=@" + filepath.Join(dir, "device.failpoint")}}
}

// Handle implements [link.Handler]: it verifies as a broker does, answers hellos and keeps acks.
func (p *prompter) Handle(m link.Message) {
	if m.Leaf != wire.LeafAck {
		return
	}
	public, err := p.fleet.Keys(m.Device)
	if err != nil {
		p.Error(err)
		return
	}
	keys := wire.Keys(public)
	typ, _, err := wire.Peek(m.Payload)
	switch {
	case err != nil:
		p.Error(err)
	case typ == wire.TypeHello:
		hello, err := keys.OpenHello(m.Payload)
		if err != nil {
			p.Error(err)
			return
		}
		p.welcome(hello)
	case typ == wire.TypeAck:
		ack, err := keys.OpenAck(m.Payload)
		if err != nil {
			p.Error(err)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.acks, p.seen = append(p.acks, ack), max(p.seen, ack.N)
		p.told()
	}
}

// told wakes whoever waits. The caller holds mu.
func (p *prompter) told() {
	close(p.news)
	p.news = make(chan struct{})
}

// welcome opens the session; only then is the hello told of, because a device answers nothing
// before.
func (p *prompter) welcome(hello wire.Hello) {
	p.mu.Lock()
	p.id = hello.Device
	seen, epoch := p.seen, uint64(p.up+1)
	p.mu.Unlock()
	raw, err := p.signer.SignWelcome(wire.Welcome{Session: hello.Session, Epoch: epoch,
		Host: "prompter", Now: time.Now().UnixMilli(), Journal: hello.Journal, NSeen: seen})
	if err != nil {
		p.Error(err)
		return
	}
	p.publish(wire.LeafCommand, raw)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.up++
	p.told()
}

// publish says something to the device; the device may be dead, so an error proves nothing.
func (p *prompter) publish(leaf wire.Leaf, raw []byte) {
	_ = p.engine.Publish(p.ctx, wire.DeviceTopic(prompterTenant, p.id, leaf).String(), raw, false)
}

// again starts the device anew and waits for its hello.
func (p *prompter) again() {
	p.Helper()
	p.mu.Lock()
	ups := p.up
	p.mu.Unlock()
	p.must(p.device.Start())
	p.await("the device's next hello", func() bool { return p.up > ups })
}

// await waits until ok is true of what was heard.
func (p *prompter) await(what string, ok func() bool) {
	p.Helper()
	for {
		p.mu.Lock()
		good, news := ok(), p.news
		p.mu.Unlock()
		if good {
			return
		}
		select {
		case <-news:
		case <-p.ctx.Done():
			p.Fatalf("waiting for %s: %v; heard %d hellos and %d acks", what, p.ctx.Err(), p.up,
				len(p.acks))
		}
	}
}

// said counts the acks of a ticket with one of these outcomes. The caller holds mu.
func (p *prompter) said(ticket string, outcomes ...wire.Outcome) int {
	n := 0
	for _, ack := range p.acks {
		for _, o := range outcomes {
			if ack.Ticket == ticket && ack.Outcome == o {
				n++
			}
		}
	}
	return n
}

// message is a ticket as the broker signs it.
func (p *prompter) message(c wire.Content, attempt int, change func(*wire.Ticket)) []byte {
	p.Helper()
	data, err := wire.CanonicalContent(c)
	p.must(err)
	ticket := wire.Ticket{ID: c.ID + "@" + c.Station, Device: p.id, Source: "chit/" + prompterTenant,
		Time: time.Now().UTC().Format(time.RFC3339), Data: data, Attempt: attempt, Lease: 30_000,
		Expires: 30 * 24 * 3600, Printer: prompterStation, Station: c.Station, Number: "1"}
	if change != nil {
		change(&ticket)
	}
	raw, err := p.signer.SignTicket(ticket)
	p.must(err)
	return raw
}

// papers are the ids on the paper that was cut so far, with how often each is there.
func (p *prompter) papers() map[string]int {
	found := map[string]int{}
	for _, sheet := range p.printer.Sheets() {
		if id := rig.Read(sheet).ID; id != "" {
			found[id]++
		}
	}
	return found
}

// only reports whether each id has one paper and nothing else has any.
func (p *prompter) only(ids ...string) {
	p.Helper()
	papers := p.papers()
	for _, id := range ids {
		if papers[id] != 1 {
			p.Errorf("%s has %d papers, want 1", id, papers[id])
		}
		delete(papers, id)
	}
	if len(papers) > 0 {
		p.Errorf("paper of %s, want none", strings.Join(keysOf(papers), ", "))
	}
}

func keysOf(m map[string]int) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}
