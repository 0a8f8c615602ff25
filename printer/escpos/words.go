package escpos

import (
	"fmt"
	"slices"
	"strings"

	"chit/printer/document"
	"chit/printer/profile"
)

// strikeSigns stand around struck text where nothing is drawn.
const strikeOpen, strikeClose = "--- ", " ---"

// obstacle is why a text is not spelt.
type obstacle struct {
	place   string // of the first missing rune, else of the struck text
	missing []rune // no page has them; empty for struck text
}

// and joins two obstacles of one block; either may be nil.
func (o *obstacle) and(other *obstacle) *obstacle {
	switch {
	case o == nil:
		return other
	case other == nil:
		return o
	case len(o.missing) == 0 && len(other.missing) > 0:
		return &obstacle{other.place, other.missing}
	}
	return &obstacle{o.place, append(slices.Clone(o.missing), other.missing...)}
}

func (o obstacle) err() error {
	if len(o.missing) == 0 {
		return fmt.Errorf("%s: struck text: %w", o.place, ErrUnprintable)
	}
	return fmt.Errorf("%s: %s: %w", o.place, codePoints(o.missing), ErrUnprintable)
}

// cells turns spans into sanitised cells with the looks the printer has. The obstacle is not nil
// where they stand for something only a drawing says truly; then the cells hold its substitute.
func (c *composer) cells(spans []document.Span, place string) ([]cell, *obstacle) {
	n := 0
	for _, span := range spans {
		n += len(span.Text)
	}
	out := make([]cell, 0, n)
	var bad *obstacle
	for i, span := range spans {
		text := c.spell.sanitise(span.Text)
		if len(c.spell.missing) > 0 {
			bad = bad.and(&obstacle{fmt.Sprintf("%sspan %d", place, i), c.spell.missing})
			c.spell.missing = nil
		}
		if span.Style.Strike && text != "" {
			bad = bad.and(&obstacle{place: fmt.Sprintf("%sspan %d", place, i)})
			text = struck(text, i > 0 && spans[i-1].Style.Strike,
				i+1 < len(spans) && spans[i+1].Style.Strike)
		}
		style := c.look(span.Style)
		if span.Style.Inverse && !style.Inverse {
			text = starred(text)
		}
		keep := int32(0)
		if span.NoBreak {
			c.keeps++
			keep = c.keeps
		}
		for _, r := range text {
			out = append(out, cell{r, keep, style})
		}
	}
	return out, bad
}

// struck says in signs that a text is not wanted any more. Spans of one struck text share them.
func struck(text string, before, after bool) string {
	if !before {
		text = strikeOpen + text
	}
	if !after {
		text += strikeClose
	}
	return text
}

// starred is a mark on a printer without white on black: stars where its black would be.
func starred(text string) string {
	inner := strings.Trim(text, " ")
	if inner == "" {
		return strings.Repeat("*", len(text))
	}
	left := strings.Index(text, inner)
	return stars(left, false) + inner + stars(len(text)-left-len(inner), true)
}

// stars fill n columns and keep the one next to the text free where there is more than one.
func stars(n int, after bool) string {
	switch {
	case n < 2:
		return "*"
	case after:
		return " " + strings.Repeat("*", n-1)
	}
	return strings.Repeat("*", n-1) + " "
}

// look is the part of a style that the printer has. Needles print no white on black: a mark is red
// there where the ribbon is.
func (c *composer) look(style document.Style) document.Style {
	most := document.Size(sizeMax)
	if c.p.Impact {
		most = sizeMaxImpact
		style.Red = style.Red || style.Inverse
		style.Inverse = false
	}
	style.Width = min(max(style.Width, 1), most)
	style.Height = min(max(style.Height, 1), most)
	style.Red = style.Red && c.p.Red
	style.Strike = false
	return style
}

// draws tells whether this printer gets drawings.
func (c *composer) draws() bool { return c.Drawer != nil && c.p.Images != profile.ImagesNone }

// draw lets make draw what bad says cannot be spelt. No images and no error mean that the
// substitute in the cells prints.
func (c *composer) draw(bad obstacle, make func(Drawer) ([]Image, error)) ([]Image, error) {
	err := error(nil)
	if c.draws() {
		var images []Image
		if images, err = make(c.Drawer); err == nil {
			err = whole(images)
		}
		if err == nil {
			for _, image := range images {
				for _, r := range image.Missing {
					c.spell.note(r)
				}
			}
			return images, nil
		}
		err = fmt.Errorf("%w: %w", bad.err(), err)
	}
	switch {
	case c.Substitute || len(bad.missing) == 0: // Struck text has its signs.
		for _, r := range bad.missing {
			c.spell.note(r)
		}
		return nil, nil
	case err == nil:
		err = bad.err()
	}
	return nil, err
}

// turned is the obstacle of text that could be spelt, but not from the right edge.
func (c *composer) turned(bad *obstacle) *obstacle {
	if bad == nil && c.rightToLeft {
		return &obstacle{}
	}
	return bad
}

// whole checks what a drawer made.
func whole(images []Image) error {
	if len(images) == 0 {
		return fmt.Errorf("drawn as nothing")
	}
	for i, m := range images {
		if stride := (m.WidthDots + 7) / 8; m.WidthDots <= 0 || m.HeightDots <= 0 ||
			len(m.Rows) != stride*m.HeightDots {
			return fmt.Errorf("drawing %d: %d by %d dots in %d bytes", i, m.WidthDots, m.HeightDots,
				len(m.Rows))
		}
	}
	return nil
}

// reds tells whether all that spans say is red, so that their drawing can be.
func (c *composer) reds(spans []document.Span) bool {
	for _, span := range spans {
		if !span.Style.Red && strings.TrimSpace(span.Text) != "" {
			return false
		}
	}
	return c.p.Red
}

func drawable(line document.Line) document.Line {
	line.Spans = drawableSpans(line.Spans)
	return line
}

// drawableSpans are spans with text that is safe to draw.
func drawableSpans(spans []document.Span) []document.Span {
	out := make([]document.Span, len(spans))
	for i, span := range spans {
		span.Text = visible(span.Text)
		out[i] = span
	}
	return out
}
