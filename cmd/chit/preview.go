package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chit/device/layout"
	"chit/device/layout/preview"
	fixed "chit/device/layout/words"
	"chit/device/service"
	"chit/device/wire"
	"chit/printer/document"
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
	Drawn    bool   `json:"drawn"`         // some of it is sent as images
	Fit      string `json:"fit,omitempty"` // how it was made to fit, where it was too long
	PNG      string `json:"png,omitempty"`
	Text     string `json:"text"`
}

func newPreview() *cobra.Command {
	var f previewFlags
	c := &cobra.Command{
		Use:   "preview FILE",
		Short: "Show a ticket as a printer would print it, - for standard input",
		Long: `Lay out a ticket, encode it and print it on a virtual printer, as a kitchen's device
does: what is too long for 1 m of paper is made smaller, and a QR code is printed where the printer
draws it itself or a template names it. FILE is the body of POST /v1/tickets. The paper goes to a
PNG (--png), to the screen as text (--text), or both; without either it is text. Nothing is sent
anywhere.

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
			data, content, err := wire.Canonical(raw)
			if err != nil {
				return hinted{fmt.Errorf("%s: %w", args[0], err), "the schema is at /schemas/ticket.json"}
			}
			answer, err := f.run(data, content)
			if err != nil {
				return err
			}
			if f.asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(answer)
			}
			if f.text || f.png == "" {
				fmt.Fprint(visible(c.OutOrStdout()), answer.Text)
			}
			if answer.Fit != "" {
				fmt.Fprintf(c.ErrOrStderr(), "longer than 1 m of paper otherwise: printed %s\n",
					answer.Fit)
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

func (f *previewFlags) run(data []byte, content wire.Content) (previewed, error) {
	conf, err := f.config()
	if err != nil {
		return previewed{}, err
	}
	ticket, err := f.ticket(data, content)
	if err != nil {
		return previewed{}, err
	}
	made, err := conf.Preview(ticket, cmp.Or(f.station, content.Station))
	if err != nil {
		return previewed{}, err
	}
	printed, err := preview.Receive(made.Paper, made.Profile)
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
	columns := made.Profile.Columns
	return previewed{
		Profile: made.Profile.Name, Columns: columns, HeightMM: made.Paper.HeightDots / 8,
		Bytes: len(made.Paper.Body) + len(made.Paper.Cut), Drawn: made.Paper.Raster,
		Fit: fits[made.Fit], PNG: f.png, Text: layout.Proof(shown(made.Document), columns),
	}, nil
}

// fits are the words for how a ticket came onto a metre of paper, by core.Fit.
var fits = []string{"", "in the normal size", "in small letters, without frames and codes",
	"plain, without a layout"}

// shown is d with its words as the paper shows them.
func shown(d document.Document) document.Document {
	spans := func(list []document.Span) []document.Span {
		list = slices.Clone(list)
		for i := range list {
			list[i].Text = visibleWord(escpos.Visible(list[i].Text))
		}
		return list
	}
	lines := func(list []document.Line) []document.Line {
		list = slices.Clone(list)
		for i := range list {
			list[i].Spans = spans(list[i].Spans)
		}
		return list
	}
	d.Blocks = slices.Clone(d.Blocks)
	for i, block := range d.Blocks {
		switch b := block.(type) {
		case document.Line:
			b.Spans = spans(b.Spans)
			d.Blocks[i] = b
		case document.Pair:
			b.Left, b.Right = spans(b.Left), spans(b.Right)
			d.Blocks[i] = b
		case document.Box:
			b.Lines = lines(b.Lines)
			d.Blocks[i] = b
		case document.QR:
			b.Beside = lines(b.Beside)
			d.Blocks[i] = b
		}
	}
	return d
}

// config is that of a device with this one printer.
func (f *previewFlags) config() (service.Config, error) {
	p := service.Printer{Name: mainPrinter, Profile: f.profile}
	if f.profile == "" {
		if _, ok := profile.SafeFor(f.width); !ok {
			return service.Config{}, misuse("or name a --profile",
				"--width: found %d, expected 58, 76 or 80", f.width)
		}
		p.Profile, p.PaperMM = "auto", f.width
	} else if _, err := profile.ByName(f.profile); err != nil {
		return service.Config{}, misuse("see chit printer preview --help", "--profile: %w", err)
	}
	if _, ok := fixed.For(f.language); !ok {
		return service.Config{}, misuse("such as --language de",
			"--language: found %q, expected one of %s", f.language, strings.Join(fixed.Tags(), ", "))
	}
	if _, err := layout.ParseSize(f.size); err != nil {
		return service.Config{}, misuse("such as --size large", "--size: %w", err)
	}
	if f.template != "" {
		p.Template = filepath.Clean(f.template)
		if _, err := service.LoadTemplate(p.Template); err != nil {
			return service.Config{}, err
		}
	}
	if _, err := time.LoadLocation(f.zone); err != nil {
		return service.Config{}, misuse("such as --zone Europe/Berlin", "--zone: %w", err)
	}
	return service.Config{Printers: []service.Printer{p}, Language: f.language, Size: f.size,
		Zone: f.zone, ShowCustomer: f.customer}, nil
}

func (f *previewFlags) ticket(data []byte, content wire.Content) (wire.Ticket, error) {
	t := wire.Ticket{
		ID: content.ID + "@" + content.Station, Attempt: 1, Station: content.Station,
		Number: f.number, Previous: f.previous, Data: data,
	}
	for _, name := range f.marks {
		mark := wire.Mark(name)
		switch mark {
		case wire.MarkReprint, wire.MarkPossibleDuplicate, wire.MarkMoved, wire.MarkLate:
			t.Marks = append(t.Marks, mark)
		default:
			return t, misuse("such as --mark moved", "--mark: found %q, expected reprint, "+
				"possible-duplicate, moved or late", name)
		}
	}
	return t, nil
}
