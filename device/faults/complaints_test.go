package faults

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/device/wire"
	"chit/printer/virtual"
)

// complaint is one row of research/escpos.md section 6: what people met with other programs, and
// what this one does instead.
type complaint struct {
	row     int
	symptom string
	here    string // what we do
	// lacks and faults make the printer; play is the scene. usb puts it behind usblp.
	faults []string
	buffer int
	usb    bool
	play   func(*scene)
	// shown are tests of other packages that show it, "folder TestName".
	shown []string
}

// scene is a kitchen in which a complaint is played.
type scene struct {
	*testing.T
	*kitchen
}

func (s *scene) wants(id, outcome, evidence string) {
	s.Helper()
	a := s.answer(id)
	if a == nil || string(a.Outcome) != outcome || string(a.Evidence) != evidence {
		s.Errorf("%s: got %+v, want %s, %s", id, a, outcome, evidence)
	}
}

// unanswered makes sure that a ticket is not called printed.
func (s *scene) unanswered(id string) {
	s.Helper()
	s.kitchen.mu.Lock()
	defer s.kitchen.mu.Unlock()
	for _, a := range s.acks {
		if a.Ticket == id && a.Outcome == wire.OutcomePrinted {
			s.Errorf("%s is called printed: %+v", id, a)
		}
	}
}

// papers wants whole papers of these orders in this order, marked ones with a star, and no others.
func (s *scene) papers(want ...string) {
	s.Helper()
	<-time.After(time.Minute)
	var got []string
	for _, text := range s.bench.printer().papers() {
		parts := strings.Split(text, "END OF ")
		for i, part := range parts[1:] {
			name, _, _ := strings.Cut(part, " ")
			if strings.Contains(parts[i], "POSSIBLE DUPLICATE") {
				name += "*"
			}
			got = append(got, name)
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("whole papers %q, want %q", got, want)
	}
}

func (s *scene) hand(do func(p *virtual.Printer, now time.Time)) { s.bench.printer().do(do) }

func (s *scene) wait(d time.Duration) { <-time.After(d) }

func (s *scene) off() { s.hand((*virtual.Printer).PowerOff) }
func (s *scene) on()  { s.hand((*virtual.Printer).PowerOn) }

// dials is how often the printer was called.
func (s *scene) dials() int {
	b := s.bench.(*tcp)
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	return b.dials
}

// TestEveryComplaint plays the rows, and prints the table with -v.
func TestEveryComplaint(t *testing.T) {
	for i, c := range complaints() {
		if c.row != i+1 {
			t.Fatalf("row %d stands at %d", c.row, i+1)
		}
		if c.play == nil && len(c.shown) == 0 {
			t.Errorf("row %d shows nothing", c.row)
		}
		for _, one := range c.shown {
			folder, name, _ := strings.Cut(one, " ")
			if !slices.Contains(testsOf(t, folder), name) {
				t.Errorf("row %d: there is no %s in %s", c.row, name, folder)
			}
		}
		if c.play == nil {
			t.Logf("row %d: %s -> %s (%s)", c.row, c.symptom, c.here, strings.Join(c.shown, ", "))
			continue
		}
		t.Run(fmt.Sprint("row ", c.row), func(t *testing.T) {
			t.Logf("%s -> %s", c.symptom, c.here)
			synctest.Test(t, func(t *testing.T) { play(t, c) })
		})
	}
}

func play(t *testing.T, c complaint) {
	conf := virtual.ConfigFor(facts())
	conf.LinesPerSecond, conf.LineFeeds, conf.Cuts = 10, 1000, 50
	if c.buffer > 0 {
		conf.BufferBytes = c.buffer
	}
	for _, text := range c.faults {
		conf.Faults = append(conf.Faults, mustFault(text))
	}
	b := newTCP(t, conf)
	if c.usb {
		b = newUSB(t, conf)
	}
	s := &scene{t, newKitchen(t, b, bubble)}
	defer s.end()
	c.play(s)
}

// testsOf are the names of the tests in a folder of the repository.
func testsOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
