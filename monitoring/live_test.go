package monitoring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/wire"
	"chit/printer/profile"
	"chit/rig"
)

// patience bounds the whole test; every wait in it is for a condition.
const patience = 4 * time.Minute

// world is an installation and those who watch it.
type world struct {
	*testing.T
	*rig.Rig
	ctx    context.Context
	dir    string
	socket string // of the device's own door

	prometheus, alertmanager string // URLs

	mu    sync.Mutex
	notes []note
}

// note is one message of Alertmanager as its webhook brings it.
type note struct {
	path   string
	Status string  `json:"status"`
	Alerts []alert `json:"alerts"`
}

// alert is one alert as all three programs spell it.
type alert struct {
	Labels map[string]string `json:"labels"`
	Status any               `json:"status"`
}

func (a alert) is(name, station string) bool {
	return a.Labels["alertname"] == name && a.Labels["station"] == station
}

func TestARealPrometheusTellsOnceOfAKitchenWithoutPaper(t *testing.T) {
	promtool, prometheus := tool(t, "promtool"), tool(t, "prometheus")
	alertmanager := tool(t, "prometheus-alertmanager", "alertmanager")
	w := install(t)

	t.Log("# a ticket is printed, and every figure has its name and its help")
	w.order("shop-1/1")
	if _, err := w.Over(w.ctx, "shop-1/1", "grill"); err != nil {
		t.Fatal(err)
	}
	var text string
	w.until("the printer's state", func() bool {
		text = w.metrics()
		return strings.Contains(text, "\nchit_printer_held{")
	})
	check(t, text, promtool, "check", "metrics")
	check(t, w.deviceMetrics(), promtool, "check", "metrics")
	w.everyNameIn(text)

	t.Log("# the device goes, and a ticket gets no paper")
	if err := w.Device.Kill(); err != nil {
		t.Fatal(err)
	}
	w.order("shop-2/1")
	w.until("a late ticket at an unserved station", func() bool {
		text := w.metrics()
		return sample(text, "chit_station_oldest_seconds", "grill") >= late/faster &&
			sample(text, "chit_station_served", "grill") == 0
	})
	w.watch(prometheus, alertmanager)

	t.Log("# the P1 fires, arrives, and keeps the P2s quiet that it explains")
	w.until("the alert in Prometheus", func() bool { return w.firing("ChitTicketLate") })
	w.until("one alert that is told and two that are not", func() bool {
		states := w.states()
		return states["ChitTicketLate"] == "active" && states["ChitTicketWaits"] == "suppressed" &&
			states["ChitDeviceAway"] == "suppressed"
	})
	// A P2 of another station takes the same way after them: when it is there, theirs would be.
	w.raise(`[{"labels":{"alertname":"Other","severity":"P2","tenant":"main","kitchen":"main",` +
		`"station":"bar"}}]`)
	w.until("the other station's message", func() bool { return w.told("/p2", "Other", "bar") == 1 })
	w.until("the message", func() bool { return w.told("/p1", "ChitTicketLate", "grill") == 1 })
	if told := w.about("grill"); len(told) != 1 {
		t.Errorf("one cause, %d messages: %v", len(told), told)
	}

	t.Log("# the order is cancelled, and that is told once, too")
	if status, raw, err := w.Call(w.ctx, "POST", "/v1/tickets/shop-2/1/cancel",
		[]byte(`{"reason":"the guest left"}`)); err != nil || status != http.StatusOK {
		t.Fatalf("cancelling: %d %s %v", status, raw, err)
	}
	w.until("the end in a message", func() bool {
		return slices.ContainsFunc(w.about("grill"),
			func(n note) bool { return n.Status == "resolved" })
	})
	// What the P1 had explained is told now: the device is still away.
	w.until("the device's absence", func() bool {
		return w.told("/p2", "ChitDeviceAway", "grill") == 1
	})
	if n := w.told("/p1", "ChitTicketLate", "grill"); n != 2 {
		t.Errorf("raised and resolved in %d messages, expected 2", n)
	}
	if n := w.told("/p2", "ChitTicketWaits", "grill"); n != 0 {
		t.Errorf("a ticket on which a P1 had been told was told %d times as P2", n)
	}
}

// install builds the programs and starts broker, device and printer.
func install(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	w := &world{T: t, ctx: ctx, dir: t.TempDir()}
	// The path of a socket is short, the name of a test's folder may be long.
	short, err := os.MkdirTemp("", "chit-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(short); err != nil {
			t.Error(err)
		}
	})
	w.socket = filepath.Join(short, "device")
	build := exec.CommandContext(ctx, "go", "build", "-o", w.dir+"/", "chit/cmd/chit-broker",
		"chit/cmd/chitd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	w.Rig, err = rig.Start(ctx, rig.Config{Dir: filepath.Join(w.dir, "rig"),
		Broker: []string{filepath.Join(w.dir, "chit-broker")},
		Device: []string{filepath.Join(w.dir, "chitd")}, Stations: []string{"grill"},
		Printer: rig.Model(profile.Safe80()), DeviceLines: fmt.Sprintf("listen = %q", "unix:"+w.socket)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) until(what string, ok func() bool) {
	w.Helper()
	if err := w.Until(w.ctx, what, func(context.Context) bool { return ok() }); err != nil {
		for _, name := range []string{"prometheus.log", "alertmanager.log"} {
			if raw, err := os.ReadFile(filepath.Join(w.dir, name)); err == nil {
				w.Logf("%s:\n%s", name, raw)
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.Fatalf("%v; messages: %v", err, w.notes)
	}
}

func (w *world) order(id string) {
	w.Helper()
	status, err := w.Post(w.ctx, wire.Content{ID: id, Kitchen: "main", Station: "grill",
		Kind: wire.KindNew, Order: "41", Items: []wire.Item{{Quantity: 1, Name: "Margherita"}}})
	if err != nil || status != http.StatusAccepted {
		w.Fatalf("ordering %s: %d %v", id, status, err)
	}
}

func (w *world) metrics() string {
	w.Helper()
	status, raw, err := w.Call(w.ctx, "GET", "/metrics", nil)
	if err != nil || status != http.StatusOK {
		w.Fatalf("/metrics: %d %v", status, err)
	}
	return string(raw)
}

// deviceMetrics are the daemon's own.
func (w *world) deviceMetrics() string {
	w.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
		}}}
	raw, err := get(w.ctx, client, "http://device/metrics")
	if err != nil || !strings.Contains(string(raw), "chitd_") {
		w.Fatalf("the device's /metrics: %v: %s", err, raw)
	}
	return string(raw)
}

// everyNameIn compares rules and dashboard with a real scrape.
func (w *world) everyNameIn(scrape string) {
	w.Helper()
	_, exprs := rules(w.T)
	named := 0
	for _, expr := range append(exprs, dashboardExprs(w.T)...) {
		for _, name := range metricsOf(expr) {
			named++
			// up is Prometheus's own.
			if name != "up" && !strings.Contains(scrape, "\n# TYPE "+name+" ") {
				w.Errorf("%s names %s, which the broker does not show", expr, name)
			}
		}
	}
	if named < len(exprs) {
		w.Errorf("found only %d names in the expressions", named)
	}
}

// sample reads one station's figure, -1 where it is not there.
func sample(scrape, name, station string) float64 {
	m := regexp.MustCompile(`(?m)^` + name + `\{[^}]*station="` + station + `"[^}]*\} (\S+)$`).
		FindStringSubmatch(scrape)
	if m == nil {
		return -1
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return -1
	}
	return value
}

func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %s", url, response.Status))
	}
	return raw, errors.Join(err, response.Body.Close())
}

// firing is whether Prometheus says that the station's alert fires.
func (w *world) firing(name string) bool {
	var answer struct {
		Data struct {
			Alerts []struct {
				alert
				State string `json:"state"`
			} `json:"alerts"`
		} `json:"data"`
	}
	raw, err := get(w.ctx, http.DefaultClient, w.prometheus+"/api/v1/alerts")
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return false
	}
	for _, a := range answer.Data.Alerts {
		if a.is(name, "grill") && a.State == "firing" {
			return true
		}
	}
	return false
}

// states is what Alertmanager makes of the station's alerts.
func (w *world) states() map[string]string {
	var answer []struct {
		Labels map[string]string `json:"labels"`
		Status struct {
			State string `json:"state"`
		} `json:"status"`
	}
	raw, err := get(w.ctx, http.DefaultClient, w.alertmanager+"/api/v2/alerts")
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		return nil
	}
	states := map[string]string{}
	for _, a := range answer {
		if a.Labels["station"] == "grill" {
			states[a.Labels["alertname"]] = a.Status.State
		}
	}
	return states
}

// raise gives Alertmanager alerts of ours.
func (w *world) raise(alerts string) {
	w.Helper()
	response, err := http.Post(w.alertmanager+"/api/v2/alerts", "application/json",
		strings.NewReader(alerts))
	if err != nil || response.StatusCode != http.StatusOK {
		w.Fatalf("raising %s: %v %v", alerts, response, err)
	}
	if err := response.Body.Close(); err != nil {
		w.Error(err)
	}
}

// hook takes Alertmanager's messages.
func (w *world) hook(answer http.ResponseWriter, request *http.Request) {
	n := note{path: request.URL.Path}
	raw, err := io.ReadAll(request.Body)
	if err != nil || json.NewDecoder(bytes.NewReader(raw)).Decode(&n) != nil {
		answer.WriteHeader(http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, n)
}

// about are the messages that name a station.
func (w *world) about(station string) []note {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []note
	for _, n := range w.notes {
		if slices.ContainsFunc(n.Alerts, func(a alert) bool { return a.Labels["station"] == station }) {
			found = append(found, n)
		}
	}
	return found
}

// told counts the messages of one receiver that name an alert.
func (w *world) told(path, name, station string) (count int) {
	for _, n := range w.about(station) {
		if n.path == path &&
			slices.ContainsFunc(n.Alerts, func(a alert) bool { return a.is(name, station) }) {
			count++
		}
	}
	return count
}

// serveHook starts the receiver of the messages.
func (w *world) serveHook() string {
	server := httptest.NewServer(http.HandlerFunc(w.hook))
	w.Cleanup(server.Close)
	return server.Listener.Addr().String()
}
