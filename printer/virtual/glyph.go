package virtual

import (
	"fmt"
	"image"
	"image/color"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// monoWidth is the width of every character of Go Mono, in ems: 20 pixels fill the 12 dots of font
// A, and 15 the 9 of font B.
const monoWidth = 0.6

// likeness is what a sign that Go Mono lacks is drawn as.
var likeness = map[rune]rune{'╭': '┌', '╮': '┐', '╰': '└', '╯': '┘'}

// glyphKey is one character in one of the four faces.
type glyphKey struct {
	r             rune
	width, height int // of the cell
	bold          bool
}

// mask is a character's dots in its cell, true where the head burns.
type mask struct {
	width, height int
	dots          []bool
}

func (m mask) at(x, y int) bool { return m.dots[y*m.width+x] }

// turned is the mask rotated clockwise, as ESC V 1 prints it.
func (m mask) turned() mask {
	out := mask{m.height, m.width, make([]bool, len(m.dots))}
	for y := range out.height {
		for x := range out.width {
			out.dots[y*out.width+x] = m.at(y, m.height-1-x)
		}
	}
	return out
}

// fonts are the parsed outlines; parsing them is the same at every call and costs a millisecond.
var fonts = sync.OnceValue(func() [2]*opentype.Font {
	var out [2]*opentype.Font
	for i, ttf := range [][]byte{gomono.TTF, gomonobold.TTF} {
		parsed, err := opentype.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("virtual: the font in this program cannot be read: %v", err))
		}
		out[i] = parsed
	}
	return out
})

// glyphs draws characters into cells and keeps them for one picture.
type glyphs struct {
	faces map[glyphKey]font.Face // by width and bold; the rest is zero
	drawn map[glyphKey]mask
}

func newGlyphs() *glyphs {
	return &glyphs{faces: map[glyphKey]font.Face{}, drawn: map[glyphKey]mask{}}
}

// face is Go Mono in the size whose characters are width dots wide.
func (g *glyphs) face(width int, bold bool) font.Face {
	key := glyphKey{width: width, bold: bold}
	if face, ok := g.faces[key]; ok {
		return face
	}
	size, outline := float64(width)/monoWidth, fonts()[0]
	if bold {
		outline = fonts()[1]
	}
	face, err := opentype.NewFace(outline, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(fmt.Sprintf("virtual: no face of %v pixels: %v", size, err))
	}
	g.faces[key] = face
	return face
}

// glyph is one character's dots; cells is 2 for what is as wide as two.
func (g *glyphs) glyph(r rune, s Style, cells int) mask {
	width, height := s.column()*cells, cellHeightA
	if s.FontB {
		height = cellHeightB
	}
	key := glyphKey{r, width, height, s.Bold}
	if m, ok := g.drawn[key]; ok {
		return m
	}
	m := mask{width, height, make([]bool, width*height)}
	if like, ok := likeness[r]; ok {
		r = like
	}
	face := g.face(s.column(), s.Bold)
	if _, _, ok := face.GlyphBounds(r); ok && r != '\uFFFD' && r != '\u3013' {
		m.draw(face, r)
	} else {
		m.frame()
	}
	g.drawn[key] = m
	return m
}

// draw sets the outline on the base line, 4/5 down the cell, and keeps what is about half covered.
func (m *mask) draw(face font.Face, r rune) {
	canvas := image.NewAlpha(image.Rect(0, 0, m.width, m.height))
	drawer := font.Drawer{Dst: canvas, Src: image.NewUniform(color.Opaque), Face: face,
		Dot: fixed.P(0, m.height*4/5)}
	drawer.DrawString(string(r))
	for i, a := range canvas.Pix {
		m.dots[i] = a >= 0x70
	}
}

// frame stands for a character that is in no font here.
func (m *mask) frame() {
	for y := 3; y < m.height-3; y++ {
		for x := 1; x < m.width-1; x++ {
			edge := y == 3 || y == m.height-4 || x == 1 || x == m.width-2
			m.dots[y*m.width+x] = edge
		}
	}
}
