// Command bench measures the whole system from outside: real programs, the real engine, virtual
// printers without a mechanism, and a cable that tells when bytes pass.
//
//	go run ./bench                 measure everything and print the tables (make bench)
//	go run ./bench -only latency   one part of it: latency, written, start, lookup, broker, go
//	go run ./bench -write          put the tables into BENCHMARKS.md, too
//
// It judges no code by its own word: times are taken where bytes enter and leave chitd's process,
// paper is counted at the printers, bytes and memory by the kernel. A measurement whose tickets do
// not all come out is an error and gives no figure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	size     sizes
	dir      string // a new folder on the disk that is measured
	programs string
	progress io.Writer
}

// part is one group of measurements.
type part struct {
	name, title string
	measure     func(*bench, context.Context) ([]row, error)
}

var parts = []part{
	{"latency", "One ticket at an idle kitchen", (*bench).latency},
	{"written", "Bytes that chitd writes to its disk", (*bench).written},
	{"start", "chitd with remembered ids", (*bench).start},
	{"lookup", "Looking an id up in the journal", (*bench).lookup},
	{"broker", "Tickets through the whole system", (*bench).broker},
	{"go", "Parts alone (Go benchmarks)", (*bench).parts},
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	only := flags.String("only", "", "comma list of parts; empty: all")
	write := flags.Bool("write", false, "write the tables into BENCHMARKS.md")
	dir := flags.String("dir", "", "folder on the disk to measure; empty: the temporary folder")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	b := &bench{size: full, progress: progress}
	if b.dir, err = os.MkdirTemp(*dir, "chit-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	text, err := b.report(ctx, chosen)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil || !*write {
		return err
	}
	return writeInto("BENCHMARKS.md", text)
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		found := false
		for _, p := range parts {
			if p.name == name {
				chosen, found = append(chosen, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-only: found %q, expected latency, written, start, lookup, broker or go",
				name)
		}
	}
	return chosen, nil
}

// report builds the programs, measures, and returns the text of the tables.
func (b *bench) report(ctx context.Context, chosen []part) (string, error) {
	began := time.Now()
	if b.programs == "" {
		b.programs = filepath.Join(b.dir, "programs")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.programs+"/",
			"chit/cmd/chit-broker", "chit/cmd/chitd")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // As make build does.
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building the programs: %w\n%s", err, out)
		}
	}
	var tables strings.Builder
	before := loadAverage()
	for _, p := range chosen {
		b.say("measuring: %s", p.title)
		rows, err := p.measure(b, ctx)
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
		tables.WriteString(table(p.title, rows))
	}
	head := fmt.Sprintf("Machine: %s. Load average before the run %s, after it %s; the run took %s.\n",
		machine(b.dir), before, loadAverage(), time.Since(began).Round(time.Second))
	return head + tables.String(), nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, format+"\n", args...)
}

// folder makes a new folder for one measurement.
func (b *bench) folder(name string) (string, error) { return os.MkdirTemp(b.dir, name+"-") }

// bound is the longest one measurement may take: what does not come by then never comes.
const bound = 4 * time.Minute
