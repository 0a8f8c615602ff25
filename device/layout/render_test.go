package layout

import (
	"fmt"
	"strings"
	"testing"

	"chit/printer/document"
)

// render shows a document as a cook would see it on paper of the given width: wrapped at columns,
// marks between ▌ and ▐, and the magnification of every line before it.
func render(t *testing.T, d document.Document, columns int) string {
	t.Helper()
	var out strings.Builder
	line := func(size string, text string, used int) {
		if used > columns {
			t.Errorf("a line takes %d of %d columns: %q", used, columns, text)
		}
		fmt.Fprintf(&out, "%3s|%s\n", size, strings.TrimRight(text, " "))
	}
	for _, block := range d.Blocks {
		switch b := block.(type) {
		case document.Rule:
			char := b.Char
			if char == 0 {
				char = '-'
			}
			line("", strings.Repeat(string(char), columns), columns)
		case document.Feed:
			for range b.Lines {
				line("", "", 0)
			}
		case document.Pair:
			left, right := spansCells(b.Left), spansCells(b.Right)
			if left+right+1 > columns {
				renderLine(line, document.Line{Spans: b.Left}, columns)
				renderLine(line, document.Line{Spans: b.Right, Align: document.Right}, columns)
				continue
			}
			gap := strings.Repeat(" ", columns-left-right)
			line(sizes(append(b.Left, b.Right...)), show(b.Left)+gap+show(b.Right), columns)
		case document.Line:
			renderLine(line, b, columns)
		}
	}
	return out.String()
}

func spansCells(spans []document.Span) int {
	n := 0
	for _, s := range spans {
		n += cells(s.Text) * scale(s)
	}
	return n
}

func scale(s document.Span) int { return int(max(s.Style.Width, 1)) }

func sizes(spans []document.Span) string {
	w, h := document.Size(1), document.Size(1)
	for _, s := range spans {
		w, h = max(w, s.Style.Width), max(h, s.Style.Height)
	}
	if w == 1 && h == 1 {
		return ""
	}
	return fmt.Sprintf("%dx%d", w, h)
}

func show(spans []document.Span) string {
	var out strings.Builder
	for _, s := range spans {
		if s.Style.Inverse {
			fmt.Fprintf(&out, "▌%s▐", s.Text)
		} else {
			out.WriteString(s.Text)
		}
	}
	return out.String()
}

// renderLine wraps at spaces, and inside words that are longer than a line.
func renderLine(line func(size, text string, used int), l document.Line, columns int) {
	var row []document.Span
	used, indent := l.Indent, l.Indent
	flush := func() {
		pad := indent
		switch l.Align {
		case document.Centre:
			pad = (columns - used) / 2
		case document.Right:
			pad = columns - used
		}
		line(sizes(row), strings.Repeat(" ", max(pad, 0))+show(row), used)
		row, used, indent = nil, l.Hang, l.Hang
	}
	for _, span := range l.Spans {
		for _, piece := range pieces(span) {
			width := cells(piece.Text) * scale(piece)
			if used+cells(strings.TrimRight(piece.Text, " "))*scale(piece) > columns && used > indent {
				flush()
			}
			if used+width > columns && strings.HasSuffix(piece.Text, " ") {
				piece.Text = strings.TrimRight(piece.Text, " ")
				width = cells(piece.Text) * scale(piece)
			}
			for used+width > columns && !piece.NoBreak && strings.TrimSpace(piece.Text) != "" {
				head := prefix(piece.Text, (columns-used)/scale(piece))
				if cells(head)*scale(piece)+used > columns {
					break
				}
				row, used = append(row, document.Span{Text: head, Style: piece.Style}),
					used+cells(head)*scale(piece)
				piece.Text = piece.Text[len(head):]
				width = cells(piece.Text) * scale(piece)
				if piece.Text != "" {
					flush()
				}
			}
			if piece.Text != "" {
				row, used = append(row, piece), used+width
			}
		}
	}
	flush()
}

// pieces cuts a span after its spaces.
func pieces(s document.Span) []document.Span {
	if s.NoBreak {
		return []document.Span{s}
	}
	var list []document.Span
	for _, word := range strings.SplitAfter(s.Text, " ") {
		list = append(list, document.Span{Text: word, Style: s.Style})
	}
	return list
}
