package layout

import (
	"cmp"
	"strconv"

	"chit/printer/document"
)

// Paper that is not a ticket: everything below is printed by the device on its own.

// Memory is the slip of a device whose journal cannot be opened or written. call is whom to call,
// "" if nobody was configured.
func Memory(call string, width int) document.Document {
	var d document.Document
	d.Add(banner("THIS PRINTER CANNOT REMEMBER ORDERS", 2, columns(width))...)
	d.Add(
		document.Text("Its storage does not work. It prints no new tickets until that is repaired, "+
			"so that none comes out twice or is lost unseen.", plain),
		document.Text("Orders wait at the broker or go to another station.", plain),
	)
	if call != "" {
		d.Add(document.Text("Call "+call, tall))
	} else {
		d.Add(document.Text("Call whoever looks after this printer.", tall))
	}
	return d
}

// Incomplete closes what a crash or a power cut left half done on the paper.
func Incomplete(width int) document.Document {
	var d document.Document
	d.Add(banner("PRINT ABOVE MAY BE INCOMPLETE", 2, columns(width))...)
	d.Add(document.Text("The ticket follows once more, marked.", plain))
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
func (p Pairing) Slip(width int) document.Document {
	var d document.Document
	if p.Device != "" {
		d.Add(banner("PAIRED", 2, columns(width))...)
		d.Add(document.Text("This printer is "+p.Device+".", tall))
		return d
	}
	d.Add(banner("NOT PAIRED YET", 2, columns(width))...)
	if p.Problem != "" {
		d.Add(document.Text("The last try ended: "+p.Problem, bold))
	}
	where := "Make a pairing code for this printer"
	if p.Address != "" {
		where += " at " + p.Address
	}
	d.Add(
		document.Text(where+" and give it to chitd. The code ends after 10 minutes.", plain),
		document.Text("Fingerprint of this printer's keys:", plain),
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
func (t Test) Slip(width int) document.Document {
	var d document.Document
	n := columns(width)
	d.Add(banner("TEST PRINT", 2, n)...)
	for _, fact := range []struct{ name, value string }{
		{"Device", t.Device}, {"Printer", t.Printer}, {"Station", t.Station},
		{"Profile", t.Profile}, {"Unit", t.Unit}, {"Evidence", t.Fence},
		{"Version", t.Version}, {"Time", t.Time},
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
		document.Text("One line, "+plural(n, "column", "columns")+":", plain),
		document.Line{Spans: []document.Span{{Text: ruler(n), NoBreak: true}}},
		document.Text("Large", document.Style{Width: 3, Height: 3, Bold: true}),
		document.Line{Spans: []document.Span{
			{Text: " 2 ", Style: document.Style{Width: 2, Height: 2, Bold: true, Inverse: true}},
			{Text: " Crème brûlée", Style: tall},
		}},
		document.Text("äöüß àéîõ ñç åø €£ ½ ° ·", plain),
		document.Text("Red where the paper has it", document.Style{Bold: true, Red: true}),
		document.Text("Next: the cut. Nothing may be missing below.", plain),
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

// Line is the notice for [Facts].IgnoreAbove, such as "41 WAS MOVED TO BAR"; "" for a dead one,
// whose paper must not be ignored: it may be all that there is of a paid order.
func (a Above) Line() string {
	name := flat(cmp.Or(a.Number, a.Ticket))
	switch {
	case a.Reason == "dead":
		return ""
	case a.Reason == "cancelled":
		return name + " WAS CANCELLED"
	case a.Reason != "moved":
		return name + " WAS TAKEN BACK"
	case a.MovedTo == "":
		return name + " WAS MOVED"
	}
	return name + " WAS MOVED TO " + upper(flat(a.MovedTo))
}

// Moved is the notice of a printer that came back after others printed for it: each with IGNORE IF
// ABOVE, more being how many are not named. Where torn is true, a piece of one may hang above.
func Moved(gone []Above, more int, torn bool, width int) document.Document {
	var d document.Document
	add := func(text string) {
		if len(d.Blocks) > 0 {
			d.Add(document.Feed{Lines: 1})
		}
		d.Add(banner(text, 2, columns(width))...)
	}
	if torn {
		add("PRINT ABOVE MAY BE INCOMPLETE")
	}
	for _, a := range gone {
		if line := a.Line(); line != "" {
			add(line + ", IGNORE IF ABOVE")
			continue
		}
		d.Add(document.Text("Ask about "+flat(cmp.Or(a.Number, a.Ticket))+" before cooking it.", bold))
	}
	if more > 0 {
		add("AND " + strconv.Itoa(more) + " MORE")
	}
	return d
}

// Waiting is one line of the backlog slip.
type Waiting struct {
	Number, Order, Ticket string
	// Age in words, such as "42 min"; the caller has the clock.
	Age string
}

// BacklogMax is how many tickets a backlog slip lists; of the others it says how many there are.
const BacklogMax = 40

// Backlog lists tickets too old to be cooked without a person saying so, and how to say it.
func Backlog(waiting []Waiting, width int) document.Document {
	var d document.Document
	d.Add(banner(plural(len(waiting), "OLD TICKET", "OLD TICKETS")+" NOT PRINTED", 2,
		columns(width))...)
	for _, w := range waiting[:min(len(waiting), BacklogMax)] {
		d.Add(document.Pair{
			Left:  []document.Span{{Text: w.Number + " ", Style: bold}, {Text: quoted(w.Order)}},
			Right: []document.Span{{Text: w.Age}},
		})
		d.Add(document.Line{Indent: 2, Hang: 2, Spans: []document.Span{{Text: w.Ticket}}})
	}
	if more := len(waiting) - BacklogMax; more > 0 {
		d.Add(document.Text("and "+strconv.Itoa(more)+" more", bold))
	}
	d.Add(
		document.Text("Ask whether they are still wanted before anybody cooks them.", bold),
		document.Text("To print them all hold the button for 2 seconds. To print some or none tell "+
			"the office.", plain),
	)
	return d
}
