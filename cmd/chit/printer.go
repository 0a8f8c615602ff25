package main

import (
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

func newPrinter() *cobra.Command {
	var f serve.Flags
	var control string
	var names []string
	for _, n := range virtual.FaultNames() {
		names = append(names, string(n))
	}
	c := &cobra.Command{
		Use:   "printer",
		Short: "Run a virtual receipt printer",
		Long: `A receipt printer in software: it listens on a raw port, decodes strictly, answers
as printers do, and keeps its paper as PNG and text. An unknown command is an error on the paper's
record, never skipped. QR codes and bar codes on the pictures can be scanned.

With --http a page in the browser shows the paper coming out and lets you open the cover, pull the
paper, jam the cutter, pull the cable and cut the power. It is for this machine alone; with
--http-anywhere whoever reaches the port can do all of that, and read the paper.

Faults:` + wrapped(names) + `.
Some take parameters, such as paper-out:after=20; --fault may be repeated.

The same port serves programs: GET /state and GET /paper show the machine and its paper, and POST
/fault with {"raise":"cover-open"} or {"clear":"cover-open"} works it while it runs.`,
		Example: "  chit printer --listen 127.0.0.1:9100 --out /tmp/paper\n" +
			"  chit printer --listen 127.0.0.1:9100 --out /tmp/paper --fault paper-out:after=20 \\\n" +
			"    --http 127.0.0.1:9180\n" +
			"  curl http://127.0.0.1:9180/fault -d '{\"clear\":\"paper-out\"}'\n" +
			"  chit printer find   # real ones",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkPrinter(&f, control); err != nil {
				return err
			}
			err := serve.Run(c.Context(), f, c.OutOrStdout(), nil)
			if errors.Is(err, serve.ErrControl) {
				return misuse("--http-anywhere lets others in, with all they can do", "--http: %w", err)
			}
			return err
		},
	}
	c.AddCommand(newPrinterFind(), newPrinterProfiles(), newPrinterCodepages(),
		newPreview())
	flags := c.Flags()
	flags.StringVar(&f.Listen, "listen", "127.0.0.1:9100", "address of the raw port")
	flags.StringVar(&f.Out, "out", "paper", "folder for the paper")
	flags.StringVar(&f.HTTP, "http", "", "loopback address of the live page and the control")
	flags.BoolVar(&f.HTTPAnywhere, "http-anywhere", false,
		"--http may be any address: others may work the printer and read its paper")
	flags.StringVar(&control, "control", "", "")
	_ = flags.MarkHidden("control") // The name that --http had before there was a page.
	flags.StringArrayVar(&f.Faults, "fault", nil, "what goes wrong; repeatable")
	flags.StringVar(&f.Profile, "profile", "safe-80", "model; chit printer profiles lists them")
	flags.BoolVar(&f.KeepAnswers, "keep-answers", false,
		"answers that found no client wait for the next one, as on USB and serial")
	flags.BoolVar(&f.SecondWaits, "second-waits", false,
		"a second client waits instead of being refused")
	flags.Float64Var(&f.LinesPerSecond, "speed", 0, "lines a second; 0 takes no time")
	_ = c.RegisterFlagCompletionFunc("fault",
		func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return slices.Clone(names), cobra.ShellCompDirectiveNoFileComp
		})
	return c
}

// checkPrinter finds what is wrong with the flags of chit printer. control is the older name of
// --http.
func checkPrinter(f *serve.Flags, control string) error {
	if f.Listen == "" {
		return misuse("such as --listen 127.0.0.1:9100", "--listen is empty")
	}
	if _, _, err := net.SplitHostPort(f.Listen); err != nil {
		return misuse("such as --listen 127.0.0.1:9100", "--listen: found %q, expected host:port",
			f.Listen)
	}
	if control != "" {
		if f.HTTP != "" && f.HTTP != control {
			return misuse("give --http alone", "--control is another name of --http: found both")
		}
		f.HTTP = control
	}
	if f.HTTP == "" && f.HTTPAnywhere {
		return misuse("such as --http :9180 --http-anywhere", "--http-anywhere needs --http")
	}
	if _, err := f.Config(nil); err != nil {
		return misuse("see chit printer --help", "%w", err)
	}
	return nil
}

// helpColumns is where help texts break their lines.
const helpColumns = 100

// wrapped joins names with commas and breaks the line before it is too long.
func wrapped(names []string) string {
	var text strings.Builder
	column := len("Faults: ")
	for i, name := range names {
		if i > 0 {
			text.WriteString(",")
			if column += len(name) + 2; column < helpColumns {
				text.WriteString(" ")
			} else {
				text.WriteString("\n  ")
				column = len(name) + 2
			}
		}
		text.WriteString(name)
	}
	return text.String()
}
