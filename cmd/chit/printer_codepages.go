package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"chit/printer/escpos"
	"chit/printer/escpos/codepage"
	"chit/printer/profile"
	"chit/printer/status"
	"chit/printer/transport"
	"chit/printer/transport/open"
	"chit/printer/virtual"
)

// pageFlags are those of chit printer codepages.
type pageFlags struct {
	profile, printer, png, pages string
}

func newPrinterCodepages() *cobra.Command {
	var f pageFlags
	c := &cobra.Command{
		Use:   "codepages",
		Short: "Print the table of code pages that settles what a printer has where",
		Long: `Shows for each code page of a profile the 128 characters that it should have. Print it
on the printer (--printer URL), lay the paper beside the screen, and compare: where letters differ,
the profile is wrong for this printer; safe-80 and safe-58 use pages that most printers agree on.

--pages prints pages that the profile does not name, too. --png prints on the virtual printer.

A printer has one owner: stop chitd before (systemctl stop chitd). A printer that does not answer is
not printed to, unless its cable has no way back.`,
		Example: "  chit printer codepages --profile rongta-rp326\n" +
			"  chit printer codepages --pages 0-5,16-19,45-53 --printer tcp://192.168.1.50",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout())
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.profile, "profile", "safe-80", "model; chit printer profiles lists them")
	flags.StringVar(&f.pages, "pages", "", "numbers and ranges, such as 0-5,16; the profile's without")
	flags.StringVar(&f.printer, "printer", "", "URL of the printer that prints it")
	flags.StringVar(&f.png, "png", "", "file for a picture of the virtual printer's paper")
	return c
}

func (f pageFlags) run(ctx context.Context, out io.Writer) error {
	facts, err := profile.ByName(f.profile)
	if err != nil {
		return misuse("chit printer profiles lists all", "--profile: %w", err)
	}
	names := map[byte]string{}
	var numbers []byte
	for _, p := range facts.Pages {
		names[p.Number] = p.Encoding
		numbers = append(numbers, p.Number)
	}
	if f.pages != "" {
		if numbers, err = parsePages(f.pages); err != nil {
			return misuse("such as --pages 0-5,16-19", "--pages: %w", err)
		}
	}
	table := escpos.PageTable(facts, numbers, names)
	switch {
	case f.printer != "":
		return printTable(ctx, f.printer, table)
	case f.png != "":
		return drawTable(facts, table, f.png)
	}
	return writeTable(visible(out), numbers, names)
}

// parsePages reads "0-5,16".
func parsePages(text string) (numbers []byte, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 8)
		to, errTo := strconv.ParseUint(last, 10, 8)
		if err != nil || errTo != nil || from > to {
			return nil, fmt.Errorf("found %q, expected 0 to 255 or a range", part)
		}
		for n := from; n <= to; n++ {
			numbers = append(numbers, byte(n))
		}
	}
	return numbers, nil
}

func writeTable(w io.Writer, numbers []byte, names map[byte]string) error {
	for _, n := range numbers {
		name := names[n]
		if name == "" {
			fmt.Fprintf(w, "page %d is not in the profile\n", n)
			continue
		}
		fmt.Fprintf(w, "page %d %s\n", n, name)
		for from := 0x80; from < 0x100; from += 32 {
			fmt.Fprintf(w, "%02X ", from)
			for b := from; b < from+32; b++ {
				r := codepage.Decode(name, byte(b))
				if r == utf8.RuneError || r == 0xA0 || r == 0xAD {
					r = ' '
				}
				fmt.Fprintf(w, "%c", r)
			}
			fmt.Fprintln(w)
		}
	}
	return nil
}

func drawTable(facts profile.Profile, table []byte, file string) error {
	c := virtual.ConfigFor(facts)
	c.BufferBytes = len(table)
	p, now := virtual.New(c), time.Unix(0, 0)
	p.Connect(now)
	p.Receive(now, table)
	if !facts.Cutter {
		p.Tear(now)
	}
	sheets := p.Sheets()
	if len(sheets) == 0 {
		return errors.New("the virtual printer gave no paper")
	}
	picture, err := sheets[0].PNG()
	if err != nil {
		return err
	}
	return os.WriteFile(file, picture, 0o644)
}

// helloWait and tableWait bound the answers of a printer, and the printing of the longest table.
const (
	helloWait = 3 * time.Second
	tableWait = 2 * time.Minute
)

// printTable prints on a printer that answers, and waits until it has printed.
func printTable(ctx context.Context, url string, table []byte) (err error) {
	dialer, err := open.Parse(url, nil)
	if err != nil {
		return misuse("chit printer find lists what is there", "--printer: %w", err)
	}
	conn, err := dialer.Dial(ctx)
	if err != nil {
		return hinted{err, "a printer has one owner: systemctl stop chitd"}
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if !dialer.TwoWay() {
		return write(conn, table)
	}
	var heard status.Stream
	if err := asked[status.Printer](conn, &heard, status.ExpectPrinter, escpos.RealtimeStatus(1),
		helloWait); err != nil {
		return hinted{fmt.Errorf("%s does not answer, so nothing was printed: %w", dialer.Name(), err),
			"is it on, and does chitd own it? systemctl stop chitd"}
	}
	table = append(table, escpos.FencePaper()...)
	if err := asked[status.Fence](conn, &heard, status.ExpectFence, table, tableWait); err != nil {
		return hinted{fmt.Errorf("%s took the table and did not say that it printed it: %w",
			dialer.Name(), err), "look at its paper and its cover"}
	}
	return nil
}

func write(conn transport.Conn, b []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(tableWait)); err != nil {
		return err
	}
	_, err := conn.Write(b)
	return err
}

// asked sends bytes that end with a question and waits for its own answer: the table switches the
// printer's automatic status on, which says something at once.
func asked[Answer status.Event](
	conn transport.Conn, heard *status.Stream, kind status.Kind, b []byte, wait time.Duration,
) error {
	heard.Expect(kind)
	if err := write(conn, b); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	buffer := make([]byte, 256)
	for {
		n, err := conn.Read(buffer)
		for _, event := range heard.Write(buffer[:n]) {
			if _, ok := event.(Answer); ok {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}
