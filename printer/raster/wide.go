package raster

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"chit/printer/document"
)

// wideEm is the size of extra fonts in dots a em: a Chinese character fills two columns of 12.
const wideEm = 24

// wideFont is a font of letters that need no shaping, read one by one, since such a font with all
// Chinese characters would fill a small computer's memory.
type wideFont struct {
	file  io.ReaderAt
	faces map[string]*wideFace // by language, once asked for
}

// wideFace is one face of a wideFont. Its zero value has no letters.
type wideFace struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
	known  map[rune]sfnt.GlyphIndex
}

// glyphsMax bounds how many characters' places in a font are remembered.
const glyphsMax = 4096

// face returns the face whose name has the language as a word, else the first.
func (f *wideFont) face(language string) *wideFace {
	if face, ok := f.faces[language]; ok {
		return face
	}
	face := &wideFace{known: map[rune]sfnt.GlyphIndex{}}
	if f.faces == nil {
		f.faces = map[string]*wideFace{}
	}
	f.faces[language] = face
	collection, err := sfnt.ParseCollectionReaderAt(f.file)
	if err != nil {
		return face // Left out, as Fonts says.
	}
	for i := range collection.NumFonts() {
		font, err := collection.Font(i)
		if err != nil {
			continue
		}
		if face.font == nil {
			face.font = font
		}
		name, err := font.Name(&face.buffer, sfnt.NameIDFull)
		if err == nil && slices.Contains(strings.Fields(name), language) {
			face.font = font
			break
		}
	}
	return face
}

// faceFor returns the face for a paragraph's language.
func (f *wideFont) faceFor(p *paragraph) face { return wideChoice{f, p} }

// wideChoice opens a font when it is asked for a character.
type wideChoice struct {
	font      *wideFont
	paragraph *paragraph
}

// The languages of Chinese characters, as the names of Noto's faces have them.
const (
	chinese  = "SC"
	japanese = "JP"
	korean   = "KR"
)

func (c wideChoice) face() *wideFace { return c.font.face(c.paragraph.wideLanguage()) }

// wideLanguage guesses which language's forms a paragraph's Chinese characters have.
func (p *paragraph) wideLanguage() string {
	language := chinese
	for _, r := range p.text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return japanese
		case unicode.Is(unicode.Hangul, r):
			language = korean
		}
	}
	return language
}

func (c wideChoice) has(grapheme []rune) bool {
	face := c.face()
	n := 0
	for _, r := range grapheme {
		if joins(r) {
			continue
		}
		if n++; n > 1 || face.glyph(r) == 0 {
			return false
		}
	}
	return true
}

// glyph is r's place in the font, 0 where it has none or cannot be read.
func (f *wideFace) glyph(r rune) sfnt.GlyphIndex {
	if f.font == nil {
		return 0
	}
	if i, ok := f.known[r]; ok {
		return i
	}
	i, err := f.font.GlyphIndex(&f.buffer, r)
	if err != nil {
		return 0
	}
	if len(f.known) >= glyphsMax {
		clear(f.known)
	}
	f.known[r] = i
	return i
}

func (c wideChoice) lay(s *sheet, p *paragraph, r *run) (failed []int) {
	face := c.face()
	em := wideEm * s.pitch.height / 24
	r.smear = r.style.Bold
	r.each(p, func(start, end int) {
		for _, letter := range p.text[start:end] {
			if joins(letter) {
				continue
			}
			i := face.glyph(letter)
			mark := s.library.stamp(stampKey{
				face, uint32(i), em, uint8(r.style.Width), uint8(r.style.Height), 0, false,
			}, func() *stamp { return face.draw(i, em, r.style) })
			if inked(letter) && mark.inkless() {
				failed = append(failed, start)
			}
			column := s.grid.CellDots
			advance := em
			if a, err := face.font.GlyphAdvance(&face.buffer, i, fixed.I(em), 0); err == nil {
				advance = a.Round()
			}
			columns := max((advance+column-2)/column, 1)
			g := glyph{at: (columns*column - advance) / 2 * int(r.style.Width), stamp: mark}
			r.add(g, start, fixed.I(columns*column*int(r.style.Width)))
		}
	})
	r.reach(s.pitch)
	return failed
}

// draw draws a glyph; one that cannot be read has no ink.
func (f *wideFace) draw(i sfnt.GlyphIndex, em int, style document.Style) *stamp {
	units := fixed.Int26_6(f.font.UnitsPerEm())
	// Loaded at its own size, a coordinate is a 64th of a unit.
	segments, err := f.font.LoadGlyph(&f.buffer, i, units<<6, nil)
	if err != nil {
		return &stamp{}
	}
	unit := float32(em) / float32(units) / 64
	at := func(p fixed.Point26_6) point {
		return point{
			float32(p.X) * unit * float32(style.Width),
			float32(p.Y) * unit * float32(style.Height),
		}
	}
	path := make([]stroke, len(segments))
	for i, segment := range segments {
		path[i] = stroke{op: "MLQC"[segment.Op], args: [3]point{
			at(segment.Args[0]), at(segment.Args[1]), at(segment.Args[2]),
		}}
	}
	return fillOutline(path)
}
