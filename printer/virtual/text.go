package virtual

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// row is one thing on the sheet as text.
type row struct {
	top, bottom int
	text        string
}

func (s Sheet) text(styled bool) string {
	var rows []row
	for _, line := range s.Lines {
		if line.Y >= 0 { // What a cut left behind from the sheet above is drawn, not read.
			rows = append(rows, row{line.Y, line.Y + line.Height, line.text(styled, s.column())})
		}
	}
	for _, image := range s.Images {
		name := fmt.Sprintf("[image %dx%d]", image.Width*image.ScaleX, image.Height*image.ScaleY)
		rows = append(rows, row{image.Y, image.Y + image.Height*image.ScaleY, name})
	}
	for _, box := range s.Boxes {
		rows = append(rows, row{box.Y, box.Y + box.Height,
			fmt.Sprintf("[%s %s]", box.Label, printable(box.Data))})
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].top < rows[j].top })
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			for gap := r.top - rows[i-1].bottom; gap >= lineDots; gap -= lineDots {
				b.WriteByte('\n')
			}
		}
		b.WriteString(strings.TrimRight(r.text, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// column is the width of one column of font A in dots.
func (s Sheet) column() int {
	if s.CellDots > 0 {
		return s.CellDots
	}
	return cellWidthA
}

// text sets the runs into columns of that many dots, from left to right, in whichever order they
// were printed.
func (l Line) text(styled bool, column int) string {
	var b strings.Builder
	end := 0
	runs := slices.Clone(l.Runs)
	slices.SortStableFunc(runs, func(a, b Run) int { return a.X - b.X })
	if overlap(runs) {
		// Printed twice, as needle printers do for two colours: blanks lie over the other's letters.
		for i := range runs {
			runs[i].trim()
		}
		slices.SortStableFunc(runs, func(a, b Run) int { return a.X - b.X })
	}
	for _, run := range runs {
		if columns := (run.X - end) / column; columns > 0 {
			b.WriteString(strings.Repeat(" ", columns))
		}
		name := run.Style.String()
		if styled && name != "" {
			fmt.Fprintf(&b, "{%s|%s}", name, run.Text)
		} else {
			b.WriteString(run.Text)
		}
		end = run.X + run.Width
	}
	return b.String()
}

// overlap tells whether any of the sorted runs begins before the one before it ends.
func overlap(runs []Run) bool {
	for i := 1; i < len(runs); i++ {
		if runs[i].X < runs[i-1].X+runs[i-1].Width {
			return true
		}
	}
	return false
}

// trim takes the blanks off both ends of a run.
func (r *Run) trim() {
	count := utf8.RuneCountInString(r.Text)
	if count == 0 {
		return
	}
	cell := r.Width / count
	for strings.HasPrefix(r.Text, " ") {
		r.Text, r.X, r.Width = r.Text[1:], r.X+cell, r.Width-cell
	}
	for strings.HasSuffix(r.Text, " ") {
		r.Text, r.Width = r.Text[:len(r.Text)-1], r.Width-cell
	}
}

// String names what is not plain: "2x2 bold inverse".
func (s Style) String() string {
	var words []string
	if s.Width > 1 || s.Height > 1 {
		words = append(words, fmt.Sprintf("%dx%d", s.Width, s.Height))
	}
	for _, w := range []struct {
		on   bool
		name string
	}{
		{s.FontB, "small"}, {s.Bold, "bold"}, {s.Underline > 0, "underline"},
		{s.Inverse, "inverse"}, {s.Red, "red"}, {s.Upside, "upside-down"}, {s.Turned, "turned"},
		{s.Italic, "italic"},
	} {
		if w.on {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, " ")
}

// printable keeps foreign data on one line of a text file.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || r == utf8.RuneError {
			return '.'
		}
		return r
	}, s)
}
