package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tiny is everything once, so that no part of the program rots.
var tiny = sizes{
	passes: 1, tickets: 2, burst: 4, starts: 1, remembered: 100, memoryTickets: 2,
	ids: []int{50, 100}, looked: 20, producers: []int{2}, accept: time.Millisecond,
	settle: []int{3}, stations: 2, benchtime: "1x",
	benchmarks: []benchmark{{"chit/device/wire", "Canonical", ""}},
}

func TestEveryPartMeasures(t *testing.T) {
	b := &bench{size: tiny, dir: t.TempDir(), progress: io.Discard}
	text, err := b.report(context.Background(), parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if !strings.Contains(text, "### "+p.title) {
			t.Errorf("the report lacks %q:\n%s", p.title, text)
		}
	}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		// CPU time is counted in steps of 10 ms, which a tiny run may not reach.
		if len(cells) == 10 && strings.TrimSpace(cells[3]) == "" && !strings.Contains(line, "CPU") {
			t.Errorf("a row without a figure: %s", line)
		}
	}
}

func TestCablesTellATicketsWay(t *testing.T) {
	start := time.Unix(1000, 0)
	ms := func(n int) time.Time { return start.Add(time.Duration(n) * time.Millisecond) }
	all := []passing{
		{ms(0), false, false, 30},   // a PUBACK of the broker
		{ms(1), false, false, 1200}, // the ticket
		{ms(4), true, true, 3},      // a question to the printer
		{ms(6), true, false, 1},     // its answer
		{ms(7), false, true, 603},   // stored, with the PUBACK
		{ms(8), true, true, 610},    // the document
		{ms(9), true, false, 18},
		{ms(12), false, true, 583}, // printed
	}
	want := seen{firstByte: 7 * time.Millisecond, answers: 2 * time.Millisecond,
		stored: 6 * time.Millisecond, printed: 11 * time.Millisecond}
	if got, err := read(all); err != nil || got != want {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	together := append(all[:4:4], passing{ms(8), true, true, 610}, passing{ms(9), false, true, 1191})
	want.stored, want.printed = 8*time.Millisecond, 8*time.Millisecond
	if got, err := read(together); err != nil || got != want {
		t.Errorf("answers in one piece: read %+v, %v, want %+v", got, err, want)
	}
	if _, err := read(all[:6]); err == nil {
		t.Error("a ticket without a document was taken for a measurement")
	}
}

func TestFiguresOfPasses(t *testing.T) {
	p := passes{{3, 1, 2}, {30, 10, 20}, {6, 5, 4}}
	want := figures{Median: 5, Best: 2, P99: 30, N: 9}
	if got := p.figures(); got != want {
		t.Errorf("figures %+v, want %+v", got, want)
	}
	if got := (passes{}).figures(); got != (figures{}) {
		t.Errorf("figures of nothing: %+v", got)
	}
}

func TestGoBenchmarksAreRead(t *testing.T) {
	rows := parse("chit/a/b", strings.Join([]string{
		"goos: linux",
		"BenchmarkX/n=1-2   \t 100\t 30 ns/op\t 5.0 tickets/s\t 8 B/op\t 1 allocs/op",
		"BenchmarkX/n=1-2   \t 100\t 10 ns/op\t 7.0 tickets/s\t 8 B/op\t 1 allocs/op",
		"BenchmarkX/n=1-2   \t 100\t 20 ns/op\t 6.0 tickets/s\t 8 B/op\t 1 allocs/op", "PASS"}, "\n"))
	want := []row{{What: "a/b X/n=1", Unit: "ns/op", Median: 20, Best: 10, N: 3},
		{What: "a/b X/n=1", Unit: "tickets/s", Median: 6, Best: 7, N: 3}}
	if len(rows) != 2 || rows[0] != want[0] || rows[1] != want[1] {
		t.Errorf("rows %+v, want %+v", rows, want)
	}
}

func TestTargetsAreJudged(t *testing.T) {
	for value, want := range map[float64]string{299: "yes", 300: "yes", 301: "no"} {
		if got := (row{}).against("300 ms", value, 300).Met; got != want {
			t.Errorf("%v against 300: met %q, want %q", value, got, want)
		}
	}
}

func TestTablesAreWrittenBetweenTheirMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "B.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + tablesBegin + "old\n" + tablesEnd + "after\n")
	if err := writeInto(path, "new\n"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	want := "before\n" + tablesBegin + "new\n" + tablesEnd + "after\n"
	if err != nil || string(raw) != want {
		t.Errorf("%v: %q, want %q", err, raw, want)
	}
	write("a page without marks\n")
	if err := writeInto(path, "new\n"); err == nil {
		t.Error("a page without marks was written over")
	}
}

func TestAnUnknownPartIsNamed(t *testing.T) {
	_, err := choose("latency,speed")
	if err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("error %v, want one that names speed", err)
	}
}
