package escpos

import (
	"slices"

	"chit/printer/document"
)

// cell is one printable character with its look. Its width is style.Width columns of plain font A.
type cell struct {
	r     rune
	keep  int32 // number of the NoBreak span it belongs to, 0 for none
	style document.Style
}

func (c cell) columns() int { return int(c.style.Width) }

func width(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.columns()
	}
	return n
}

// atom is what the wrapper moves as one: a NoBreak span, a run without spaces, or one space.
type atom struct {
	cells []cell
	space bool
}

// atoms cuts cells where wrapping may think of a break.
func atoms(cells []cell) []atom {
	out := make([]atom, 0, len(cells)/3+1)
	for i := 0; i < len(cells); {
		if cells[i].r == ' ' && cells[i].keep == 0 {
			out = append(out, atom{cells[i : i+1], true})
			i++
			continue
		}
		j := i + 1
		for j < len(cells) && cells[j].keep == cells[i].keep &&
			(cells[j].keep != 0 || cells[j].r != ' ') {
			j++
		}
		out = append(out, atom{cells[i:j], false})
		i = j
	}
	return out
}

// release returns cells in which NoBreak spans of more than limit columns may be broken.
func release(cells []cell, limit int) []cell {
	out := slices.Clone(cells)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && out[j].keep == out[i].keep {
			j++
		}
		if width(out[i:j]) > limit {
			for k := i; k < j; k++ {
				out[k].keep = 0
			}
		}
		i = j
	}
	return out
}

// wrapper fills physical lines.
type wrapper struct {
	lines      [][]cell
	line       []cell
	used       int
	limit      int    // columns of the present line
	next       int    // columns of all lines after the first
	spaces     []cell // seen, and printed only if a word follows on the same line
	spaceWidth int
}

// wrap breaks one paragraph into physical lines of first and then next columns; there is at least
// one.
//
// Lines break at spaces outside NoBreak spans, and the spaces at a break go. A NoBreak span that is
// longer than a line is as any other. A word that does not fit is moved to the next line. One that
// fits on no line is broken, between spans first so that NoBreak spans stay whole, and else between
// characters: after sanitise each rune is a grapheme of one cell. Both widths must hold the widest
// cell.
func wrap(cells []cell, first, next int) [][]cell {
	if width(cells) <= first {
		return [][]cell{trimmed(cells)}
	}
	w := wrapper{limit: first, next: next}
	all := atoms(release(cells, next))
	for i := 0; i < len(all); {
		if all[i].space {
			w.spaces = append(w.spaces, all[i].cells...)
			w.spaceWidth += width(all[i].cells)
			i++
			continue
		}
		j, columns := i, 0
		for j < len(all) && !all[j].space {
			columns += width(all[j].cells)
			j++
		}
		w.word(all[i:j], columns)
		i = j
	}
	if w.used+w.spaceWidth <= w.limit {
		w.put(trimmed(w.spaces))
	}
	return append(w.lines, w.line)
}

// trimmed leaves out the spaces at the end, which have ink only where they are part of a bar.
func trimmed(cells []cell) []cell {
	n := len(cells)
	for n > 0 && cells[n-1].r == ' ' && cells[n-1].keep == 0 {
		n--
	}
	if n < len(cells) && inked(cells[len(cells)-1].style) {
		return cells
	}
	return cells[:n]
}

// inked tells whether a space of that style is seen.
func inked(style document.Style) bool { return style.Inverse || style.Underline }

// word places adjacent atoms with no space between them.
func (w *wrapper) word(word []atom, columns int) {
	switch {
	case w.used+w.spaceWidth+columns <= w.limit:
		w.put(w.spaces)
		w.dropSpaces()
	case w.used == 0 && columns <= w.limit:
		w.dropSpaces()
	case w.used > 0 || columns <= w.next:
		w.newLine()
	default:
		w.dropSpaces()
	}
	whole := w.used+columns <= w.limit
	for _, a := range word {
		switch n := width(a.cells); {
		case whole || w.used+n <= w.limit:
			w.put(a.cells)
		case a.cells[0].keep != 0: // release saw to it that it fits.
			w.newLine()
			w.put(a.cells)
		default:
			w.split(a.cells)
		}
	}
}

// split places cells one by one.
func (w *wrapper) split(cells []cell) {
	for _, c := range cells {
		if w.used+c.columns() > w.limit {
			w.newLine()
		}
		w.put([]cell{c})
	}
}

func (w *wrapper) put(cells []cell) {
	if w.line == nil {
		w.line = make([]cell, 0, max(w.limit, len(cells)))
	}
	w.line = append(w.line, cells...)
	w.used += width(cells)
}

func (w *wrapper) dropSpaces() { w.spaces, w.spaceWidth = nil, 0 }

func (w *wrapper) newLine() {
	w.dropSpaces()
	w.lines = append(w.lines, w.line)
	w.line, w.used, w.limit = nil, 0, w.next
}
