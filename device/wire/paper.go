package wire

// A ticket is at most 1 m of paper, more is refused at the door (DESIGN section 5). How long it
// will be only its device knows, which has the printer's columns and code pages. What the door can
// say is how short no printer can make it.
const (
	// LinesMax is how many lines fit on 1 m: 8 dots a millimetre, 34 dots a line (Epson, ESC 2).
	LinesMax = 8000 / 34

	// columnsMost is more than any printer of ours has on a line.
	columnsMost = 64
)

// LinesMin is the fewest lines that the items and notes of c take, in the plainest layout, on the
// widest paper. A ticket of more than [LinesMax] is surely too long; one of fewer may be, and then
// its device refuses it.
func (c Content) LinesMin() int {
	lines := 0
	for _, item := range c.Items {
		lines += linesMin(item.Name)
		for _, modifier := range item.Modifiers {
			lines += linesMin(modifier)
		}
		if len(item.Allergens) > 0 {
			lines++
		}
		if item.Note != "" {
			lines += linesMin(item.Note)
		}
	}
	if c.Note != "" {
		lines += linesMin(c.Note)
	}
	return lines
}

// linesMin counts visible ASCII alone: everything else may be folded, counted or left out.
func linesMin(text string) int {
	visible := 0
	for i := range len(text) {
		if text[i] > ' ' && text[i] < 0x7f {
			visible++
		}
	}
	return max(1, (visible+columnsMost-1)/columnsMost)
}
