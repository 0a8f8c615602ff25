package virtual

import (
	"fmt"
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
			rows = append(rows, row{line.Y, line.Y + line.Height, line.text(styled)})
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

// text sets the runs into columns of font A.
func (l Line) text(styled bool) string {
	var b strings.Builder
	end := 0
	for _, run := range l.Runs {
		if columns := (run.X - end) / cellWidthA; columns > 0 {
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
