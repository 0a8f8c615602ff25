package layout

import (
	"cmp"
	"strconv"
	"time"

	"chit/device/layout/words"
	"chit/printer/document"
)

// Paper that is not a ticket: everything below is printed by the device on its own. Of the options
// slips read the columns and the language.

// words is the catalogue of the kitchen's language.
func (o Options) words() *words.Words {
	w, _ := words.For(o.Language)
	return w
}

// paper is empty paper that runs the way of the kitchen's language.
func (o Options) paper() document.Document {
	return document.Document{RightToLeft: o.words().RightToLeft()}
}

// slip begins with a banner.
func (o Options) slip(banners ...string) document.Document {
	d := o.paper()
	for _, text := range banners {
		d.Add(banner(text, 2, columns(o.Columns))...)
	}
	return d
}

// Memory is the slip of a device whose journal cannot be opened or written. call is whom to call,
// "" if nobody was configured.
func Memory(call string, o Options) document.Document {
	w := o.words()
	d := o.slip(w.NoMemory)
	d.Add(document.Text(w.MemoryWhy, plain), document.Text(w.MemoryWait, plain))
	if call != "" {
		d.Add(document.Text(words.Fill(w.Call, "call", call), tall))
	} else {
		d.Add(document.Text(w.CallNobody, tall))
	}
	return d
}

// Incomplete closes what a crash or a power cut left half done on the paper.
func Incomplete(o Options) document.Document {
	d := o.slip(o.words().Incomplete)
	d.Add(document.Text(o.words().IncompleteNext, plain))
	return d
}

// Complete closes a ticket that came out whole and lacked only its cut.
func Complete(o Options) document.Document {
	d := o.paper()
	d.Add(document.Rule{}, document.Text(o.words().Complete, bold))
	return d
}

// Pairing is what a device prints before it belongs to anybody, and when that has changed.
type Pairing struct {
	// Fingerprint of the device's keys, as identity.Fingerprint writes it. The owner gives it with
	// the wish for a code, so that the code is of no use to another device.
	Fingerprint string
	// Address is where the owner makes codes, "" if unknown.
	Address string
	// Device is the id after pairing succeeded, "" before.
	Device string
	// Problem is why pairing failed, "" if it did not.
	Problem string
}

// Slip is the pairing slip.
func (p Pairing) Slip(o Options) document.Document {
	w := o.words()
	if p.Device != "" {
		d := o.slip(w.Paired)
		d.Add(document.Text(words.Fill(w.PairedAs, "device", p.Device), tall))
		return d
	}
	d := o.slip(w.NotPaired)
	if p.Problem != "" {
		d.Add(document.Text(words.Fill(w.PairingProblem, "problem", p.Problem), bold))
	}
	how := w.PairingHow
	if p.Address != "" {
		how = words.Fill(w.PairingHowAt, "address", p.Address)
	}
	d.Add(
		document.Text(how, plain), document.Text(w.Fingerprint, plain),
		document.Text(p.Fingerprint, tall),
	)
	return d
}

// Test is what a test print shows.
type Test struct {
	Device, Printer, Station string
	// Profile is the printer's profile, Unit what the printer says about itself, Fence the best
	// evidence it can give.
	Profile, Unit, Fence string
	Version              string
	// Time is an instant in words, "" where the clock is not trusted.
	Time string
}

// Slip is the test print: facts, a ruler of the paper's columns, sizes, marks and hard letters. A
// person sees at one look whether the profile fits the printer.
func (t Test) Slip(o Options) document.Document {
	w, n := o.words(), columns(o.Columns)
	d := o.slip(w.TestPrint)
	for _, fact := range []struct{ name, value string }{
		{w.Device, t.Device}, {w.Printer, t.Printer}, {w.Station, t.Station},
		{w.Profile, t.Profile}, {w.Unit, t.Unit}, {w.Evidence, t.Fence},
		{w.Version, t.Version}, {w.Time, t.Time},
	} {
		if fact.value != "" {
			d.Add(document.Pair{
				Left:  []document.Span{{Text: fact.name}},
				Right: []document.Span{{Text: flat(fact.value), Style: bold}},
			})
		}
	}
	d.Add(
		document.Rule{},
		document.Text(w.Count(w.TestColumns, n), plain),
		document.Line{Spans: []document.Span{{Text: ruler(n), NoBreak: true}}},
		document.Text(w.TestLarge, document.Style{Width: 3, Height: 3, Bold: true}),
		document.Line{Spans: []document.Span{
			{Text: " 2 ", Style: document.Style{Width: 2, Height: 2, Bold: true, Inverse: true}},
			{Text: " Crème brûlée", Style: tall},
		}},
		document.Text("äöüß àéîõ ñç åø €£ ½ ° ·", plain),
		document.Text(w.TestRed, document.Style{Bold: true, Red: true}),
		document.Text(w.TestCut, plain),
		document.Rule{Char: '='},
	)
	return d
}

// ruler counts columns: "1234567890123…".
func ruler(n int) string {
	digits := make([]byte, n)
	for i := range digits {
		digits[i] = '0' + byte((i+1)%10)
	}
	return string(digits)
}

// Above is a ticket that this printer's paper may show, whole or in part, and that is not its any
// more.
type Above struct {
	// Number is the ticket's running number; Ticket, its id, stands in where there is none.
	Number, Ticket string
	// Reason is the recall's: moved, cancelled or dead. MovedTo is the station's name, "" if unknown.
	Reason, MovedTo string
}

// Silent is true where nothing may be said of it: the paper of a dead ticket must not be ignored,
// because it may be all that there is of a paid order.
func (a Above) Silent() bool { return a.Reason == "dead" }

// line says what became of it, such as "41 WAS MOVED TO BAR"; "" where it is silent.
func (a Above) line(w *words.Words) string {
	phrase := w.WasTakenBack
	switch {
	case a.Silent():
		return ""
	case a.Reason == "cancelled":
		phrase = w.WasCancelled
	case a.Reason == "moved" && a.MovedTo == "":
		phrase = w.WasMoved
	case a.Reason == "moved":
		phrase = w.WasMovedTo
	}
	return words.Fill(phrase, "number", a.name(), "station", w.Upper(flat(a.MovedTo)))
}

func (a Above) name() string { return flat(cmp.Or(a.Number, a.Ticket)) }

// Moved is the notice of a printer that came back after others printed for it: each with IGNORE IF
// ABOVE, more being how many are not named. Where torn is true, a piece of one may hang above.
func Moved(gone []Above, more int, torn bool, o Options) document.Document {
	d := o.paper()
	w := o.words()
	add := func(text string) {
		if len(d.Blocks) > 0 {
			d.Add(document.Feed{Lines: 1})
		}
		d.Add(banner(text, 2, columns(o.Columns))...)
	}
	if torn {
		add(w.Incomplete)
	}
	for _, a := range gone {
		if line := a.line(w); line != "" {
			add(words.Fill(w.IgnoreIfAbove, "what", line))
			continue
		}
		d.Add(document.Text(words.Fill(w.AskAbout, "number", a.name()), bold))
	}
	if more > 0 {
		add(words.Fill(w.AndMore, "n", strconv.Itoa(more)))
	}
	return d
}

// Waiting is one line of the backlog slip.
type Waiting struct {
	Number, Order, Ticket string
	// Age since its release; the caller has the clock.
	Age time.Duration
}

// BacklogMax is how many tickets a backlog slip lists; of the others it says how many there are.
const BacklogMax = 40

// Backlog lists tickets too old to be cooked without a person saying so, and how to say it.
func Backlog(waiting []Waiting, o Options) document.Document {
	w := o.words()
	d := o.slip(w.Count(w.OldTickets, len(waiting)))
	for _, one := range waiting[:min(len(waiting), BacklogMax)] {
		d.Add(document.Pair{
			Left:  []document.Span{{Text: one.Number + " ", Style: bold}, {Text: quoted(one.Order)}},
			Right: []document.Span{{Text: age(one.Age, w)}},
		})
		d.Add(document.Line{Indent: 2, Hang: 2, Spans: []document.Span{{Text: one.Ticket}}})
	}
	if more := len(waiting) - BacklogMax; more > 0 {
		d.Add(document.Text(words.Fill(w.BacklogMore, "n", strconv.Itoa(more)), bold))
	}
	d.Add(document.Text(w.BacklogAsk, bold), document.Text(w.BacklogHow, plain))
	return d
}
