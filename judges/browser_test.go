package judges

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"chit/printer/profile"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// browser is a Chromium without a window, driven over a pair of pipes: JSON messages that end with
// a NUL. Source: Chromium, --remote-debugging-pipe; Chrome DevTools Protocol, domains Target, Page,
// Runtime, Input, Emulation and Log.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	id      int
	session string
	// complaints are what the page's console and the browser's log said.
	complaints []string
}

// browserTimeout ends a browser that does not answer any more.
const browserTimeout = 2 * time.Minute

// open starts a browser of that size and shows it a page.
func open(t *testing.T, url string, width, height int) *browser {
	t.Helper()
	name, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no chromium; .ci/prepare installs it on Debian and Ubuntu")
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "chit-browser-")
	if err != nil {
		t.Fatal(err)
	}
	// Root has no sandbox to run in; the page is ours.
	cmd := exec.CommandContext(t.Context(), name, "--headless=new", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+folder,
		"--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	timer := time.AfterFunc(browserTimeout, func() { _ = cmd.Process.Kill() })
	b := &browser{t: t, in: ourOut, out: bufio.NewReader(ourIn)}
	t.Cleanup(func() {
		timer.Stop()
		b.session = ""
		b.send("Browser.close", nil)
		_ = cmd.Wait() // Its exit code says nothing of the page.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		ourOut.Close()
		ourIn.Close()
		sweep(t, folder)
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true},
		&attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height,
		"deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until("document.readyState === 'complete'")
	return b
}

// sweep removes the browser's folder, in which its last helpers may write until they are gone.
func sweep(t *testing.T, folder string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); ; <-tick.C {
		err := os.RemoveAll(folder)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}

// message is anything that the browser sends.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func (b *browser) send(method string, params any) {
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		b.t.Errorf("%s: %v", method, err)
	}
}

// call sends one command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.send(method, params)
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser is gone: %v", method, err)
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case m.Method == "Log.entryAdded", m.Method == "Runtime.exceptionThrown",
			m.Method == "Runtime.consoleAPICalled":
			b.complaints = append(b.complaints, string(m.Params))
		case m.ID != b.id:
		case m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		default:
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					b.t.Fatal(err)
				}
			}
			return
		}
	}
}

// eval is the value of an expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true,
		"awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Text)
	}
	return answer.Result.Value
}

// until waits for an expression to be true; the browser looks at each change of the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	done := b.eval(`new Promise(resolve => {
		const end = Date.now() + 30000;
		const look = () => (` + expression + `) ? resolve(true)
			: Date.now() > end ? resolve(false) : setTimeout(look, 20);
		look();
	})`)
	if done != true {
		b.t.Fatalf("never came true: %s\nthe page says %q", expression, b.eval("document.body.innerText"))
	}
}

// key presses and lets go of a key.
func (b *browser) key(name string, code int, text string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// at is an element of the page by its id.
func at(id string) string { return fmt.Sprintf("document.getElementById(%q)", id) }

// live starts a printer with a page.
func live(t *testing.T) *serve.Server {
	t.Helper()
	c := serve.Config{Printer: virtual.ConfigFor(profile.Safe80()), HTTP: "127.0.0.1:0"}
	s, err := serve.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// send prints bytes as a host would.
func send(t *testing.T, s *serve.Server, text string) {
	t.Helper()
	err := s.Do(func(p *virtual.Printer, now time.Time) {
		if n := p.Receive(now, []byte(text)); n != len(text) {
			t.Errorf("the printer took %d of %d bytes", n, len(text))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// quiet fails with what the browser complained about: a broken policy, a missing file, an
// exception.
func (b *browser) quiet() {
	b.t.Helper()
	for _, c := range b.complaints {
		if !strings.Contains(c, "favicon.ico") {
			b.t.Errorf("the browser complains: %.300s", c)
		}
	}
}

// A person with a keyboard alone opens the cover, sees the paper stop, closes it and sees it go on.
func TestTheLivePageWorksInABrowserByKeyboard(t *testing.T) {
	s := live(t)
	b := open(t, "http://"+s.HTTPAddr()+"/", 1000, 800)
	b.until(at("says") + ".textContent.includes('Ready.')")
	before := b.eval(at("live") + ".naturalHeight").(float64)
	send(t, s, "two soups\n\n\nno nuts\n")
	b.until(at("live-text") + ".textContent.includes('no nuts')")
	b.until(fmt.Sprintf("%s.naturalHeight > %v", at("live"), before))

	for range 20 {
		b.key("Tab", 9, "")
		if b.eval("document.activeElement.textContent") == "Open the cover" {
			break
		}
	}
	if got := b.eval("document.activeElement.textContent"); got != "Open the cover" {
		t.Fatalf("the keyboard does not reach the cover; it is at %q", got)
	}
	b.key("Enter", 13, "\r")
	b.until(at("says") + ".textContent.includes('The cover is open.')")
	b.until("document.activeElement.textContent === 'Close the cover'") // The focus stays.
	if lamp := b.eval(at("lamp") + ".dataset.lamp"); lamp != "stopped" {
		t.Errorf("the lamp says %v", lamp)
	}
	send(t, s, "waits\n")
	b.until(at("facts") + ".textContent.includes('that wait: 6.')")
	b.key("Enter", 13, "\r")
	b.until(at("live-text") + ".textContent.includes('waits')")
	b.until(at("says") + ".textContent.includes('Ready.')")

	send(t, s, "\x1dVB\x00")
	b.until("document.querySelectorAll('#sheets li').length === 1")
	b.until("document.querySelector('#sheets li pre').textContent.includes('two soups')")
	b.until("document.querySelector('#sheets li img').naturalWidth > 500")
	b.quiet()
}

// What the paper says is never read as markup, in the page that scripts have built either.
func TestTheLivePageShowsMarkupOnPaperAsText(t *testing.T) {
	s := live(t)
	b := open(t, "http://"+s.HTTPAddr()+"/", 1000, 800)
	b.until(at("says") + ".textContent.includes('Ready.')")
	send(t, s, "<img src=x onerror=alert(1)>\n\x1dVB\x00<b>hangs</b>\n\x1b\x99")
	b.until("document.querySelectorAll('#sheets li').length === 1")
	b.until(at("live-text") + ".textContent.includes('<b>hangs</b>')")
	if n := b.eval("document.querySelectorAll('img[src=x], pre b').length"); n != 0.0 {
		t.Errorf("%v elements were made of the paper's words", n)
	}
	b.until(at("log") + ".textContent.includes('unknown command')")
	b.quiet()
}

func TestTheLivePageFitsAPhone(t *testing.T) {
	s := live(t)
	send(t, s, strings.Repeat("a line as wide as the paper of eighty millimetres\n", 5)+"\x1dVB\x00")
	b := open(t, "http://"+s.HTTPAddr()+"/", 360, 640)
	b.until(at("says") + ".textContent.includes('Ready.')")
	if wide := b.eval("document.documentElement.scrollWidth").(float64); wide > 360 {
		t.Errorf("the page is %v pixels wide on a phone of 360", wide)
	}
	small := b.eval(`[...document.querySelectorAll('button')]
		.filter(x => x.getBoundingClientRect().height < 44).map(x => x.textContent).join()`)
	if small != "" {
		t.Errorf("too small for a finger: %v", small)
	}
	unnamed := b.eval(`[...document.querySelectorAll('img')].filter(x => !x.alt).length +
		[...document.querySelectorAll('button')].filter(x => !x.textContent.trim()).length`)
	if unnamed != 0.0 {
		t.Errorf("%v pictures or buttons have no name", unnamed)
	}
	if folder := os.Getenv("CHIT_SCREENSHOTS"); folder != "" {
		b.screenshot(folder + "/phone.png")
	}
	b.quiet()
}

func (b *browser) screenshot(file string) {
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &picture)
	raw, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}
