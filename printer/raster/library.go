package raster

import (
	"embed"
	"io"
	"slices"
	"unicode"

	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"

	"chit/printer/escpos"
)

// files are the fonts of the program. fonts/README.md says where each is from; all are under the
// SIL Open Font License.
//
//go:embed fonts/*.ttf fonts/*.otf fonts/*.cells
var files embed.FS

// file opens one of the fonts of the program without copying it.
func file(name string) embedded {
	f, err := files.Open("fonts/" + name)
	if err != nil {
		panic("raster: " + err.Error())
	}
	return f.(embedded)
}

// embedded is what an embedded file can do.
type embedded interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// pitch is a size of fixed cells in dots.
type pitch struct {
	width, height, ascent int
	file                  string
}

// pitches are the sizes there are, from large to small. The first is the printers' font A.
var pitches = []pitch{
	{12, 24, 19, "cell24.cells"},
	{10, 20, 16, "cell20.cells"},
	{8, 16, 12, "cell16.cells"},
	{6, 12, 10, "cell12.cells"},
}

// pitchFor returns the largest cells that a grid has room for.
func pitchFor(grid escpos.Grid) (pitch, bool) {
	for _, p := range pitches {
		if p.width <= grid.CellDots && p.height <= grid.LineDots {
			return p, true
		}
	}
	return pitch{}, false
}

// face is one font in whatever form it comes.
type face interface {
	// has tells whether the font has a glyph for each of these runes, joiners aside.
	has(grapheme []rune) bool
	// lay fills in r's glyphs, from left to right, and its advance. It returns the runes at which
	// graphemes start that came out without ink.
	lay(s *sheet, p *paragraph, r *run) (failed []int)
}

// library has all fonts and what was drawn with them lately.
type library struct {
	outlines   []*outlineFont
	emoji      *outlineFont
	letters    *outlineFont // Latin, Greek, Cyrillic with any marks
	lastResort *pixelFace
	fixed      map[pitch]*fixedFace
	extra      []*wideFont
	han        *wideFont // what Chinese, Japanese and Korean mostly need
	box        *boxFace
	shaper     shaping.HarfbuzzShaper
	parsed     []*outlineFont // from the one used last
	stamps     map[stampKey]*stamp
	stampBytes int
	scratch    []byte // where a run is put together
}

const (
	// parsedMax bounds the outline fonts that stay parsed, of up to 3 MB each.
	parsedMax = 4
	// stampBytesMax bounds the drawn glyphs that stay in memory.
	stampBytesMax = 1 << 20
)

// outlineFiles are the fonts that need shaping, with the size that makes their letters as tall as
// those of the 24 dot cells, in dots a em.
var outlineFiles = []outlineFont{
	{name: "arabic.ttf", em: 26, scripts: []language.Script{language.Arabic}},
	{name: "hebrew.ttf", em: 24, scripts: []language.Script{language.Hebrew}},
	{name: "thai.ttf", em: 26, scripts: []language.Script{language.Thai}},
	{name: "devanagari.ttf", em: 26, scripts: []language.Script{language.Devanagari}},
	{name: "bengali.ttf", em: 26, scripts: []language.Script{language.Bengali}},
	{name: "gurmukhi.ttf", em: 26, scripts: []language.Script{language.Gurmukhi}},
	{name: "gujarati.ttf", em: 26, scripts: []language.Script{language.Gujarati}},
	{name: "tamil.ttf", em: 24, scripts: []language.Script{language.Tamil}},
	{name: "telugu.ttf", em: 24, scripts: []language.Script{language.Telugu}},
	{name: "kannada.ttf", em: 24, scripts: []language.Script{language.Kannada}},
	{name: "malayalam.ttf", em: 24, scripts: []language.Script{language.Malayalam}},
	{name: "sinhala.ttf", em: 24, scripts: []language.Script{language.Sinhala}},
	{name: "khmer.ttf", em: 26, scripts: []language.Script{language.Khmer}},
	{name: "lao.ttf", em: 26, scripts: []language.Script{language.Lao}},
	{name: "myanmar.ttf", em: 26, scripts: []language.Script{language.Myanmar}},
	{name: "armenian.ttf", em: 22, scripts: []language.Script{language.Armenian}},
	{name: "georgian.ttf", em: 22, scripts: []language.Script{language.Georgian}},
	{name: "ethiopic.ttf", em: 24, scripts: []language.Script{language.Ethiopic}},
}

func newLibrary(extra []io.ReaderAt) *library {
	l := &library{
		emoji:      &outlineFont{name: "emoji.ttf", em: 24, columns: true},
		letters:    &outlineFont{name: "mono.ttf", em: 20, columns: true},
		han:        &wideFont{file: file("han.otf")},
		lastResort: &pixelFace{},
		fixed:      map[pitch]*fixedFace{},
		box:        &boxFace{},
		stamps:     map[stampKey]*stamp{},
	}
	for _, f := range outlineFiles {
		f := f
		l.outlines = append(l.outlines, &f)
	}
	for _, f := range extra {
		l.extra = append(l.extra, &wideFont{file: f})
	}
	return l
}

// cells returns the fixed letters of one pitch.
func (l *library) cells(p pitch) *fixedFace {
	f, ok := l.fixed[p]
	if !ok {
		f = &fixedFace{pitch: p}
		l.fixed[p] = f
	}
	return f
}

// candidates lists the fonts to ask for a grapheme, the best first; the last one takes everything.
func (s *sheet) candidates(p *paragraph, grapheme []rune) []face {
	l := s.library
	var out []face
	if pictured(grapheme) {
		out = append(out, l.picture())
	}
	out = append(out, s.library.cells(s.pitch))
	script := scriptOf(grapheme)
	for _, f := range l.outlines {
		if slices.Contains(f.scripts, script) {
			out = append(out, l.outline(f))
		}
	}
	switch script {
	case language.Latin, language.Greek, language.Cyrillic:
		out = append(out, l.outline(l.letters))
	case language.Common, language.Inherited, language.Unknown:
		if symbol(grapheme[0]) {
			out = append(out, l.picture())
		}
		out = append(out, l.outline(l.letters))
	}
	for _, f := range l.extra {
		out = append(out, f.faceFor(p))
	}
	return append(out, l.han.faceFor(p), l.lastResort, l.box)
}

func (l *library) picture() face { return l.outline(l.emoji) }

// outline notes that a font is about to be used.
func (l *library) outline(f *outlineFont) face { return outlineFace{l, f} }

// touch notes that a font was used.
func (l *library) touch(f *outlineFont) {
	if i := slices.Index(l.parsed, f); i >= 0 {
		l.parsed = slices.Delete(l.parsed, i, i+1)
	}
	l.parsed = slices.Insert(l.parsed, 0, f)
}

// tidy keeps the fonts used last parsed and lets go of others.
func (l *library) tidy() {
	if len(l.parsed) <= parsedMax {
		return
	}
	for _, f := range l.parsed[parsedMax:] {
		f.face = nil
	}
	l.parsed = slices.Clip(l.parsed[:parsedMax])
	l.shaper = shaping.HarfbuzzShaper{} // It holds on to fonts too.
}

// scriptOf is the script of a grapheme's first rune that has one of its own.
func scriptOf(grapheme []rune) language.Script {
	for _, r := range grapheme {
		if script := language.LookupScript(r); script.Strong() {
			return script
		}
	}
	return language.Common
}

// symbol tells whether there may be an emoji for r: the signs of Unicode that look like something.
func symbol(r rune) bool {
	return r >= 0x1F000 || r >= 0x2010 && r < 0x2C00 || r == 0x3030 || r == 0x303D || r == 0x3297 ||
		r == 0x3299
}

// pictured tells whether a grapheme wants to be seen as emoji though it starts with a sign that has
// an older form: it has the emoji selector, a skin tone, a joiner between signs, a key's cap, or is
// a flag.
func pictured(grapheme []rune) bool {
	if len(grapheme) < 2 || unicode.IsLetter(grapheme[0]) || unicode.IsMark(grapheme[0]) {
		return false
	}
	return slices.ContainsFunc(grapheme[1:], func(r rune) bool {
		return r == 0xFE0F || r == 0x20E3 || r == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF ||
			r >= 0x1F1E6 && r <= 0x1F1FF || r >= 0xE0020 && r <= 0xE007F
	})
}
