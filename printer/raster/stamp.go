package raster

import (
	"image"
	"image/draw"
	"math"

	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// stamp is one glyph drawn: how much of each dot it covers, 0 to 255.
type stamp struct {
	// left and top are where its first dot stands, right of and above the pen.
	left, top     int
	width, height int
	cover         []byte
}

// stampKey names a stamp.
type stampKey struct {
	font          any
	glyph         uint32
	em            int // dots a em, or dots a cell
	width, height uint8
	phase         uint8
	bold          bool
}

// phases is how many places within a dot a glyph is drawn at, so that joined letters meet.
const phases = 4

// stamp returns what key names, and draws it if it was not drawn lately.
func (l *library) stamp(key stampKey, draw func() *stamp) *stamp {
	if s, ok := l.stamps[key]; ok {
		return s
	}
	s := draw()
	size := len(s.cover) + 64
	if l.stampBytes+size > stampBytesMax {
		clear(l.stamps)
		l.stampBytes = 0
	}
	l.stamps[key] = s
	l.stampBytes += size
	return s
}

// point is a point of an outline in dots, y growing downwards.
type point struct{ x, y float32 }

// stroke is one piece of an outline: 'M' moves, 'L', 'Q' and 'C' draw.
type stroke struct {
	op   byte
	args [3]point
}

func (s stroke) points() []point {
	switch s.op {
	case 'Q':
		return s.args[:2]
	case 'C':
		return s.args[:3]
	}
	return s.args[:1]
}

// fillOutline draws an outline. Its extent is that of its points, curves' control points counted.
func fillOutline(path []stroke) *stamp {
	if len(path) == 0 {
		return &stamp{}
	}
	low, high := path[0].args[0], path[0].args[0]
	for _, s := range path {
		for _, p := range s.points() {
			low.x, low.y = min(low.x, p.x), min(low.y, p.y)
			high.x, high.y = max(high.x, p.x), max(high.y, p.y)
		}
	}
	left, top := int(math.Floor(float64(low.x))), int(math.Floor(float64(low.y)))
	width := int(math.Ceil(float64(high.x))) - left
	height := int(math.Ceil(float64(high.y))) - top
	if width <= 0 || height <= 0 {
		return &stamp{}
	}
	z := vector.NewRasterizer(width, height)
	at := func(p point) (x, y float32) { return p.x - float32(left), p.y - float32(top) }
	for _, s := range path {
		ax, ay := at(s.args[0])
		bx, by := at(s.args[1])
		cx, cy := at(s.args[2])
		switch s.op {
		case 'M':
			z.ClosePath()
			z.MoveTo(ax, ay)
		case 'L':
			z.LineTo(ax, ay)
		case 'Q':
			z.QuadTo(ax, ay, bx, by)
		case 'C':
			z.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	z.ClosePath()
	out := image.NewAlpha(image.Rect(0, 0, width, height))
	z.DrawOp = draw.Src
	z.Draw(out, out.Bounds(), image.Opaque, image.Point{})
	drawn := &stamp{left, -top, width, height, out.Pix}
	drawn.keepInk()
	return drawn
}

// inkless tells whether a stamp leaves no dot on the paper.
func (s *stamp) inkless() bool {
	for _, c := range s.cover {
		if c >= threshold {
			return false
		}
	}
	return true
}

// keepInk blackens the darkest dots of a stamp that would leave none: a point made smaller than a
// dot.
func (s *stamp) keepInk() {
	darkest := byte(0)
	for _, c := range s.cover {
		darkest = max(darkest, c)
	}
	if darkest == 0 || darkest >= threshold {
		return
	}
	for i, c := range s.cover {
		if c == darkest {
			s.cover[i] = 255
		}
	}
}

// phaseOf splits a place into whole dots and one of the phases within a dot.
func phaseOf(x fixed.Int26_6) (dots int, phase uint8) {
	x += 64 / phases / 2
	return x.Floor(), uint8(int(x&63) * phases / 64)
}
