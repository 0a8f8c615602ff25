package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"chit/printer/virtual"
)

// ErrControl says that the control is not on loopback: whoever reaches it can cut the power.
var ErrControl = errors.New("control address is not on loopback")

func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("serve: control address %q: %w", address, err)
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("serve: %w: found %q, expected 127.0.0.1, [::1] or localhost", ErrControl, host)
}

// State is what GET /state tells.
type State struct {
	On        bool           `json:"on"`
	Connected bool           `json:"connected"`
	Idle      bool           `json:"idle"`
	Buffered  int            `json:"buffered"`
	Sheets    int            `json:"sheets"`
	LineFeeds uint64         `json:"line_feeds"`
	Cuts      uint64         `json:"cuts"`
	Pending   string         `json:"pending"`
	Wrong     []string       `json:"wrong"` // what keeps it from printing, as fault names
	Errors    []virtual.Mark `json:"errors"`
	Events    []virtual.Mark `json:"events"`
}

// State tells how the printer is.
func (s *Server) State() (st State, err error) {
	err = s.Do(func(p *virtual.Printer, now time.Time) {
		st = State{On: p.On(), Connected: p.Connected(), Idle: p.Idle(), Buffered: p.Buffered(),
			Pending: p.Pending().Text(),
			Wrong:   []string{}, Errors: append([]virtual.Mark{}, p.Errors()...),
			Events: append([]virtual.Mark{}, p.Events()...)}
		st.LineFeeds, st.Cuts = p.Counters()
		for _, name := range p.Wrong() {
			st.Wrong = append(st.Wrong, string(name))
		}
	})
	s.mu.Lock()
	st.Sheets = len(s.sheets)
	s.mu.Unlock()
	return st, err
}

// handler is the control:
//
//	GET  /state                               how it is
//	GET  /paper[?count=N&wait=10s]            records, once there are N or the wait is over
//	GET  /paper/{n}                           picture n; 0 is what hangs in the machine
//	POST /fault {"raise":"paper-out:after=3"} or {"clear":"paper-out"}
//	POST /tear                                a hand tears the paper off
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", s.getState)
	mux.HandleFunc("GET /paper", s.getPaper)
	mux.HandleFunc("GET /paper/{n}", s.getPicture)
	mux.HandleFunc("POST /fault", s.postFault)
	mux.HandleFunc("POST /tear", func(w http.ResponseWriter, r *http.Request) {
		s.answerAfter(w, r, s.Do(func(p *virtual.Printer, now time.Time) { p.Tear(now) }))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" { // A web page has no business at the power switch.
			http.Error(w, "not for browsers", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Server) getState(w http.ResponseWriter, r *http.Request) { s.answerAfter(w, r, nil) }

// answerAfter answers with the state, or with what went wrong.
func (s *Server) answerAfter(w http.ResponseWriter, _ *http.Request, err error) {
	st, stateErr := s.State()
	if err = errors.Join(err, stateErr); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer(w, st)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // The client left: nobody is there to be told.
}

// Paper is what GET /paper tells.
type Paper struct {
	Sheets  []Record `json:"sheets"`
	Pending string   `json:"pending"`
}

func (s *Server) getPaper(w http.ResponseWriter, r *http.Request) {
	count, _ := strconv.Atoi(r.FormValue("count"))
	if wait, err := time.ParseDuration(r.FormValue("wait")); err == nil && wait > 0 {
		s.waitCount(r, count, wait)
	}
	pending, err := s.Pending()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.mu.Lock()
	paper := Paper{Sheets: append([]Record{}, s.records...), Pending: pending.Text()}
	s.mu.Unlock()
	answer(w, paper)
}

// waitCount waits until there are count sheets, or not longer.
func (s *Server) waitCount(r *http.Request, count int, wait time.Duration) {
	timer := time.NewTimer(min(wait, time.Minute))
	defer timer.Stop()
	for {
		s.mu.Lock()
		n, changed := len(s.sheets), s.changed
		s.mu.Unlock()
		if n >= count {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *Server) getPicture(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		http.Error(w, "want a number", http.StatusBadRequest)
		return
	}
	var sheet virtual.Sheet
	if n == 0 {
		sheet, err = s.Pending()
	} else {
		err = errors.New("no such sheet")
		for _, have := range s.Sheets() {
			if have.Number == n {
				sheet, err = have, nil
			}
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	picture, err := sheet.PNG()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(picture)
}

// faultBytesMax bounds the body of POST /fault.
const faultBytesMax = 4096

func (s *Server) postFault(w http.ResponseWriter, r *http.Request) {
	var wish struct{ Raise, Clear string }
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, faultBytesMax))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wish); err != nil {
		http.Error(w, `want {"raise":"…"} or {"clear":"…"}: `+err.Error(), http.StatusBadRequest)
		return
	}
	text := wish.Raise
	if text == "" {
		text = wish.Clear
	}
	f, err := virtual.ParseFault(text)
	if wish.Raise == "" && err != nil { // Clearing needs the name alone.
		f, err = virtual.NamedFault(wish.Clear)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if wish.Raise != "" {
		err = s.Raise(f)
	} else {
		err = s.Clear(f.Name)
	}
	s.answerAfter(w, r, err)
}
