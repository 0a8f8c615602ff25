package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"chit/metrics"
)

// aliveWithin is how old the core loop's last sign of life may be for /healthz.
const aliveWithin = 10 * time.Second

// serve shows /metrics and /healthz to this machine, and takes presses at POST /seen and
// POST /print-stale, until ctx ends.
func (s *Service) serve(ctx context.Context) error {
	if s.conf.Listen == "" {
		return nil
	}
	listener, err := listen(s.conf.Listen)
	if err != nil {
		return fmt.Errorf("service: listening on %s: %w", s.conf.Listen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(s.measure))
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("POST /seen", s.seen)
	mux.HandleFunc("POST /print-stale", s.printStale)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelInfo)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		err = server.Close()
		<-ended
		return err
	case err := <-ended:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("service: serving %s: %w", s.conf.Listen, err)
	}
}

func listen(address string) (net.Listener, error) {
	path, local := strings.CutPrefix(address, "unix:")
	if !local {
		return net.Listen("tcp", address)
	}
	// A socket that a killed process left behind goes; the journal's lock says that no other one runs.
	// Anything else that lies there is somebody's file, and the configuration is wrong.
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != os.ModeSocket:
		return nil, errors.New("found a file that is no socket, expected a socket or nothing")
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", path)
}

// healthz is 200 where the core loop lives and remembers.
func (s *Service) healthz(w http.ResponseWriter, _ *http.Request) {
	age := time.Since(time.Unix(0, s.fed.Load()))
	degraded := s.handlerStatus().Degraded
	switch {
	case age > aliveWithin:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "core loop silent for %s\n", age.Round(time.Second))
	case degraded != "":
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "degraded: %s\n", degraded)
	default:
		_, _ = fmt.Fprintln(w, "ok")
	}
}

func (s *Service) measure(add metrics.Add) {
	for key, n := range s.counters.all() {
		if key[1] == "" {
			add(metrics.Counter, "chitd_"+key[0]+"_total", "Count of "+key[0]+".", float64(n))
		} else {
			add(metrics.Counter, "chitd_"+key[0]+"_by_label_total", "Count of "+key[0]+" by label.",
				float64(n), "label", key[1])
		}
	}
	status := s.handlerStatus()
	for _, p := range status.Printers {
		ready := 0.0
		if p.Held == "" {
			ready = 1
		}
		add(metrics.Gauge, "chitd_printer_ready", "1 where the printer can print.", ready,
			"printer", p.Name)
		add(metrics.Gauge, "chitd_printer_waiting", "Tickets waiting for a held printer.",
			float64(p.Waiting), "printer", p.Name)
	}
	if l := s.link.Load(); l != nil {
		st := l.Stats()
		add(metrics.Counter, "chitd_connects_total", "Sessions greeted.", float64(st.Connects))
		add(metrics.Counter, "chitd_link_failures_total", "Sessions lost.", float64(st.Failures))
		add(metrics.Counter, "chitd_link_dropped_total", "Messages dropped on a full queue.",
			float64(st.Dropped))
	}
}
