package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"chit/printer/virtual"
)

// State is what GET /state tells.
type State struct {
	On        bool   `json:"on"`
	Connected bool   `json:"connected"`
	Idle      bool   `json:"idle"`
	Buffered  int    `json:"buffered"`
	Sheets    int    `json:"sheets"`
	LineFeeds uint64 `json:"line_feeds"`
	Cuts      uint64 `json:"cuts"`
	Pending   string `json:"pending"`
	// PendingDots is the length of the paper that hangs in the machine, down to the print head.
	PendingDots int            `json:"pending_dots"`
	Wrong       []string       `json:"wrong"` // what keeps it from printing, as fault names
	Errors      []virtual.Mark `json:"errors"`
	Events      []virtual.Mark `json:"events"`
}

// State tells how the printer is.
func (s *Server) State() (st State, err error) {
	err = s.Do(func(p *virtual.Printer, now time.Time) {
		st = State{On: p.On(), Connected: p.Connected(), Idle: p.Idle(), Buffered: p.Buffered(),
			Pending: p.Pending().Text(), PendingDots: p.Head(),
			Wrong: []string{}, Errors: append([]virtual.Mark{}, p.Errors()...),
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

// handler is the live page and the control:
//
//	GET  /                                    the page: paper coming out, hands, sheets
//	GET  /events                              its states, as Server-Sent Events
//	GET  /sheets                              its newest sheets
//	GET  /state                               how it is
//	GET  /paper[?count=N&wait=10s]            records, once there are N or the wait is over
//	GET  /paper/{n}                           picture n; 0 is what hangs in the machine
//	POST /fault {"raise":"paper-out:after=3"} or {"clear":"paper-out"}, or the same as a form
//	POST /tear                                a hand tears the paper off
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.getPage)
	mux.HandleFunc("GET /page.css", asset("page.css", "text/css"))
	mux.HandleFunc("GET /page.js", asset("page.js", "text/javascript"))
	mux.HandleFunc("GET /events", s.getEvents)
	mux.HandleFunc("GET /sheets", s.getSheets)
	mux.HandleFunc("GET /state", s.getState)
	mux.HandleFunc("GET /paper", s.getPaper)
	mux.HandleFunc("GET /paper/{n}", s.getPicture)
	mux.HandleFunc("POST /fault", s.postFault)
	mux.HandleFunc("POST /tear", func(w http.ResponseWriter, r *http.Request) {
		s.answerAfter(w, r, s.Do(func(p *virtual.Printer, now time.Time) { p.Tear(now) }))
	})
	return s.guarded(mux)
}

func (s *Server) getState(w http.ResponseWriter, r *http.Request) { s.answerAfter(w, r, nil) }

// answerAfter answers with the state, or with what went wrong. A form without scripts is sent back
// to the page.
func (s *Server) answerAfter(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil && r.Method == http.MethodPost && wantsPage(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
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

// wish is what POST /fault asks for.
type wish struct{ Raise, Clear string }

// readWish reads it from a form that says that it is one and means it, else from JSON. curl -d says
// that JSON is a form.
func readWish(w http.ResponseWriter, r *http.Request) (wish, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, faultBytesMax))
	if err != nil {
		return wish{}, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isJSON := bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
	if kind == "application/x-www-form-urlencoded" && !isJSON {
		form, err := url.ParseQuery(string(body))
		return wish{form.Get("raise"), form.Get("clear")}, err
	}
	var found wish
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&found)
	return found, err
}

func (s *Server) postFault(w http.ResponseWriter, r *http.Request) {
	wish, err := readWish(w, r)
	if err != nil {
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
