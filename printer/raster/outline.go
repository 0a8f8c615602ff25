package raster

import (
	"slices"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"chit/printer/document"
)

// outlineFont is a font of outlines that needs shaping.
type outlineFont struct {
	name    string
	em      int // dots a em beside cells of 24 dots
	scripts []language.Script
	// columns is true where every grapheme is widened to whole columns.
	columns bool
	face    *font.Face // nil until needed
}

// outlineFace is an outline font of a library.
type outlineFace struct {
	library *library
	font    *outlineFont
}

// open parses the font if it is not.
func (f outlineFace) open() *font.Face {
	if f.font.face == nil {
		parsed, err := font.ParseTTF(file(f.font.name))
		if err != nil {
			panic("raster: " + f.font.name + ": " + err.Error())
		}
		f.font.face = parsed
	}
	f.library.touch(f.font)
	return f.font.face
}

func (f outlineFace) has(grapheme []rune) bool {
	face := f.open()
	for _, r := range grapheme {
		if joins(r) {
			continue
		}
		if _, ok := face.NominalGlyph(r); !ok {
			return false
		}
	}
	return true
}

func (f outlineFace) lay(s *sheet, p *paragraph, r *run) (failed []int) {
	face := f.open()
	em := max(f.font.em*s.pitch.height/24, 1)
	input := shaping.Input{
		Text: p.text, RunStart: r.start, RunEnd: r.end, Direction: di.DirectionLTR,
		Face: face, Size: fixed.I(em), Script: scriptOf(p.text[r.start:r.end]),
	}
	if id, ok := language.ScriptToLang[input.Script]; ok {
		input.Language = id.Language()
	}
	if r.level%2 == 1 {
		input.Direction = di.DirectionRTL
	}
	r.smear = r.style.Bold
	out := f.library.shaper.ShapeNoExtents(input)
	for i := 0; i < len(out.Glyphs); {
		grapheme := p.start(out.Glyphs[i].TextIndex())
		j := i + 1
		for j < len(out.Glyphs) && p.start(out.Glyphs[j].TextIndex()) == grapheme {
			j++
		}
		if !f.place(s, r, em, grapheme, out.Glyphs[i:j]) &&
			slices.ContainsFunc(p.text[grapheme:p.end(grapheme)], inked) {
			failed = append(failed, grapheme)
		}
		i = j
	}
	r.reach(s.pitch)
	return failed
}

// place adds the glyphs of one grapheme and tells whether all are there and leave ink.
func (f outlineFace) place(s *sheet, r *run, em, grapheme int, glyphs []shaping.Glyph) bool {
	width, height := fixed.Int26_6(r.style.Width), fixed.Int26_6(r.style.Height)
	from, ink, whole, total := len(r.glyphs), false, true, fixed.Int26_6(0)
	for _, g := range glyphs {
		at, phase := phaseOf(r.width + total + g.XOffset*width)
		mark := f.stamp(g.GlyphID, em, r.style, phase)
		ink = ink || !mark.inkless()
		whole = whole && g.GlyphID != 0
		r.glyphs = append(r.glyphs, glyph{at: at, rise: (g.YOffset * height).Round(), stamp: mark})
		total += g.Advance * width
	}
	if column := fixed.I(s.grid.CellDots) * width; f.font.columns && total > 0 {
		// A hair over a column is a column.
		columns := max((total+column-1-column/16)/column, 1)
		for i := range r.glyphs[from:] {
			r.glyphs[from+i].at += ((columns*column - total) / 2).Round()
		}
		total = columns * column
	}
	r.advance(grapheme, total)
	return ink && whole
}

// stamp draws one glyph.
func (f outlineFace) stamp(gid font.GID, em int, style document.Style, phase uint8) *stamp {
	key := stampKey{
		f.font, uint32(gid), em, uint8(style.Width), uint8(style.Height), phase, false,
	}
	return f.library.stamp(key, func() *stamp {
		face := f.open()
		outline, ok := face.GlyphDataOutline(gid)
		if !ok {
			return &stamp{}
		}
		unit := float32(em) / float32(face.Upem())
		at := func(p opentype.SegmentPoint) point {
			return point{
				p.X*unit*float32(style.Width) + float32(phase)/phases,
				-p.Y * unit * float32(style.Height),
			}
		}
		path := make([]stroke, len(outline.Segments))
		for i, segment := range outline.Segments {
			path[i] = stroke{op: "MLQC"[segment.Op], args: [3]point{
				at(segment.Args[0]), at(segment.Args[1]), at(segment.Args[2]),
			}}
		}
		return fillOutline(path)
	})
}
