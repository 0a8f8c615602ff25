package session

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/escpos"
	"chit/printer/transport"
	"chit/printer/virtual"
)

// eavesdropper keeps what the session writes.
type eavesdropper struct {
	*machine
	mu  sync.Mutex
	all []byte
}

type tapped struct {
	transport.Conn
	e *eavesdropper
}

func (e *eavesdropper) Dial(ctx context.Context) (transport.Conn, error) {
	c, err := e.machine.Dial(ctx)
	return tapped{c, e}, err
}

func (c tapped) Write(p []byte) (int, error) {
	c.e.mu.Lock()
	c.e.all = append(c.e.all, p...)
	c.e.mu.Unlock()
	return c.Conn.Write(p)
}

// DLE ENQ 2 and DLE DC4 8 lose what the printer holds, DLE ENQ 1 repeats a line (research/escpos.md
// 2.7): they are sent when somebody asks for it and in no trouble by themselves.
func TestNothingButAWishClearsOrRecovers(t *testing.T) {
	commands := [][]byte{escpos.ClearBuffers(), escpos.Recover(), {0x10, 0x05, 0x01}}
	for _, trouble := range []string{
		"paper-out:after=2", "cover-open:after=2", "cutter-error", "head-hot:after=2", "broken:after=2",
		"power-off:after=2,for=1m", "drop:after-bytes=90", "forget-buffer:after=2", "silent:after=6",
	} {
		synctest.Test(t, func(t *testing.T) {
			st := &story{t: t, m: newMachine(good())}
			e := &eavesdropper{machine: st.m}
			st.begin(Config{Dialer: e})
			unit := st.untilReady().Unit
			st.raise(trouble)
			j := job(1, "A", 6)
			done := st.begun(st.t.Context(), j)
			pass(3 * time.Minute)
			st.m.do(func(p *virtual.Printer, now time.Time) {
				for _, wrong := range p.Wrong() {
					p.Clear(now, wrong)
				}
				p.PowerOff(now) // The only end of "broken".
				p.PowerOn(now)
				p.Speak(now)
			})
			<-done
			st.untilReady()
			st.s.Resolve(st.t.Context(), NewIntent(unit, j))
			st.print(job(2, "B", 2))
			st.end()
			st.m.running.Wait()
			e.mu.Lock()
			defer e.mu.Unlock()
			for _, command := range commands {
				if bytes.Contains(e.all, command) {
					t.Errorf("%s: sent % X, which nobody asked for", trouble, command)
				}
			}
		})
	}
}

// Only the file about clearing names those commands, so that no other path can grow into it.
func TestClearingIsWrittenInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && (s.Sel.Name == "Recover" || s.Sel.Name == "ClearBuffers") {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "escpos" {
					found = append(found, path)
				}
			}
			return true
		})
	}
	if want := []string{"clear.go", "clear.go"}; !slices.Equal(found, want) {
		t.Errorf("commands that clear are in %q, want %q", found, want)
	}
}

// offline is a unit that answers DLE EOT 1 with "offline" and all others with "fine", as a Star in
// ESC/POS mode does (row 36).
type offline struct{}

func (offline) Name() string { return "offline:" }
func (offline) TwoWay() bool { return true }
func (offline) Dial(context.Context) (transport.Conn, error) {
	host, printer := net.Pipe()
	go func() {
		question := make([]byte, 3)
		for {
			if _, err := io.ReadFull(printer, question); err != nil {
				return
			}
			answer := []byte{0x12}
			switch {
			case question[0] != 0x10:
				continue
			case question[2] == 1:
				answer[0] |= 0x08
			}
			if _, err := printer.Write(answer); err != nil {
				return
			}
		}
	}()
	return host, nil
}

// Row 36: nothing tells such a unit from one whose ON LINE button was pressed. It is not printed to
// blindly, and people hear why.
func TestAUnitThatSaysOfflineWithoutACauseIsHeldAndToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &story{t: t}
		st.begin(Config{Dialer: offline{}})
		state := st.untilHold(HoldOff)
		if state.Hold.Words().Do == "" {
			t.Error("nobody is told what to do")
		}
		if r := st.print(job(1, "A", 2)); r.Started || r.Hold != HoldOff {
			t.Errorf("got %+v, want held: offline", r)
		}
		st.end()
	})
}
