package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"chit/printer/profile"
	"chit/printer/virtual"
)

// Flags are what a command line says about a virtual printer.
type Flags struct {
	Listen string // --listen 127.0.0.1:9100
	HTTP   string // --http 127.0.0.1:9180
	// HTTPAnywhere is --http-anywhere: the page need not be on loopback.
	HTTPAnywhere bool
	Out          string // --out DIR
	Profile      string // --profile NAME; empty means 80 mm safe
	// Faults are texts of [virtual.ParseFault], from --fault, given as often as wanted.
	Faults []string
	// LinesPerSecond is the mechanism's speed; 0 prints at once.
	LinesPerSecond float64
	SecondWaits    bool // --second-waits
	KeepAnswers    bool // --keep-answers
}

// Config turns flags into a configuration. The error names the flag.
func (f Flags) Config(log *slog.Logger) (Config, error) {
	facts := profile.Safe80()
	if f.Profile != "" {
		var err error
		if facts, err = profile.ByName(f.Profile); err != nil {
			return Config{}, fmt.Errorf("--profile: %w", err)
		}
	}
	c := virtual.ConfigFor(facts)
	c.LinesPerSecond, c.KeepAnswers = f.LinesPerSecond, f.KeepAnswers
	for _, text := range f.Faults {
		fault, err := virtual.ParseFault(text)
		if err != nil {
			return Config{}, fmt.Errorf("--fault: %w", err)
		}
		c.Faults = append(c.Faults, fault)
	}
	return Config{Printer: c, Listen: f.Listen, HTTP: f.HTTP, Anywhere: f.HTTPAnywhere, Out: f.Out,
		SecondWaits: f.SecondWaits, Log: log}, nil
}

// Run is the command: it prints where it listens, then every sheet's text, until ctx ends.
func Run(ctx context.Context, f Flags, out io.Writer, log *slog.Logger) error {
	c, err := f.Config(log)
	if err != nil {
		return err
	}
	s, err := Start(ctx, c)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(out, "printer %s, paper in %s\n", s.Addr(), f.Out)
	if s.HTTPAddr() != "" {
		fmt.Fprintf(out, "page and control http://%s\n", s.HTTPAddr())
	}
	for shown := 0; ; {
		err := s.Wait(ctx, func(sheets []virtual.Sheet) bool {
			for ; shown < len(sheets); shown++ {
				show(out, sheets[shown])
			}
			return false
		})
		if err != nil { // The end of ctx is the end of the command.
			err := s.Close() // What was cut is saved by then.
			for _, sheet := range s.Sheets()[shown:] {
				show(out, sheet)
			}
			return err
		}
	}
}

func show(out io.Writer, s virtual.Sheet) {
	fmt.Fprintf(out, "--- sheet %04d, %d mm, %s\n%s", s.Number, s.HeightDots/8, s.Cut, s.Text())
	for _, e := range s.Errors() {
		fmt.Fprintf(out, "!!! %s\n", strings.TrimSpace(e))
	}
}
