package layout

import "chit/printer/document"

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

// Moved is the notice of a printer that came back after others printed for it: each line, such as
// "41 WAS MOVED TO bar", with IGNORE IF ABOVE.
func Moved(lines []string, width int) document.Document {
	var d document.Document
	for _, line := range lines {
		d.Add(banner(line+", IGNORE IF ABOVE", 2, columns(width))...)
	}
	return d
}

// Waiting is one line of the backlog slip.
type Waiting struct {
	Number, Order, Ticket string
	// Age in words, such as "42 min"; the caller has the clock.
	Age string
}

// Backlog lists tickets too old to be cooked without a person saying so.
func Backlog(waiting []Waiting, width int) document.Document {
	var d document.Document
	d.Add(banner(plural(len(waiting), "OLD TICKET", "OLD TICKETS")+" NOT PRINTED", 2,
		columns(width))...)
	for _, w := range waiting {
		d.Add(document.Pair{
			Left:  []document.Span{{Text: w.Number + " ", Style: bold}, {Text: quoted(w.Order)}},
			Right: []document.Span{{Text: w.Age}},
		})
		d.Add(document.Line{Indent: 2, Hang: 2, Spans: []document.Span{{Text: w.Ticket}}})
	}
	d.Add(document.Text("Ask whether they are still wanted before anybody cooks them.", bold))
	return d
}
