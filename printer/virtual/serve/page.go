package serve

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"chit/printer/virtual"
)

// Limits of the live page.
const (
	// eventPause is the least time between two states of one stream: ten pictures a second are a
	// film.
	eventPause = 100 * time.Millisecond
	// eventBeat is how often a silent stream says that it is alive.
	eventBeat = 15 * time.Second
	// eventTimeout is how long a reader may take for one state before it is given up.
	eventTimeout = 10 * time.Second
	// watchersMax bounds the streams that are open at a time.
	watchersMax = 32
	// recentMax is how many marks the page shows; sheetsShown how many sheets.
	recentMax, sheetsShown = 20, 50
)

//go:embed page
var pageFiles embed.FS

var page = template.Must(template.ParseFS(pageFiles, "page/index.html"))

// hand is a button of the page: a fault that people can cause and undo.
type hand struct {
	Fault        virtual.FaultName
	Raise, Clear string // what the button says
	says         string // what the page says while it is so
	stops        bool   // nothing is printed meanwhile
}

var hands = []hand{
	{virtual.CoverOpen, "Open the cover", "Close the cover", "The cover is open.", true},
	{virtual.PaperOut, "Take the paper out", "Put paper in", "There is no paper.", true},
	{virtual.NearEnd, "Let the roll run low", "Put a full roll in", "The roll runs low.", false},
	{virtual.CutterError, "Jam the cutter", "Free the cutter", "The cutter is jammed.", true},
	{virtual.HeadHot, "Heat the head", "Let the head cool", "The head is too hot.", true},
	{virtual.CableOut, "Pull the cable", "Plug the cable in", "The data cable is out.", false},
	{virtual.PowerCut, "Cut the power", "Switch it on", "The power is off.", true},
}

// look is the state as the page shows it.
type look struct {
	State
	// Lamp is "ready", "working", "stopped" or "off".
	Lamp string `json:"lamp"`
	// Says is why, in sentences.
	Says []string `json:"says"`
	// Facts is what else there is to know, in one line.
	Facts  string   `json:"facts"`
	Recent []string `json:"recent"` // the newest marks first
	// LastSheet is the number of the newest sheet, 0 before there is one.
	LastSheet int `json:"last_sheet"`
}

// look puts the present state into words.
func (s *Server) look() (look, error) {
	st, err := s.State()
	if err != nil {
		return look{}, err
	}
	l := lookAt(st)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.records); n > 0 {
		l.LastSheet = s.records[n-1].N
	}
	return l, nil
}

func lookAt(st State) look {
	l := look{State: st, Lamp: "ready", Says: []string{}, Recent: []string{}}
	if !st.Idle {
		l.Lamp = "working"
	}
	for _, name := range st.Wrong {
		says := "Fault: " + name + "."
		for _, h := range hands {
			if string(h.Fault) == name {
				says = h.says
				if h.stops {
					l.Lamp = "stopped"
				}
			}
		}
		if name == string(virtual.Broken) {
			l.Lamp = "stopped"
		}
		l.Says = append(l.Says, says)
	}
	switch {
	case !st.On:
		l.Lamp = "off"
	case len(l.Says) > 0:
	case st.Idle:
		l.Says = append(l.Says, "Ready.")
	default:
		l.Says = append(l.Says, "Printing.")
	}
	host := "none"
	if st.Connected {
		host = "connected"
	}
	l.Facts = fmt.Sprintf("Host: %s. Bytes that wait: %d. Sheets: %d. Line feeds: %d. Cuts: %d.", host,
		st.Buffered, st.Sheets, st.LineFeeds, st.Cuts)
	marks := slices.Concat(st.Errors, st.Events)
	slices.SortStableFunc(marks, func(a, b virtual.Mark) int { return b.At.Compare(a.At) })
	for _, m := range marks[:min(len(marks), recentMax)] {
		l.Recent = append(l.Recent, fmt.Sprintf("%s %s: %s", m.At.Local().Format("15:04:05"), m.Kind,
			m.Text))
	}
	l.Errors, l.Events = nil, nil // A stream need not repeat them all.
	return l
}

// sheet is a record with a title for people.
type sheet struct {
	Record
	Title string `json:"title"`
}

// newest are the last sheets, newest first.
func (s *Server) newest() []sheet {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []sheet{}
	for i := len(s.records) - 1; i >= 0 && len(list) < sheetsShown; i-- {
		r := s.records[i]
		title := fmt.Sprintf("Sheet %d, %d mm, %s, %s", r.N, r.HeightDots/8, cutWords[r.Cut],
			r.Time.Local().Format("15:04:05"))
		list = append(list, sheet{r, title})
	}
	return list
}

var cutWords = map[string]string{"full": "cut off", "partial": "cut but for a bridge",
	"torn": "torn off"}

// getPage is the page as it is now, also for browsers that run no scripts.
func (s *Server) getPage(w http.ResponseWriter, _ *http.Request) {
	l, err := s.look()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	type button struct {
		hand
		Wrong    bool
		Do, Says string
	}
	var buttons []button
	for _, h := range hands {
		b := button{hand: h, Do: "raise", Says: h.Raise}
		if slices.Contains(l.Wrong, string(h.Fault)) {
			b.Wrong, b.Do, b.Says = true, "clear", h.Clear
		}
		buttons = append(buttons, b)
	}
	var b bytes.Buffer
	err = page.ExecuteTemplate(&b, "index.html", map[string]any{"State": l, "Facts": l.Facts,
		"Hands": buttons, "Sheets": s.newest()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

func (s *Server) getSheets(w http.ResponseWriter, _ *http.Request) {
	list := s.newest()
	slices.Reverse(list)
	answer(w, map[string]any{"sheets": list})
}

// getEvents streams the state as Server-Sent Events, at each change and at once.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request) {
	if s.watchers.Add(1) > watchersMax {
		s.watchers.Add(-1)
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer s.watchers.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(eventTimeout))
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	beat := time.NewTicker(eventBeat)
	defer beat.Stop()
	last := ""
	for {
		moved := s.movement() // Before the state, so that no change falls between the two.
		l, err := s.look()
		if err != nil {
			return
		}
		state, err := json.Marshal(l)
		if err != nil {
			s.log.Error("a state cannot be told", "err", err)
			return
		}
		if text := string(state); text != last {
			last = text
			if !send("event: state\ndata: " + text + "\n\n") {
				return
			}
		}
		select {
		case <-moved:
		case <-beat.C:
			if !send(": still here\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
		select {
		case <-time.After(eventPause):
		case <-r.Context().Done():
			return
		}
	}
}

// movement is closed at the next change of anything that the page shows.
func (s *Server) movement() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// asset serves one file of the page.
func asset(name, kind string) http.HandlerFunc {
	b, err := fs.ReadFile(pageFiles, "page/"+name)
	if err != nil {
		panic(fmt.Sprintf("serve: the page lacks %s: %v", name, err))
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write(b)
	}
}

// wantsPage tells whether a person's browser sent a form, rather than a script or a program.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
