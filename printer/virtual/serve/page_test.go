package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"chit/printer/virtual"
)

// ask sends one request with the given headers and returns the answer without following redirects.
func ask(t *testing.T, s *Server, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTPAddr()+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// stream is one open page.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

func watch(t *testing.T, s *Server) *stream {
	t.Helper()
	answer := ask(t, s, "GET", "/events", "")
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%d, content type %q", answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{t, lines}
}

// until reads states until one is as wanted.
func (s *stream) until(what string, wanted func(look) bool) look {
	s.t.Helper()
	for s.lines.Scan() {
		data, ok := strings.CutPrefix(s.lines.Text(), "data: ")
		if !ok {
			continue
		}
		var l look
		if err := json.Unmarshal([]byte(data), &l); err != nil {
			s.t.Fatal(err)
		}
		if wanted(l) {
			return l
		}
	}
	s.t.Fatalf("the stream ended before %s: %v", what, s.lines.Err())
	return look{}
}

func says(text string) func(look) bool {
	return func(l look) bool { return strings.Contains(strings.Join(l.Says, " "), text) }
}

func TestThePageSeesThePaperComeOutWhileItComes(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	page := watch(t, s)
	before := page.until("it is ready", says("Ready."))
	c := dialTCP(t, s)
	write(t, c, "two soups\n")
	line := page.until("the line", func(l look) bool { return l.Pending == "two soups\n" })
	if line.PendingDots <= before.PendingDots || !line.Connected {
		t.Errorf("the paper went from %d to %d dots: %+v", before.PendingDots, line.PendingDots, line)
	}
	write(t, c, cut)
	page.until("the sheet", func(l look) bool { return l.LastSheet == 1 && l.Cuts == 1 })
	var list struct{ Sheets []sheet }
	answer := ask(t, s, "GET", "/sheets", "")
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || len(list.Sheets) != 1 ||
		list.Sheets[0].Text != "two soups\n" || !strings.HasPrefix(list.Sheets[0].Title, "Sheet 1, ") {
		t.Errorf("sheets %+v, %v", list.Sheets, err)
	}
}

// Each button as a browser without scripts sends it, and as the page's script does.
func TestEachHandOfThePageDoesAndUndoesWhatItSays(t *testing.T) {
	s := start(t, Config{Printer: printer(), HTTP: "127.0.0.1:0"})
	page := watch(t, s)
	form := []string{"Content-Type", "application/x-www-form-urlencoded",
		"Origin", "http://" + s.HTTPAddr(), "Sec-Fetch-Site", "same-origin"}
	for _, h := range hands {
		answer := ask(t, s, "POST", "/fault", url.Values{"raise": {string(h.Fault)}}.Encode(),
			append(form, "Accept", "text/html,*/*")...)
		if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/" {
			t.Errorf("%s: %d %s", h.Fault, answer.StatusCode, answer.Header.Get("Location"))
		}
		// The cutter jams at the next cut, not before.
		if h.Fault == virtual.CutterError {
			if err := s.Do(func(p *virtual.Printer, now time.Time) {
				p.Receive(now, []byte("x\n"+cut))
			}); err != nil {
				t.Fatal(err)
			}
		}
		l := page.until(h.says, says(h.says))
		lamp := map[bool]string{true: "stopped", false: "ready"}[h.stops]
		if h.Fault == virtual.PowerCut {
			lamp = "off"
		}
		if l.Lamp != lamp && l.Lamp != "working" || len(l.Wrong) != 1 {
			t.Errorf("%s: lamp %s, wrong %v", h.Fault, l.Lamp, l.Wrong)
		}
		answer = ask(t, s, "POST", "/fault", url.Values{"clear": {string(h.Fault)}}.Encode(),
			append(form, "Accept", "application/json")...)
		if answer.StatusCode != http.StatusOK {
			t.Errorf("undo %s: %d", h.Fault, answer.StatusCode)
		}
		page.until("undone "+string(h.Fault), says("Ready."))
	}
	if answer := ask(t, s, "POST", "/tear", "", form...); answer.StatusCode != http.StatusOK {
		t.Errorf("tear: %d", answer.StatusCode)
	}
}

func TestThePageIsWholeWithoutScriptsAndReadsPaperAsTextAlone(t *testing.T) {
	s := start(t, Config{Printer: printer("cover-open:after=3"), Listen: "127.0.0.1:0",
		HTTP: "127.0.0.1:0"})
	c := dialTCP(t, s)
	write(t, c, "<script>alert(1)</script>\n"+cut+"hangs\nhere\n")
	waitState(t, s, func(st State) bool { return len(st.Wrong) == 1 && st.Sheets == 1 })
	code, body := control(t, s, "GET", "/", "")
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;", "The cover is open.", "hangs\n", `data-lamp="stopped"`,
		`name="clear" value="cover-open"`, ">Close the cover<", `name="raise" value="power-off"`,
		`src="paper/1"`, `<html lang="en">`, "<noscript>", `name="viewport"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "<script>alert") {
		t.Error("the paper's words are markup")
	}
	for path, kind := range map[string]string{
		"/page.js": "text/javascript", "/page.css": "text/css", "/": "text/html",
	} {
		h := ask(t, s, "GET", path, "").Header
		if !strings.HasPrefix(h.Get("Content-Type"), kind) ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") ||
			strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestOnlyThePageItselfAndProgramsReachTheHands(t *testing.T) {
	s := start(t, Config{Printer: printer(), HTTP: "127.0.0.1:0"})
	const off = `{"raise":"power-off"}`
	own := "http://" + s.HTTPAddr()
	for _, tt := range []struct {
		name    string
		headers []string
		code    int
	}{
		{"another page", []string{"Origin", "https://example.com"}, 403},
		{"another page in an old browser", []string{"Origin", "null"}, 403},
		{"another page of this machine", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a form elsewhere", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a name that was made to point here", []string{"Host", "evil.example"}, 403},
		{"a name that begins like ours", []string{"Host", "127.0.0.1.evil.example:80"}, 403},
		{"the page", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 200},
		{"a program", nil, 200},
	} {
		answer := ask(t, s, "POST", "/fault", off, tt.headers...)
		if answer.StatusCode != tt.code {
			t.Errorf("%s: %d, want %d", tt.name, answer.StatusCode, tt.code)
		}
		st, err := s.State()
		if err != nil || st.On == (tt.code == 200) {
			t.Errorf("%s: on is %v, %v", tt.name, st.On, err)
		}
		if err := s.Clear(virtual.PowerCut); err != nil {
			t.Fatal(err)
		}
	}
	anywhere := start(t, Config{Printer: printer(), HTTP: "0.0.0.0:0", Anywhere: true})
	port := anywhere.HTTPAddr()[strings.LastIndex(anywhere.HTTPAddr(), ":"):]
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1"+port+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "printer.lan"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("from anywhere: %d", answer.StatusCode)
	}
}

func TestSoManyPagesAndNoMore(t *testing.T) {
	s := start(t, Config{Printer: printer(), HTTP: "127.0.0.1:0"})
	for range watchersMax {
		watch(t, s).until("it is ready", says("Ready."))
	}
	if answer := ask(t, s, "GET", "/events", ""); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", answer.StatusCode)
	}
}

func TestWhatIsSentWithoutACableArrivesWhenItIsBack(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0"})
	c := dialTCP(t, s)
	write(t, c, "before\n\x10\x04\x01")
	reads(t, c, "\x12")
	raise(t, s, "cable-out")
	write(t, c, "within\n\x10\x04\x01")
	second, err := s.Dialer().Dial(shortly(t))
	if err == nil {
		second.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dialling without a cable: %v", err)
	}
	pending, err := s.Pending()
	if err != nil || pending.Text() != "before\n" {
		t.Errorf("without a cable came out %q, %v", pending.Text(), err)
	}
	if err := s.Clear(virtual.CableOut); err != nil {
		t.Fatal(err)
	}
	reads(t, c, "\x12")
	waitState(t, s, func(st State) bool { return st.Pending == "before\nwithin\n" })
}

// shortly is a context that ends soon.
func shortly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// What the tables of the page say must be faults that there are.
func TestEveryHandIsAFaultThatCanBeRaisedAndCleared(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range hands {
		if _, err := virtual.NamedFault(string(h.Fault)); err != nil {
			t.Errorf("%s: %v", h.Fault, err)
		}
		for _, text := range []string{h.Raise, h.Clear, h.says} {
			if text == "" || seen[text] {
				t.Errorf("%s: %q is empty or said twice", h.Fault, text)
			}
			seen[text] = true
		}
	}
}
