package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// teller tells the story as it runs: a line for each thing that happens and, on a terminal, a
// progress line that stays at the bottom.
type teller struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	started  time.Time
	total    int
	done     int
	printed  int
	showing  bool
}

func newTeller(w io.Writer, total int) *teller {
	t := &teller{w: w, started: time.Now(), total: total}
	if f, ok := w.(*os.File); ok {
		t.terminal = term.IsTerminal(int(f.Fd()))
	}
	return t
}

// plugWord begins the lines that tell of a pulled plug; it stands out on a terminal.
const plugWord = "PLUG"

// say adds a line to the story.
func (t *teller) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	line := fmt.Sprintf(format, args...)
	colour := t.terminal && os.Getenv("NO_COLOR") == ""
	if rest, plug := strings.CutPrefix(line, plugWord); plug && colour {
		line = "\x1b[1;33m" + plugWord + "\x1b[0m" + rest
	}
	fmt.Fprintf(t.w, "%6.1fs  %s\n", time.Since(t.started).Seconds(), line)
	t.draw()
}

// progress moves the progress line.
func (t *teller) progress(done, printed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.printed = done, printed
	t.wipe()
	t.draw()
}

func (t *teller) wipe() {
	if t.showing {
		fmt.Fprint(t.w, "\r\x1b[K")
		t.showing = false
	}
}

func (t *teller) draw() {
	if !t.terminal || t.total == 0 {
		return
	}
	const width = 30
	full := width * t.done / t.total
	fmt.Fprintf(t.w, "        [%s%s] %d of %d orders, %d on paper",
		strings.Repeat("#", full), strings.Repeat(".", width-full), t.done, t.total, t.printed)
	t.showing = true
}

// end leaves the line.
func (t *teller) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	t.terminal = false
}
