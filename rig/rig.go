// Package rig sets up a whole installation on this machine's loopback: a broker process, a device
// process, virtual printers and the cable between device and broker, so that the demo, the crash
// tests and the benchmarks kill and cut real things.
//
// The rig is also the judge: what came out is counted from the virtual printers' paper and never
// from what the programs under test say about themselves.
package rig

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"chit/broker/intake"
	"chit/device/wire"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// Config says what to set up.
type Config struct {
	Dir string // of configurations, logs, stores and paper
	// Broker and Device are the programs and their first arguments; "--config F" is added. Without
	// a Device the test plays it itself, see Pairing.
	Broker, Device []string
	// Stations are the station ids; each has a printer of the same name.
	Stations []string
	// Printer is the model of every virtual printer.
	Printer virtual.Config
	// DeviceLines are added to the head of the device's configuration, such as a listen = "…".
	DeviceLines string
	// KeepPaper writes PNG and text files under Dir/paper/STATION.
	KeepPaper bool
	// Lease is how long the broker waits for an answer, 30 s where 0.
	Lease time.Duration
	// Backups names the stations that take over for others, by those others.
	Backups map[string]string
	// More is added at the end of the broker's file: tables, and stations of the last kitchen.
	More string
	// BrokerEnv and DeviceEnv are added to the environment of the programs, such as a failpoint.
	BrokerEnv, DeviceEnv []string
	// Died is told when a program that has been set up ends by itself, from another goroutine; nil
	// tells nobody.
	Died func(error)
	Log  *slog.Logger
}

// Rig is a running installation. Its methods are for one goroutine, but for Post, Ticket and the
// judge's.
type Rig struct {
	conf     Config
	Broker   *Process
	Device   *Process
	Cable    *Cable
	Printers map[string]*serve.Server

	units             []*Unit
	token, url, https string
	client            *http.Client

	mu       sync.Mutex
	posted   map[string]time.Time // ticket id → when it was first tried
	accepted map[string]time.Time // the same of those that the broker has promised
	refused  int
}

// Start sets everything up, pairs the device and returns when the device is connected.
func Start(ctx context.Context, conf Config) (_ *Rig, err error) {
	r := &Rig{conf: conf, Printers: map[string]*serve.Server{}, posted: map[string]time.Time{},
		accepted: map[string]time.Time{},
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
			MaxIdleConnsPerHost: clientsMax}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if err := os.MkdirAll(conf.Dir, 0o700); err != nil {
		return nil, err
	}
	for _, station := range conf.Stations {
		if r.Printers[station], err = r.printer(ctx, station); err != nil {
			return nil, err
		}
	}
	if err := r.startBroker(ctx); err != nil {
		return nil, err
	}
	if len(conf.Device) == 0 {
		return r, nil
	}
	if err := r.pair(ctx); err != nil {
		return nil, err
	}
	r.Broker.Died, r.Device.Died = conf.Died, conf.Died
	if err := r.Device.Start(); err != nil {
		return nil, err
	}
	return r, r.Connected(ctx)
}

// brokerTries bounds the starts on new ports, where another program was faster on the old ones.
const brokerTries = 5

// startBroker configures and starts the broker and waits for its door. A broker that ends before it
// is ready has most likely lost a port to somebody else: it gets new ones.
func (r *Rig) startBroker(ctx context.Context) error {
	for try := 1; ; try++ {
		if err := r.configure(); err != nil {
			return err
		}
		if err := r.Broker.Start(); err != nil {
			return err
		}
		waiting, cancel := context.WithCancelCause(ctx)
		stop, ended := make(chan struct{}), r.Broker.Ended()
		go func() {
			select {
			case <-ended:
				cancel(ErrEnded)
			case <-stop:
			}
		}()
		err := r.Until(waiting, "the broker to be ready", r.brokerReady)
		close(stop)
		cancel(nil)
		if !errors.Is(err, ErrEnded) || try == brokerTries {
			return err
		}
		if err := errors.Join(r.Broker.Kill(), r.Cable.Close()); err != nil {
			return err
		}
	}
}

func (r *Rig) printer(ctx context.Context, station string) (*serve.Server, error) {
	c := serve.Config{Printer: r.conf.Printer, Listen: "127.0.0.1:0", SecondWaits: true,
		Log: r.conf.Log}
	if r.conf.KeepPaper {
		c.Out = filepath.Join(r.conf.Dir, "paper", station)
	}
	s, err := serve.Start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("virtual printer of %s: %w", station, err)
	}
	return s, nil
}

// configure writes both programs' files. Ports are chosen free once and kept over restarts.
func (r *Rig) configure() error {
	ports, err := FreePorts(3)
	if err != nil {
		return err
	}
	mqtt, plain, tls := ports[0], ports[1], ports[2]
	if r.Cable, err = LayCable(mqtt); err != nil {
		return err
	}
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	r.token, r.url, r.https = hex.EncodeToString(secret), "http://"+plain, "https://"+tls
	lease := r.conf.Lease
	if lease == 0 {
		lease = 30 * time.Second
	}
	var broker, device strings.Builder
	fmt.Fprintf(&broker, "data = %q\n[http]\nlisten = %q\n[https]\nlisten = %q\n[mqtt]\nlisten = %q\n"+
		"public = \"tls://%s\"\nnames = [\"127.0.0.1\"]\n[[tokens]]\nfile = %q\n"+
		"[[kitchens]]\nid = \"main\"\n"+
		"lease = %q\n", r.path("broker"), plain, tls, mqtt, r.Cable.Addr(), r.path("token"), lease)
	fmt.Fprintf(&device, "state = %q\nretry_first = \"300ms\"\nretry_max = \"2s\"\n%s\n",
		r.path("device"), r.conf.DeviceLines)
	for _, station := range r.conf.Stations {
		fmt.Fprintf(&broker, "[[kitchens.stations]]\nid = %q\nprinter = %q\n", station, station)
		if backup := r.conf.Backups[station]; backup != "" {
			fmt.Fprintf(&broker, "backup = %q\n", backup)
		}
		fmt.Fprintf(&device, "[[printers]]\nname = %q\nurl = \"tcp://%s\"\n", station,
			r.Printers[station].Addr())
	}
	broker.WriteString(r.conf.More)
	for name, content := range map[string]string{"broker.toml": broker.String(),
		"device.toml": device.String(), "token": r.token + "\n"} {
		if err := os.WriteFile(r.path(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	r.Broker = &Process{Name: "broker", Env: r.conf.BrokerEnv, Log: r.path("broker.log"),
		Args: append(append([]string{}, r.conf.Broker...), "--config", r.path("broker.toml"))}
	if len(r.conf.Device) == 0 {
		return nil
	}
	r.Device = &Process{Name: "device", Env: r.conf.DeviceEnv, Log: r.path("device.log"),
		Args: append(append([]string{}, r.conf.Device...), "--config", r.path("device.toml"))}
	return nil
}

func (r *Rig) path(name string) string { return filepath.Join(r.conf.Dir, name) }

// pollEvery is the pause between two looks at a program from outside.
const pollEvery = 20 * time.Millisecond

// Until asks again and again until ok, and says what it waited for when ctx ends first.
func (r *Rig) Until(ctx context.Context, what string, ok func(context.Context) bool) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if ok(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// clientsMax is how many connections to the door stay open between two posts, for as many
// producers.
const clientsMax = 256

func (r *Rig) brokerReady(ctx context.Context) bool {
	status, _, err := r.call(ctx, "GET", "/readyz", nil)
	return err == nil && status == http.StatusOK
}

// Connected waits until the device has a session.
func (r *Rig) Connected(ctx context.Context) error {
	return r.Until(ctx, "the device to connect", func(ctx context.Context) bool {
		online, err := r.Online(ctx)
		return err == nil && online
	})
}

// Online asks the broker whether some device has a session.
func (r *Rig) Online(ctx context.Context) (bool, error) {
	list, err := r.devices(ctx)
	return slices.ContainsFunc(list, func(d intake.Device) bool { return d.Online }), err
}

func (r *Rig) call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, raw, errors.Join(err, response.Body.Close())
}

// Post sends a ticket until the broker answers, as an integrator does: a broker that is down or
// busy is asked again with the same id and content. It returns the HTTP status of the answer.
func (r *Rig) Post(ctx context.Context, c wire.Content) (status int, err error) {
	var cause error // of the last try
	err = r.Until(ctx, "the broker to take "+c.ID, func(ctx context.Context) bool {
		status, cause = r.Try(ctx, c)
		return cause == nil && status < http.StatusInternalServerError
	})
	return status, errors.Join(err, cause)
}

// Try sends a ticket once. An error or a status from 500 promises nothing, and may have been taken.
func (r *Rig) Try(ctx context.Context, c wire.Content) (int, error) {
	body, err := wire.CanonicalContent(c)
	if err != nil {
		return 0, fmt.Errorf("ticket %s: %w", c.ID, err)
	}
	id := c.ID + "@" + c.Station
	r.mu.Lock()
	posted, again := r.posted[id]
	if !again {
		posted = time.Now()
		r.posted[id] = posted
	}
	r.mu.Unlock()
	status, _, err := r.call(ctx, "POST", "/v1/tickets", body)
	if err != nil || status >= http.StatusInternalServerError {
		return status, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case status/100 != 2:
		r.refused++
	case r.accepted[id].IsZero():
		r.accepted[id] = posted
	}
	return status, nil
}

// Ticket asks the broker where a ticket stands.
func (r *Rig) Ticket(ctx context.Context, id, station string) (intake.Ticket, error) {
	var t intake.Ticket
	status, raw, err := r.call(ctx, "GET", "/v1/tickets/"+id+"?station="+station, nil)
	if err != nil {
		return t, err
	}
	if status != http.StatusOK {
		return t, fmt.Errorf("ticket %s@%s: status %d: %s", id, station, status, raw)
	}
	return t, json.Unmarshal(raw, &t)
}

// Over waits until the ticket is settled, dead or cancelled.
func (r *Rig) Over(ctx context.Context, id, station string) (intake.Ticket, error) {
	var t intake.Ticket
	err := r.Until(ctx, "ticket "+id+"@"+station+" to be over", func(ctx context.Context) bool {
		var err error
		t, err = r.Ticket(ctx, id, station)
		return err == nil && (t.State == "settled" || t.State == "dead" || t.State == "cancelled")
	})
	if err != nil {
		err = fmt.Errorf("%w (it is %s, %s %s)", err, t.State, t.Outcome, t.Reason)
	}
	return t, err
}

// URL is where the broker's plain door is, for programs that ask it by themselves.
func (r *Rig) URL() string { return r.url }

// Call is a plain authorised request, for whoever tests the door itself.
func (r *Rig) Call(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	return r.call(ctx, method, path, body)
}

// Sheets is the paper of all printers.
func (r *Rig) Sheets() []virtual.Sheet {
	var all []virtual.Sheet
	for _, station := range r.conf.Stations {
		all = append(all, r.Printers[station].Sheets()...)
	}
	return all
}

// Accepted is the tickets that the broker has promised, and when each was posted.
func (r *Rig) Accepted() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]time.Time, len(r.accepted))
	for id, at := range r.accepted {
		out[id] = at
	}
	return out
}

// paperMax bounds the wait for paper of what is over: a printer that never answers is believed as
// soon as it has taken the bytes, and prints them afterwards.
const paperMax = 20 * time.Second

// rest waits until the printers stand still and every ticket has paper, or no longer.
func (r *Rig) rest(ctx context.Context, tickets map[string]time.Time) {
	ctx, cancel := context.WithTimeout(ctx, paperMax)
	defer cancel()
	// Paper that is missing in the end is the judge's word, not ours.
	_ = r.Until(ctx, "the printers to rest", func(context.Context) bool {
		for _, printer := range r.Printers {
			if state, err := printer.State(); err != nil || !state.Idle || state.Buffered > 0 {
				return false
			}
		}
		found := map[string]bool{}
		for _, sheet := range r.Sheets() {
			found[Read(sheet).ID] = true
		}
		for id := range tickets {
			if !found[id] {
				return false
			}
		}
		return true
	})
}

// Judge waits until every accepted ticket is over, and compares promises with paper.
func (r *Rig) Judge(ctx context.Context) (Verdict, error) {
	ended := map[string]string{}
	accepted := r.Accepted()
	for ticket := range accepted {
		id, station, _ := strings.Cut(ticket, "@")
		t, err := r.Over(ctx, id, station)
		if err != nil {
			return Verdict{}, err
		}
		if t.State != "settled" {
			ended[ticket] = t.State
		}
	}
	owed := r.Accepted()
	for id := range ended {
		delete(owed, id)
	}
	r.rest(ctx, owed)
	v := judge(accepted, ended, r.Sheets())
	v.Refused = r.refused
	return v, nil
}

// Close ends everything.
func (r *Rig) Close() error {
	var errs []error
	processes := []*Process{r.Device, r.Broker}
	for _, u := range r.units {
		processes = append(processes, u.Process)
	}
	for _, p := range processes {
		if p != nil {
			errs = append(errs, p.Kill())
		}
	}
	r.client.CloseIdleConnections()
	if r.Cable != nil {
		errs = append(errs, r.Cable.Close())
	}
	for _, u := range r.units {
		errs = append(errs, u.Cable.Close())
	}
	for _, p := range r.Printers {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}
