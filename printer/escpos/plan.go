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
// one before it ended. Of equal plans the one with the pages that come earlier in the profile is
// taken, which most printers have. The runes are ones the speller can spell; ASCII keeps the page
// as it is.
//
// The same rune again, with nothing but ASCII between, stays on its page in some best plan, so that
// the edge of a frame is decided as one sign.
func (s *speller) plan(line []cell, current int16) []spelling {
	var signs []rune // the characters that need a page
	for _, c := range line {
		if n := len(signs); c.r >= 0x80 && (n == 0 || signs[n-1] != c.r) {
			signs = append(signs, c.r)
		}
	}
	chosen := s.choose(signs, current)
	out := make([]spelling, len(line))
	sign := -1
	for i, c := range line {
		if c.r < 0x80 {
			out[i] = spelling{page: -1, b: byte(c.r)}
			continue
		}
		if sign < 0 || signs[sign] != c.r {
			sign++
		}
		out[i] = chosen[sign]
	}
	return out
}

// choose finds the plan for the signs alone.
func (s *speller) choose(signs []rune, current int16) []spelling {
	steps := make([]planStep, 1, 4*len(signs)+1)
	steps[0] = planStep{page: current}
	ends := make([]int, 1, len(signs)+1) // of the steps of each sign, after those of the start
	ends[0] = 1
	from := 0
	for _, r := range signs {
		before := steps[from:]
		from = len(steps)
		for _, way := range s.spellings(r) {
			steps = append(steps, bestStep(before, way))
		}
		ends = append(ends, len(steps))
	}
	best := 0
	last := steps[from:]
	for j, step := range last {
		if step.switches < last[best].switches {
			best = j
		}
	}
	chosen := make([]spelling, len(signs))
	for k := len(signs) - 1; k >= 0; k-- {
		step := steps[ends[k]+best]
		chosen[k] = spelling{step.page, step.b}
		best = step.from
	}
	return chosen
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
