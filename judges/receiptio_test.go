package judges

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"chit/printer/profile"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// host is a loopback address of this process's own: receiptio always calls port 9100.
func host(n int) string {
	id := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 1+id>>8&0x7F, id&0xFF, n)
}

// listen starts a printer at the address of that number.
func listen(t *testing.T, n int, faults []string) *serve.Server {
	t.Helper()
	c := serve.Config{Printer: virtual.ConfigFor(profile.Safe80()), Listen: host(n) + ":9100"}
	c.Printer.Pages = append(c.Printer.Pages, profile.Page{Number: 1, Encoding: virtual.Katakana})
	c.Printer.BufferBytes = 64 << 10
	for _, text := range faults {
		f, err := virtual.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Printer.Faults = append(c.Printer.Faults, f)
	}
	s, err := serve.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What an outside host concludes from our printer's answers is what is the matter with the printer.
func TestReceiptioFindsOutWhatIsTheMatterWithOurPrinter(t *testing.T) {
	const order = "^^^GRILL\n\n2x | Margherita\n1x | Crème brûlée\n---\nno nuts |\n"
	cases := []struct {
		name, options string
		faults        []string
		hand          func(p *virtual.Printer, now time.Time)
		want          string
		nobody        bool   // no printer is there
		paper         string // what must hang in the machine or lie below it
	}{
		{name: "prints", options: "-p epson", want: "success", paper: "Crème brûlée"},
		{name: "prints as on a clone", options: "-p generic", want: "success", paper: "Crème brûlée"},
		{name: "prints, after finding out what it is", want: "success", paper: "Crème brûlée"},
		{name: "is asked", options: "-p escpos -q", want: "online"},
		{name: "cover open, asked", options: "-p escpos -q", faults: []string{"cover-open"},
			want: "coveropen"},
		{name: "cover open", options: "-p epson", faults: []string{"cover-open"}, want: "coveropen"},
		{name: "cover opened within", options: "-p epson", faults: []string{"cover-open:after=2"},
			want: "coveropen", paper: "G R I L L"},
		{name: "no paper, asked", options: "-p escpos -q", faults: []string{"paper-out"},
			want: "paperempty"},
		{name: "paper ends within", options: "-p epson", faults: []string{"paper-out:after=2"},
			want: "paperempty", paper: "G R I L L"},
		{name: "the cutter jams", options: "-p epson", faults: []string{"cutter-error"}, want: "error",
			paper: "Crème brûlée"},
		{name: "broken for good", options: "-p epson", faults: []string{"broken"}, want: "error"},
		{name: "never says that it has printed", options: "-p epson -t 1", faults: []string{"no-fence"},
			want: "timeout", paper: "Crème brûlée"},
		{name: "says nothing at all", options: "-p epson", faults: []string{"mute"}, want: "offline"},
		{name: "nobody is there", options: "-p epson", nobody: true, want: "disconnect"},
		{name: "the drawer is shut", options: "-p escpos -q drawer", want: "drawerclosed",
			hand: func(p *virtual.Printer, now time.Time) { p.KickDrawer(now, true) }},
		{name: "the drawer is open", options: "-p escpos -q drawer", want: "draweropen"},
	}
	var jobs []map[string]string
	printers := make([]*serve.Server, len(cases))
	for i, c := range cases {
		if !c.nobody {
			printers[i] = listen(t, i+1, c.faults)
		}
		if c.hand != nil {
			if err := printers[i].Do(c.hand); err != nil {
				t.Fatal(err)
			}
		}
		jobs = append(jobs, map[string]string{"document": order,
			"options": fmt.Sprintf("-d %s -c 48 -l en %s", host(i+1), c.options)})
	}
	var results []string
	run(t, "receiptio.mjs", jobs, &results)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if results[i] != c.want {
				t.Errorf("receiptio says %q, want %q", results[i], c.want)
			}
			if c.nobody {
				return
			}
			text := printed(t, printers[i])
			if c.paper != "" && !strings.Contains(text, c.paper) || c.paper == "" && text != "" {
				t.Errorf("the paper reads\n%s\nwant %q", text, c.paper)
			}
			objected(t, printers[i], c.options == "")
		})
	}
}

// printed is all paper of a printer, cut or hanging.
func printed(t *testing.T, s *serve.Server) string {
	t.Helper()
	pending, err := s.Pending()
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, sheet := range append(s.Sheets(), pending) {
		for _, line := range sheet.Lines {
			text += grid(line, 12) + "\n"
		}
	}
	return text
}

// objected checks that the printer knew all it was sent. A host that does not know what it talks to
// asks in Star's language too, once: that must be the only thing that is not understood.
func objected(t *testing.T, s *serve.Server, asksStar bool) {
	t.Helper()
	state, err := s.State()
	if err != nil {
		t.Fatal(err)
	}
	var unexpected []virtual.Mark
	for _, e := range state.Errors {
		star := strings.Contains(e.Text, "1B 06") || strings.Contains(e.Text, ": 01:")
		if asksStar && star {
			continue
		}
		unexpected = append(unexpected, e)
	}
	noObjection(t, nil, unexpected)
}
