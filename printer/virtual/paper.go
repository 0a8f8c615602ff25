package virtual

import "time"

// itemsMax bounds the runs, images and boxes on one sheet; marksMax its marks.
const itemsMax, marksMax = 20_000, 1000

// paper is the piece that hangs in the machine. Its top is the edge the last cut made, which stands
// at the blade; the print head is conf.BladeDots below it.
type paper struct {
	sheet Sheet
	head  int // dots from the top of the sheet to the print head
	blade int
	items int
}

func newPaper(number int, start int64, c Config) paper {
	return paper{
		sheet: Sheet{Number: number, Start: start, WidthDots: c.WidthDots, CellDots: c.CellDots,
			Needles: c.Impact},
		head:  c.BladeDots,
		blade: c.BladeDots,
	}
}

// print puts the ink of a step on the paper and moves the paper on.
func (p *paper) print(s step) {
	if line := s.prints.line; line != nil {
		line.Y += p.head
		p.sheet.Lines = append(p.sheet.Lines, *line)
		p.items += len(line.Runs)
	}
	for _, image := range s.prints.images {
		image.Y += p.head
		p.image(image)
	}
	if box := s.prints.box; box != nil {
		box.Y += p.head
		p.sheet.Boxes = append(p.sheet.Boxes, *box)
		p.items++
	}
	p.head += s.dots
}

// image adds dots; a band that continues the one above becomes part of it.
func (p *paper) image(next Image) {
	if n := len(p.sheet.Images); n > 0 {
		last := &p.sheet.Images[n-1]
		if last.Offset == next.Offset && last.X == next.X && last.Width == next.Width &&
			last.Y+last.Height*last.ScaleY == next.Y {
			last.Bits = append(last.Bits, next.Bits...)
			last.Height += next.Height
			return
		}
	}
	next.Bits = append([]byte(nil), next.Bits...)
	p.sheet.Images = append(p.sheet.Images, next)
	p.items++
}

func (p *paper) mark(m Mark) {
	if len(p.sheet.Marks) < marksMax {
		p.sheet.Marks = append(p.sheet.Marks, m)
	}
}

func (p *paper) tooLong() bool {
	return p.head-p.blade > SheetDotsMax || p.items > itemsMax
}

// separate cuts at the blade. What stands between blade and head stays in the machine and will be
// the top of the next sheet; through is true where that is print. A done sheet without height means
// that no paper had come past the blade.
func (p *paper) separate(how Cut, at time.Time, offset int64) (
	done Sheet, next paper, through bool,
) {
	edge := p.head - p.blade
	if edge <= 0 {
		return Sheet{}, *p, false
	}
	done = p.sheet
	done.HeightDots, done.End, done.Cut, done.CutAt = edge, offset, how, at
	next = paper{head: p.blade, blade: p.blade,
		sheet: Sheet{Number: done.Number + 1, Start: offset, WidthDots: done.WidthDots,
			CellDots: done.CellDots, Needles: done.Needles}}
	through = p.divide(&done, &next.sheet, edge)
	next.items = len(next.sheet.Lines) + len(next.sheet.Images) + len(next.sheet.Boxes)
	return done, next, through
}

// divide shares out what is on the paper between the pieces above and below the edge, and tells
// whether the edge goes through anything or leaves print below it.
func (p *paper) divide(above, below *Sheet, edge int) bool {
	through := false
	above.Lines, above.Images, above.Boxes = nil, nil, nil
	for _, line := range p.sheet.Lines {
		if line.Y < edge {
			above.Lines = append(above.Lines, line)
		}
		if line.Y+line.Height > edge {
			line.Y -= edge
			below.Lines = append(below.Lines, line)
			through = true
		}
	}
	for _, image := range p.sheet.Images {
		if image.Y < edge {
			above.Images = append(above.Images, image)
		}
		if image.Y+image.Height*image.ScaleY > edge {
			image.Y -= edge
			image.Bits = append([]byte(nil), image.Bits...)
			below.Images = append(below.Images, image)
			through = true
		}
	}
	for _, box := range p.sheet.Boxes {
		if box.Y < edge {
			above.Boxes = append(above.Boxes, box)
		}
		if box.Y+box.Height > edge {
			box.Y -= edge
			box.Captions = append([]Line(nil), box.Captions...)
			below.Boxes = append(below.Boxes, box)
			through = true
		}
	}
	return through
}

// snapshot is a copy of the paper as it hangs, down to the head.
func (p *paper) snapshot(offset int64) Sheet {
	s := p.sheet
	s.HeightDots, s.End = p.head, offset
	s.Lines = append([]Line(nil), s.Lines...)
	s.Images = append([]Image(nil), s.Images...)
	for i := range s.Images {
		s.Images[i].Bits = append([]byte(nil), s.Images[i].Bits...)
	}
	s.Boxes = append([]Box(nil), s.Boxes...)
	s.Marks = append([]Mark(nil), s.Marks...)
	return s
}
