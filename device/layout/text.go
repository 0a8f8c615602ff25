package layout

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"chit/device/layout/words"
	"chit/printer/document"
)

// columnsMin is the narrowest paper that is laid out for: 58 mm in font A.
const columnsMin = 32

var (
	plain = document.Style{}
	bold  = document.Style{Bold: true}
	tall  = document.Style{Height: 2, Bold: true}
)

func columns(n int) int {
	if n <= 0 {
		return columnsMin
	}
	return n
}

// banner is a mark over the full width: white on black lines, padded so that the black reaches from
// edge to edge, as large as the longest word allows. Only words of this package, of the kitchen's
// configuration and of the broker's ids may be in it.
func banner(text string, largest document.Size, columns int) []document.Block {
	words := strings.Fields(text)
	size := largest
	for size > 1 && columns/int(size) < longest(words) {
		size--
	}
	room := columns / int(size)
	var blocks []document.Block
	for _, line := range fill(words, room) {
		left := max(room-cells(line), 0) / 2
		right := max(room-cells(line)-left, 0)
		blocks = append(blocks, document.Line{Align: document.Centre, Spans: []document.Span{{
			Text:    strings.Repeat(" ", left) + line + strings.Repeat(" ", right),
			Style:   document.Style{Width: size, Height: size, Bold: true, Inverse: true},
			NoBreak: true,
		}}})
	}
	return blocks
}

// fill puts words on lines of at most room cells; a longer word is cut into pieces.
func fill(words []string, room int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		for cells(word) > room {
			head := prefix(word, room)
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			lines = append(lines, head)
			word = word[len(head):]
		}
		switch {
		case word == "":
		case line == "":
			line = word
		case cells(line)+1+cells(word) <= room:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// prefix is the longest beginning of s that fits room cells, at least one rune.
func prefix(s string, room int) string {
	used := 0
	for i, r := range s {
		used += runeCells(r)
		if used > room && i > 0 {
			return s[:i]
		}
	}
	return s
}

// largest is the order's name as large as it fits on one line, up to size times; longer names wrap
// at double width.
func largest(name string, size document.Size, columns int) document.Line {
	high := min(size, 3)
	for size > 2 && cells(name) > columns/int(size) {
		size--
	}
	return document.Line{Align: document.Centre, Spans: []document.Span{{
		Text: name, Style: document.Style{Width: size, Height: max(size, high), Bold: true},
	}}}
}

// label is a small mark on a line of its own, of at most 30 letters.
func label(text string) document.Line {
	return document.Line{Spans: []document.Span{{
		Text: " " + text + " ", NoBreak: true, Style: document.Style{Bold: true, Inverse: true},
	}}}
}

func heading(text string) document.Line {
	return document.Text(text, document.Style{Bold: true, Underline: true})
}

// flat puts text on one line: newlines and tabs become single spaces.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// doubleQuotes look like the sign that ends a quotation, in some font or other.
const doubleQuotes = `"“”„‟″‶＂〝〞〟״ʺ˝ˮ`

// quoted is free text between double quotes; its own double quotes become single ones, so it cannot
// end the quotation early.
func quoted(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		if strings.ContainsRune(doubleQuotes, r) {
			return '\''
		}
		return r
	}, flat(s)) + `"`
}

// upperID is an id in capitals: ids are ASCII in every language, so a Turkish grill is no GRİLL.
func upperID(s string) string { return strings.ToUpper(flat(s)) }

// instant reads an RFC 3339 instant and moves it to zone, where there is one.
func instant(s string, zone *time.Location) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, false
	}
	if zone != nil {
		t = t.In(zone)
	}
	return t, true
}

// clock is an instant's time of day, or the text as it stands where it is none.
func clock(s string, zone *time.Location) string {
	t, ok := instant(s, zone)
	if !ok {
		return quoted(s)
	}
	return t.Format(clockForm)
}

// clockForm is how every kitchen reads a time of day here: 24 hours leave no doubt.
const clockForm = "15:04"

// due is when the guest wants it: "18:00", with the date where it is another day than the order was
// placed on or nothing says which day that was, and with the year where that differs.
func due(s, placed string, zone *time.Location, w *words.Words) string {
	t, ok := instant(s, zone)
	if !ok {
		return quoted(s)
	}
	from, ok := instant(placed, zone)
	if ok {
		// Two instants of different offsets are compared where the guest waits.
		from = from.In(t.Location())
	}
	hour := t.Format(clockForm)
	switch {
	case ok && from.Year() != t.Year():
		return date(t, w, true) + " " + hour
	case !ok || from.YearDay() != t.YearDay():
		return date(t, w, false) + " " + hour
	}
	return hour
}

// date is a day as the language writes it, with or without its year.
func date(t time.Time, w *words.Words, year bool) string {
	form := w.Day
	if year {
		form = w.DayYear
	}
	return words.Fill(form, "day", strconv.Itoa(t.Day()), "month", w.Months[t.Month()-1],
		"year", strconv.Itoa(t.Year()))
}

func longest(words []string) int {
	n := 0
	for _, w := range words {
		n = max(n, cells(w))
	}
	return n
}

// cells is how many columns s takes at single width. It is close enough to choose a size by; the
// encoder wraps by grapheme and is right in the cases that this estimate gets wrong.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// wide are the scripts printed two columns wide (Unicode Annex 11, East Asian Wide).
var wide = []*unicode.RangeTable{unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana}

func runeCells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, wide...) || r >= 0xff01 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
