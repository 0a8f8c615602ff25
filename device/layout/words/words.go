// Package words holds every fixed word that a kitchen's paper says, in each language a kitchen may
// have.
//
// A catalogue is one [Words]. It holds whole phrases with names in braces, such as "MOVED FROM
// {station}", because languages put their words in different orders; [Fill] puts values in. Only
// words of ours are translated: what a guest or a cashier typed is printed as it came, and so are
// ids, reasons of errors and the names of marks in a ticket's foot line, which support must be able
// to read in every kitchen. Digits are always European: a quantity must be read by everybody.
//
// The package is pure. [For] finds a catalogue by its tag, [Tags] lists them.
//
//	w, ok := words.For("de")
//	words.Fill(w.MovedFrom, "station", "BAR") // UMGELEITET VON BAR
package words

import (
	"reflect"
	"slices"
	"strings"
)

// Words is one language's catalogue. The tag place says where on the paper a phrase stands, and so
// how long its words may be on 32 columns: a mark is printed twice as wide, a label is one line.
type Words struct {
	// Tag is the BCP 47 tag, Name what its speakers call the language.
	Tag, Name string

	// Marks: white on black, over the paper's width. They are capitals where the script has them.
	New               string `place:"mark"`
	Change            string `place:"mark"`
	Void              string `place:"mark"`
	Notice            string `place:"mark"`
	Reprint           string `place:"mark"`
	Late              string `place:"mark"`
	PossibleDuplicate string `place:"mark"`
	Moved             string `place:"mark"`
	MovedFrom         string `place:"mark"`
	MovedAsk          string `place:"mark"`
	OlderThan         string `place:"mark"`
	NotPrintedHere    string `place:"mark"`
	PowerCut          string `place:"mark"`
	TimeUnknown       string `place:"mark"`
	CopyOf            string `place:"mark"`
	DoNotMake         string `place:"mark"`
	IgnoreIfAbove     string `place:"mark"`
	WasMovedTo        string `place:"mark"`
	WasMoved          string `place:"mark"`
	WasCancelled      string `place:"mark"`
	WasTakenBack      string `place:"mark"`
	AndMore           string `place:"mark"`
	Incomplete        string `place:"mark"`
	NoMemory          string `place:"mark"`
	Paired            string `place:"mark"`
	NotPaired         string `place:"mark"`
	TestPrint         string `place:"mark"`
	OldTickets        Plural `place:"mark"`

	// Labels: small marks, white on black, on one line.
	Added          string `place:"label"`
	Removed        string `place:"label"`
	Changed        string `place:"label"`
	ChangesUnknown string `place:"label"`
	LayoutFailed   string `place:"label"`
	PowerCutPlain  string `place:"label"`
	Allergy        string `place:"label"`

	// Lines of a ticket.
	AlsoAt          string `place:"line"`
	CompleteNow     string `place:"line"`
	Was             string `place:"line"`
	WasAllergy      string `place:"line"`
	Course          string `place:"line"`
	Seat            string `place:"line"`
	Table           string `place:"line"`
	Guests          Plural `place:"line"`
	Due             string `place:"line"`
	Placed          string `place:"line"`
	Printed         string `place:"line"`
	PrintedAfter    string `place:"line"`
	Customer        string `place:"line"`
	Note            string `place:"line"`
	FirstToday      string `place:"line"`
	Previous        string `place:"line"`
	PreviousUnknown string `place:"line"`
	GapMoved        string `place:"line"`
	GapMovedTo      string `place:"line"`
	GapCancelled    string `place:"line"`
	GapDead         string `place:"line"`
	GapEarlier      string `place:"line"`
	GapsUnread      string `place:"line"`
	Attempt         string `place:"line"`
	OneOf           string `place:"line"`
	Minutes         string `place:"line"`
	Hours           string `place:"line"`

	// Ways to eat, for the types dine-in, take-away and delivery.
	DineIn   string `place:"mark"`
	TakeAway string `place:"mark"`
	Delivery string `place:"mark"`

	// Names of facts on the paper of a ticket whose layout failed.
	PlainReason string `place:"line"`
	PlainMark   string `place:"line"`
	PlainTicket string `place:"line"`
	PlainNumber string `place:"line"`
	PlainOrder  string `place:"line"`
	PlainType   string `place:"line"`

	// Sentences of slips.
	MemoryWhy      string `place:"line"`
	MemoryWait     string `place:"line"`
	Call           string `place:"line"`
	CallNobody     string `place:"line"`
	IncompleteNext string `place:"line"`
	Complete       string `place:"line"`
	PairedAs       string `place:"line"`
	PairingProblem string `place:"line"`
	PairingHow     string `place:"line"`
	PairingHowAt   string `place:"line"`
	Fingerprint    string `place:"line"`

	// Names of facts on a test print, and its sentences.
	Device      string `place:"line"`
	Printer     string `place:"line"`
	Station     string `place:"line"`
	Profile     string `place:"line"`
	Unit        string `place:"line"`
	Evidence    string `place:"line"`
	Version     string `place:"line"`
	Time        string `place:"line"`
	TestColumns Plural `place:"line"`
	TestLarge   string `place:"line"`
	TestRed     string `place:"line"`
	TestCut     string `place:"line"`
	AskAbout    string `place:"line"`
	BacklogMore string `place:"line"`
	BacklogAsk  string `place:"line"`
	BacklogHow  string `place:"line"`

	// Dates: the abbreviated months, and how a day is written. Source: CLDR 45, Gregorian calendar,
	// abbreviated months (format) and the pattern MMMd.
	Day     string `place:"line"`
	DayYear string `place:"line"`
	Months  [12]string

	Allergens Allergens
	// Without and Extra are the words by which a modifier takes away or adds, in small letters, with
	// which it begins; Behind is true where they stand at its end.
	Without, Extra []string
	Behind         bool

	rule func(n int) category
}

// catalogues is ordered as people are shown the tags.
var catalogues = []*Words{
	&english, &german, &french, &spanish, &italian, &portuguese, &dutch, &polish, &turkish, &greek,
	&arabic, &hebrew, &thai, &chinese, &japanese, &hindi, &ukrainian,
}

// For returns the catalogue of a tag such as "de" or "zh-Hans"; "" is English. It is not to be
// changed. The second result is false, and the first English, where there is no such catalogue.
func For(tag string) (*Words, bool) {
	if tag == "" {
		return &english, true
	}
	for _, w := range catalogues {
		if strings.EqualFold(w.Tag, tag) {
			return w, true
		}
	}
	return &english, false
}

// RightToLeft is true for languages that are written from right to left.
func (w *Words) RightToLeft() bool { return w.Tag == arabic.Tag || w.Tag == hebrew.Tag }

// Tags lists the languages there are.
func Tags() []string {
	tags := make([]string, len(catalogues))
	for i, w := range catalogues {
		tags[i] = w.Tag
	}
	return tags
}

// Fill puts values in place of the names in braces: Fill("MOVED FROM {station}", "station", "BAR").
// A name that is not given stays as it is, and no value is looked into again.
func Fill(phrase string, values ...string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(phrase, '{')
		end := strings.IndexByte(phrase, '}')
		if start < 0 || end < start {
			b.WriteString(phrase)
			return b.String()
		}
		b.WriteString(phrase[:start])
		b.WriteString(value(phrase[start+1:end], values))
		phrase = phrase[end+1:]
	}
}

func value(name string, values []string) string {
	for i := 0; i+1 < len(values); i += 2 {
		if values[i] == name {
			return values[i+1]
		}
	}
	return "{" + name + "}"
}

// Phrases lists everything that the catalogue can put on paper, in no useful order, so that a
// printer can be asked whether it has the letters.
func (w *Words) Phrases() []string {
	var all []string
	v := reflect.ValueOf(*w)
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch value := v.Field(i).Interface().(type) {
		case string:
			all = append(all, value)
		case Plural:
			all = append(all, value.Zero, value.One, value.Two, value.Few, value.Many, value.Other)
		case [12]string:
			all = append(all, value[:]...)
		case Allergens:
			list := value.list()
			all = append(all, list[:]...)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
