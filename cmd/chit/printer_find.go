package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/printer/transport/find"
	"chit/printer/transport/holder"
	"chit/printer/transport/neighbour"
	"chit/printer/transport/usb"
)

// finding is what chit printer find was asked for.
type finding struct {
	asJSON    bool
	subnets   []string
	timeout   time.Duration
	port      int
	noNetwork bool
	office    bool
	root      string
}

func newPrinterFind() *cobra.Command {
	var f finding
	c := &cobra.Command{
		Use:   "find",
		Short: "List the printers that this machine can reach, with the URL of each",
		Long: `Lists the printers on USB, the serial adapters, and whoever listens on the raw printing
port in this machine's own networks, with what they say of themselves and the URL to write into
device.toml.

It prints nothing anywhere. A listener is asked DLE EOT 1, and who it is only if it answers that as
receipt printers do. What speaks IPP, as office printers do, is not asked, since some print a page
of what they do not understand; --office asks it too. Nor is a printer asked that a program on this
machine has a connection to.

Networks larger than /24 are searched only where --subnet names them, at 100 addresses a second.`,
		Example: "  chit printer find\n" +
			"  chit printer find --subnet 10.20.0.0/22 --timeout 2s --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.asJSON, "json", false, "JSON, for machines")
	flags.StringArrayVar(&f.subnets, "subnet", nil,
		"search this network instead of the machine's own; repeatable")
	flags.DurationVar(&f.timeout, "timeout", 700*time.Millisecond,
		"how long to wait for a connection and for each answer")
	flags.IntVar(&f.port, "port", 9100, "raw printing port")
	flags.BoolVar(&f.noNetwork, "no-network", false, "list only what is plugged in")
	flags.BoolVar(&f.office, "office", false, "ask also what looks like an office printer")
	flags.StringVar(&f.root, "root", "/", "folder with the machine's sys, dev and proc")
	_ = flags.MarkHidden("root")
	return c
}

func (f *finding) options() (find.Options, error) {
	o := find.Options{
		Roots: usb.Roots{Sys: filepath.Join(f.root, "sys"), Dev: filepath.Join(f.root, "dev"),
			Proc: filepath.Join(f.root, "proc")},
		NoNetwork: f.noNetwork,
		Sweep:     neighbour.Sweep{Port: f.port, Wait: f.timeout},
	}
	switch {
	case f.timeout <= 0:
		return o, misuse("such as --timeout 2s", "--timeout: found %s, expected more than 0s",
			f.timeout)
	case f.port < 1 || f.port > 65535:
		return o, misuse("such as --port 9100", "--port: found %d, expected 1 to 65535", f.port)
	case f.office:
		o.Sweep.IPP = -1
	}
	for _, text := range f.subnets {
		n, err := netip.ParsePrefix(text)
		if err != nil || !n.Addr().Is4() {
			return o, misuse("such as --subnet 192.168.1.0/24",
				"--subnet: found %q, expected an IPv4 network", text)
		}
		o.Subnets = append(o.Subnets, n)
	}
	return o, nil
}

func (f *finding) run(ctx context.Context, out, said io.Writer) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	progress := terminal(said)
	if progress {
		o.Sweep.Progress = func(done, total int) {
			fmt.Fprintf(said, "\rasked %d of %d addresses", done, total)
		}
	}
	result, err := find.Run(ctx, o)
	if progress {
		fmt.Fprint(said, "\r\x1b[K")
	}
	switch {
	case errors.Is(err, find.ErrTooLarge):
		return misuse("name the part of it where the printers are", "--subnet: %w", err)
	case err != nil:
		return err
	case f.asJSON:
		return printJSON(out, result)
	}
	return writeFound(visible(out), result)
}

// terminal tells whether somebody watches w.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func writeFound(w io.Writer, r find.Result) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	found := len(r.USB) + len(r.Blocked) + len(r.Serial) + len(r.Network)
	if found > 0 {
		fmt.Fprintln(table, "URL\tPRINTER\tSTATE")
	}
	for _, p := range r.USB {
		state := "USB port " + p.Port
		if !p.TwoWay {
			state += ", cannot answer: evidence is sent at best"
		}
		line(table, "%s\t%s\t%s%s\n", p.URL, words(p.Maker, p.Model), state, held(p.Holders))
	}
	for _, p := range r.Blocked {
		state := "no driver has it: modprobe usblp"
		if p.Driver != "" {
			state = "the driver " + p.Driver + " has it and not usblp: stop what took it, such as CUPS"
		}
		line(table, "%s\t%s\t%s\n", "(USB port "+p.Port+")", words(p.Maker, p.Model), state)
	}
	for _, p := range r.Serial {
		line(table, "%s\t%s\t%s%s\n", p.URL, "unknown", "serial adapter; append ?baud=…",
			held(p.Holders))
	}
	for _, p := range r.Network {
		line(table, "%s\t%s\t%s\n", p.URL, words(p.Maker, p.Model), networkState(p))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if found == 0 {
		fmt.Fprintln(w, "no printer found: is it switched on, and in the same network?")
	} else {
		fmt.Fprintln(w, "\nwrite one into device.toml:  [[printers]]  url = \"…\"")
	}
	for _, n := range r.Searched {
		line(w, "searched %s\n", n)
	}
	for _, n := range r.Skipped {
		line(w, "did not search %s: it is large; name a part of it with --subnet\n", n)
	}
	return nil
}

// words is what a printer calls itself.
func words(maker, model string) string {
	if text := strings.TrimSpace(maker + " " + model); text != "" {
		return text
	}
	return "unknown"
}

func held(by []holder.Holder) string {
	var names []string
	for _, h := range by {
		names = append(names, h.String())
	}
	if len(names) == 0 {
		return ""
	}
	return ", open in " + strings.Join(names, ", ")
}

func networkState(p find.Network) string {
	var parts []string
	switch {
	case p.Unasked != "":
		parts = append(parts, "not asked: "+string(p.Unasked))
	case p.Speaks && p.Offline:
		parts = append(parts, "cannot print now")
	case p.Speaks:
		parts = append(parts, "ready")
	case p.Err != "":
		parts = append(parts, "hung up when it was asked")
	default:
		parts = append(parts, "listens and says nothing")
	}
	if p.Serial != "" {
		parts = append(parts, "serial "+p.Serial)
	}
	if p.MAC != "" {
		parts = append(parts, p.MAC)
	}
	return strings.Join(parts, ", ")
}
