package escpos

// planStep is the best plan that ends with one character on one page.
type planStep struct {
	page     int16
	b        byte
	switches int
	from     int // index of the step before it, for the character before
}

// plan returns for each rune of all lines of a document the spelling to use, so that they have as
// few page switches as possible when the first starts on page current and each goes on where the
// one before it ended. Of equal plans the one with the pages that
// come earlier in the profile is taken, which most printers have. The runes are ones the speller
// can spell; ASCII keeps the page as it is.
func (s *speller) plan(line []cell, current int16) []spelling {
	out := make([]spelling, len(line))
	var at []int // the characters that need a page
	for i, c := range line {
		if c.r < 0x80 {
			out[i] = spelling{page: -1, b: byte(c.r)}
			continue
		}
		at = append(at, i)
	}
	before := []planStep{{page: current}}
	steps := make([][]planStep, len(at))
	for k, i := range at {
		for _, way := range s.spellings(line[i].r) {
			steps[k] = append(steps[k], bestStep(before, way))
		}
		before = steps[k]
	}
	if len(at) == 0 {
		return out
	}
	best := 0
	for j, step := range before {
		if step.switches < before[best].switches {
			best = j
		}
	}
	for k := len(at) - 1; k >= 0; k-- {
		step := steps[k][best]
		out[at[k]] = spelling{step.page, step.b}
		best = step.from
	}
	return out
}

// bestStep extends the cheapest of the plans before by one character spelt in this way.
func bestStep(before []planStep, way spelling) planStep {
	var best planStep
	for j, b := range before {
		switches := b.switches
		if b.page != way.page {
			switches++
		}
		// Steps stand in the order of pages, so the first of equal ones has the earlier page.
		if j == 0 || switches < best.switches {
			best = planStep{way.page, way.b, switches, j}
		}
	}
	return best
}
