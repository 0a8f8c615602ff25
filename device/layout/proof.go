package layout

import (
	"fmt"
	"strings"

	"chit/printer/document"
)

// Proof is a document as text, as a cook would see it on paper of that many columns: wrapped, marks
// between ▌ and ▐, struck text between ~ and ~, codes in brackets, and before every line its
// magnification. It is for people and golden files: letters are taken to be as wide as [cells] of a
// printer, and text from right to left stands in the order in which it is read.
func Proof(d document.Document, columns int) string {
	p := proof{columns: columns}
	for _, block := range d.Blocks {
		p.block(block)
	}
	return p.out.String()
}

type proof struct {
	columns int
	out     strings.Builder
	// before and after stand around every line, such as the sides of a frame.
	before, after string
}

func (p *proof) line(size, text string) {
	if p.after != "" {
		text += strings.Repeat(" ", max(p.columns-cells(text), 0))
	}
	fmt.Fprintf(&p.out, "%3s|%s\n", size, strings.TrimRight(p.before+text+p.after, " "))
}

func (p *proof) block(block document.Block) {
	switch b := block.(type) {
	case document.Rule:
		char := b.Char
		if char == 0 {
			char = '-'
		}
		p.line("", strings.Repeat(string(char), p.columns))
	case document.Feed:
		for range b.Lines {
			p.line("", "")
		}
	case document.Pair:
		p.pair(b)
	case document.Line:
		p.paragraph(b)
	case document.Box:
		p.box(b)
	case document.QR:
		p.paragraph(document.Line{Align: document.Centre, Spans: []document.Span{
			{Text: "[" + b.Data + "]"},
		}})
		for _, line := range b.Beside {
			p.paragraph(line)
		}
	}
}

func (p *proof) box(b document.Box) {
	edge := "+" + strings.Repeat("-", p.columns-2) + "+"
	p.line("", edge)
	p.columns -= 4
	p.before, p.after = "| ", " |"
	for _, line := range b.Lines {
		p.paragraph(line)
	}
	p.columns += 4
	p.before, p.after = "", ""
	p.line("", edge)
}

func (p *proof) pair(b document.Pair) {
	left, right := spansCells(b.Left), spansCells(b.Right)
	if left+right+1 > p.columns {
		p.paragraph(document.Line{Spans: b.Left})
		p.paragraph(document.Line{Spans: b.Right, Align: document.Right})
		return
	}
	gap := strings.Repeat(" ", p.columns-left-right)
	p.line(sizes(append(b.Left[:len(b.Left):len(b.Left)], b.Right...)), show(b.Left)+gap+
		show(b.Right))
}

func spansCells(spans []document.Span) int {
	n := 0
	for _, s := range spans {
		n += cells(s.Text) * scale(s)
	}
	return n
}

func scale(s document.Span) int { return int(max(s.Style.Width, 1)) }

// sizes is the largest magnification of a line, "" for plain text.
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
		switch {
		case s.Style.Inverse:
			out.WriteString("▌" + s.Text + "▐")
		case s.Style.Strike:
			out.WriteString("~" + s.Text + "~")
		default:
			out.WriteString(s.Text)
		}
	}
	return out.String()
}

// row is one physical line while it fills.
type row struct {
	spans        []document.Span
	used, indent int
}

// paragraph wraps at spaces, and inside words that are longer than a line.
func (p *proof) paragraph(l document.Line) {
	r := row{used: l.Indent, indent: l.Indent}
	flush := func() {
		p.physical(l.Align, r)
		r = row{used: l.Hang, indent: l.Hang}
	}
	for _, span := range l.Spans {
		for _, piece := range pieces(span) {
			trimmed := cells(strings.TrimRight(piece.Text, " ")) * scale(piece)
			if r.used+trimmed > p.columns && r.used > r.indent {
				flush()
			}
			if r.used+cells(piece.Text)*scale(piece) > p.columns {
				piece.Text = strings.TrimRight(piece.Text, " ")
			}
			for r.used+cells(piece.Text)*scale(piece) > p.columns && !piece.NoBreak {
				head := prefix(piece.Text, (p.columns-r.used)/scale(piece))
				r.spans = append(r.spans, document.Span{Text: head, Style: piece.Style})
				r.used += cells(head) * scale(piece)
				if piece.Text = piece.Text[len(head):]; piece.Text == "" {
					break
				}
				flush()
			}
			if piece.Text != "" {
				r.spans = append(r.spans, piece)
				r.used += cells(piece.Text) * scale(piece)
			}
		}
	}
	flush()
}

func (p *proof) physical(align document.Align, r row) {
	pad := r.indent
	switch align {
	case document.Left:
	case document.Centre:
		pad = (p.columns - r.used) / 2
	case document.Right:
		pad = p.columns - r.used
	}
	p.line(sizes(r.spans), strings.Repeat(" ", max(pad, 0))+show(r.spans))
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
