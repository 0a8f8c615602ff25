package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chit/device/layout"
	"chit/device/layout/preview"
	fixed "chit/device/layout/words"
	"chit/device/service"
	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// previewFlags are what chit printer preview is told.
type previewFlags struct {
	template, png, language, size, profile string
	station, number, previous, zone        string
	width                                  int
	marks                                  []string
	text, asJSON, customer                 bool
}

// previewed is the answer for machines.
type previewed struct {
	Profile  string `json:"profile"`
	Columns  int    `json:"columns"`
	HeightMM int    `json:"height_mm"`
	Bytes    int    `json:"bytes"`
	Drawn    bool   `json:"drawn"` // some of it is sent as images
	PNG      string `json:"png,omitempty"`
	Text     string `json:"text"`
}

func newPreview() *cobra.Command {
	var f previewFlags
	c := &cobra.Command{
		Use:   "preview FILE",
		Short: "Show a ticket as a printer would print it, - for standard input",
		Long: `Lay out a ticket, encode it and print it on a virtual printer. FILE is the body of
POST /v1/tickets. The paper goes to a PNG (--png), to the screen as text (--text), or both; without
either it is text. Nothing is sent anywhere.

In the text the number before each line is its size, words between ▌ and ▐ are white on black, and
words between ~ and ~ are struck out.

A template says which blocks a ticket has and in which order; see device/layout/examples. It is
refused where it leaves out what a cook must have.`,
		Example: `  chit printer preview ticket.json --png paper.png
  chit printer preview ticket.json --template grill.toml --language de --width 58 --text`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := readTicket(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			_, content, err := wire.Canonical(raw)
			if err != nil {
				return hinted{fmt.Errorf("%s: %w", args[0], err), "the schema is at /schemas/ticket.json"}
			}
			answer, err := f.run(content)
			if err != nil {
				return err
			}
			if f.asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(answer)
			}
			if f.text || f.png == "" {
				fmt.Fprint(c.OutOrStdout(), answer.Text)
			}
			if f.png != "" {
				fmt.Fprintf(c.OutOrStdout(), "%s: %d mm, %d bytes to %s\n", f.png, answer.HeightMM,
					answer.Bytes, answer.Profile)
			}
			return nil
		},
	}
	f.register(c)
	return c
}

func (f *previewFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.template, "template", "", "TOML file of a template; the usual paper without")
	flags.StringVar(&f.png, "png", "", "file for the picture of the paper")
	flags.BoolVar(&f.text, "text", false, "print the paper as text")
	flags.StringVar(&f.language, "language", "en", "of the fixed words: "+
		strings.Join(fixed.Tags(), ", "))
	flags.StringVar(&f.size, "size", "normal", "of what a cook reads: normal, large, huge")
	flags.StringVar(&f.profile, "profile", "", "model; chit printer profiles lists them")
	flags.IntVar(&f.width, "width", 80, "of the paper in mm where no profile is given: 58, 76 or 80")
	flags.StringVar(&f.station, "station", "", "name of the station; the ticket's own without")
	flags.StringVar(&f.number, "number", "41", "running number")
	flags.StringVar(&f.previous, "previous", "40", "running number before it; empty: first today")
	flags.StringVar(&f.zone, "zone", "", "IANA zone of the times, such as Europe/Berlin")
	flags.StringArrayVar(&f.marks, "mark", nil,
		"reprint, possible-duplicate, moved or late; repeatable")
	flags.BoolVar(&f.customer, "customer", false, "print the customer's name and phone")
	flags.BoolVar(&f.asJSON, "json", false, "JSON, for machines")
}

func (f *previewFlags) run(content wire.Content) (previewed, error) {
	facts, err := f.printer()
	if err != nil {
		return previewed{}, err
	}
	in, err := f.input(content, facts)
	if err != nil {
		return previewed{}, err
	}
	doc := layout.Ticket(in)
	printed, err := preview.Print(doc, escpos.Encoder{Profile: facts, Drawer: service.NewDrawer()})
	if err != nil {
		return previewed{}, err
	}
	if f.png != "" {
		picture, err := printed.Sheet.PNG()
		if err != nil {
			return previewed{}, err
		}
		if err := os.WriteFile(f.png, picture, 0o644); err != nil {
			return previewed{}, err
		}
	}
	return previewed{
		Profile: facts.Name, Columns: facts.Columns, HeightMM: printed.Paper.HeightDots / 8,
		Bytes: len(printed.Paper.Body) + len(printed.Paper.Cut), Drawn: printed.Paper.Raster,
		PNG: f.png, Text: layout.Proof(doc, facts.Columns),
	}, nil
}

func (f *previewFlags) printer() (profile.Profile, error) {
	if f.profile != "" {
		p, err := profile.ByName(f.profile)
		if err != nil {
			return p, misuse("see chit printer preview --help", "--profile: %w", err)
		}
		return p, nil
	}
	p, ok := preview.Profile(f.width)
	if !ok {
		return p, misuse("or name a --profile", "--width: found %d, expected 58, 76 or 80", f.width)
	}
	return p, nil
}

func (f *previewFlags) input(content wire.Content, p profile.Profile) (layout.Input, error) {
	in := layout.Input{
		Event: wire.Ticket{
			ID: content.ID + "@" + content.Station, Attempt: 1, Station: content.Station,
			Number: f.number, Previous: f.previous,
		},
		Content: content, Station: cmp.Or(f.station, content.Station),
		Options: layout.Options{
			Columns: p.Columns, Language: f.language, ShowCustomer: f.customer, Codes: true,
		},
	}
	if _, ok := fixed.For(f.language); !ok {
		return in, misuse("such as --language de", "--language: found %q, expected one of %s",
			f.language, strings.Join(fixed.Tags(), ", "))
	}
	var err error
	if in.Options.Size, err = layout.ParseSize(f.size); err != nil {
		return in, misuse("such as --size large", "--size: %w", err)
	}
	if f.template != "" {
		if in.Options.Template, err = service.LoadTemplate(filepath.Clean(f.template)); err != nil {
			return in, err
		}
	}
	if f.zone != "" {
		if in.Options.Location, err = time.LoadLocation(f.zone); err != nil {
			return in, misuse("such as --zone Europe/Berlin", "--zone: %w", err)
		}
	}
	for _, name := range f.marks {
		mark := wire.Mark(name)
		switch mark {
		case wire.MarkReprint, wire.MarkPossibleDuplicate, wire.MarkMoved, wire.MarkLate:
			in.Event.Marks = append(in.Event.Marks, mark)
		default:
			return in, misuse("such as --mark moved", "--mark: found %q, expected reprint, "+
				"possible-duplicate, moved or late", name)
		}
	}
	return in, nil
}
