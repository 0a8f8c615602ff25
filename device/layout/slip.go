package layout

import "chit/printer/document"

// Identity of the paper that is not a ticket: everything below is printed by the device on its own.

// Memory is the slip of a device whose journal cannot be written: THIS PRINTER CANNOT REMEMBER
// ORDERS. call is whom to call, "" if nobody was configured.
func Memory(call string, columns int) document.Document {
	return document.Document{}
}

// Incomplete closes what a crash left on the paper: PRINT ABOVE MAY BE INCOMPLETE.
func Incomplete(columns int) document.Document {
	return document.Document{}
}

// Pairing is what a device prints before it belongs to anybody.
type Pairing struct {
	// Fingerprint of the device's keys, as identity.Fingerprint writes it; the owner types it or
	// compares it when the code is made.
	Fingerprint string
	// Code is the pairing code in use, "" before there is one.
	Code string
	// Address is where the owner makes codes, "" if unknown.
	Address string
	// Device is the id after pairing succeeded, "" before.
	Device string
	// Problem is why pairing failed, "" if it did not.
	Problem string
}

// Slip is the pairing slip.
func (p Pairing) Slip(columns int) document.Document {
	return document.Document{}
}

// Test is what a test print shows.
type Test struct {
	Device, Printer, Station string
	// Profile is the printer's profile, Unit what it says about itself, Fence the best evidence.
	Profile, Unit, Fence string
	Version              string
	// Time is an instant in words or "" where the clock is not trusted.
	Time string
}

// Slip is the test print: sizes, marks, accents, the euro sign, a ruler of the paper's columns.
func (t Test) Slip(columns int) document.Document {
	return document.Document{}
}

// Moved is the notice on the first paper of a printer that came back: {number} WAS MOVED TO {to},
// IGNORE IF ABOVE, one line for each.
func Moved(lines []string, columns int) document.Document {
	return document.Document{}
}

// Waiting is one line of the backlog slip.
type Waiting struct {
	Number, Order, Ticket string
	// Age in words, such as "42 min"; the caller has the clock.
	Age string
}

// Backlog lists tickets too old to be cooked without a person saying so, and how to say it.
func Backlog(waiting []Waiting, columns int) document.Document {
	return document.Document{}
}
