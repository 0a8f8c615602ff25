package raster

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// leftward tells whether r is a letter of a script that runs from right to left.
func leftward(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac,
		unicode.Thaana, unicode.Nko, unicode.Adlam, unicode.Samaritan, unicode.Mandaic,
		unicode.Hanifi_Rohingya)
}

// direct gives every rune its embedding level in a paragraph that runs this way.
//
// Each of several spans is taken as isolated from the others (UAX 9, FSI): it runs the way of its
// own first letter, and only as a whole the paragraph's way. A note in one language behind a word
// in another keeps its full stop, whoever typed it. Neighbours whose letters run the same way are
// one, since a phrase may have a word in bold; the spaces around it are the paragraph's.
func (p *paragraph) direct(rtl bool) {
	p.rtl = rtl
	p.levels = make([]uint8, len(p.text))
	if len(p.pieces) == 0 {
		p.embed(0, len(p.text), rtl, rtl)
		return
	}
	p.join()
	for i, start := range p.pieces {
		end := p.pieceEnd(i)
		inner := rtl
		if first := p.firstLetter(start, end); first != utf8.RuneError {
			inner = leftward(first)
		}
		from, to := start, end
		for from < to && p.text[from] == ' ' {
			from++
		}
		for to > from && p.text[to-1] == ' ' {
			to--
		}
		p.embed(start, from, rtl, rtl)
		p.embed(from, to, inner, rtl)
		p.embed(to, end, rtl, rtl)
	}
}

func (p *paragraph) pieceEnd(i int) int {
	if i+1 < len(p.pieces) {
		return p.pieces[i+1]
	}
	return len(p.text)
}

// join makes one piece of neighbours whose letters run the same way.
func (p *paragraph) join() {
	var joined []int
	before := utf8.RuneError
	for i, start := range p.pieces {
		if start == p.pieceEnd(i) && len(joined) > 0 {
			continue
		}
		first := p.firstLetter(start, p.pieceEnd(i))
		if first == utf8.RuneError || before == utf8.RuneError || leftward(first) != leftward(before) {
			joined = append(joined, start)
		}
		before = first
	}
	p.pieces = joined
}

// embed sets the levels of the runes from start to end, which run one way inside a paragraph that
// runs this or the other way.
//
// It is UAX 9 without explicit embeddings, overrides and isolates, whose controls newParagraph has
// replaced: rules W1 to W7, N0 to N2, I1 and I2. The library's own implementation is not used since
// it hands out runs of one direction, not of one level: in "Shin 12 ab" the number and the letters
// after it would be one run and change places as one.
func (p *paragraph) embed(start, end int, rtl, outer bool) {
	text := p.text[start:end]
	base, level := bidi.L, uint8(0)
	if rtl {
		base, level = bidi.R, 1
	}
	if outer && !rtl {
		level = 2 // The least even level above the paragraph's.
	}
	classes := make([]bidi.Class, len(text))
	for i, r := range text {
		properties, _ := bidi.LookupRune(r)
		classes[i] = properties.Class()
		switch classes[i] {
		case bidi.L, bidi.R, bidi.AL, bidi.EN, bidi.ES, bidi.ET, bidi.AN, bidi.CS, bidi.NSM:
		default:
			classes[i] = bidi.ON
		}
	}
	original := slices.Clone(classes)
	weak(classes, base)
	brackets(text, classes, original, base)
	neutral(classes, base)
	for i, class := range classes {
		at := level
		switch { // I1 and I2.
		case class == bidi.R && !rtl, class == bidi.L && rtl:
			at++
		case class == bidi.EN || class == bidi.AN:
			at += 2 - at%2
		}
		p.levels[start+i] = at
	}
}

// weak applies rules W1 to W7; base is the class at both ends of the text.
func weak(classes []bidi.Class, base bidi.Class) {
	before, strong := base, base
	for i, class := range classes {
		switch class {
		case bidi.NSM: // W1.
			classes[i] = before
		case bidi.EN:
			if strong == bidi.AL { // W2.
				classes[i] = bidi.AN
			}
		case bidi.R, bidi.L, bidi.AL:
			strong = class
		}
		before = classes[i]
	}
	for i, class := range classes {
		if class == bidi.AL { // W3.
			classes[i] = bidi.R
		}
	}
	for i := 1; i+1 < len(classes); i++ { // W4.
		a, b := classes[i-1], classes[i+1]
		switch {
		case classes[i] == bidi.ES && a == bidi.EN && b == bidi.EN:
			classes[i] = bidi.EN
		case classes[i] == bidi.CS && a == b && (a == bidi.EN || a == bidi.AN):
			classes[i] = a
		}
	}
	for i := 0; i < len(classes); i++ { // W5.
		if classes[i] != bidi.ET {
			continue
		}
		j := runEnd(classes, i, bidi.ET)
		if i > 0 && classes[i-1] == bidi.EN || j < len(classes) && classes[j] == bidi.EN {
			fill(classes[i:j], bidi.EN)
		}
		i = j - 1
	}
	strong = base
	for i, class := range classes {
		switch class {
		case bidi.ES, bidi.ET, bidi.CS: // W6.
			classes[i] = bidi.ON
		case bidi.EN:
			if strong == bidi.L { // W7.
				classes[i] = bidi.L
			}
		case bidi.L, bidi.R:
			strong = class
		}
	}
}

func runEnd(classes []bidi.Class, i int, class bidi.Class) int {
	for i < len(classes) && classes[i] == class {
		i++
	}
	return i
}

func fill(classes []bidi.Class, class bidi.Class) {
	for i := range classes {
		classes[i] = class
	}
}

// side is the direction that a class counts as for its neutral neighbours; ON for none.
func side(class bidi.Class) bidi.Class {
	switch class {
	case bidi.L:
		return bidi.L
	case bidi.R, bidi.EN, bidi.AN:
		return bidi.R
	}
	return bidi.ON
}

// mirrored pairs brackets and other signs with what they look like from right to left.
var mirrored = func() map[rune]rune {
	pairs := []rune("()[]{}<>«»‹›≤≥≪≫⟨⟩⟦⟧〈〉《》「」『』【】〔〕（）［］｛｝＜＞")
	out := map[rune]rune{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]], out[pairs[i+1]] = pairs[i+1], pairs[i]
	}
	return out
}()

// bracketsMax is the depth at which rule BD16 gives up.
const bracketsMax = 63

// brackets applies rule N0: a pair of brackets goes the way of what it holds.
func brackets(text []rune, classes, original []bidi.Class, base bidi.Class) {
	type open struct {
		want rune
		at   int
	}
	var stack []open
	var pairs [][2]int
	for i, r := range text {
		properties, _ := bidi.LookupRune(r)
		if classes[i] != bidi.ON || !properties.IsBracket() || mirrored[r] == 0 {
			continue
		}
		if properties.IsOpeningBracket() {
			if len(stack) == bracketsMax {
				break
			}
			stack = append(stack, open{mirrored[r], i})
			continue
		}
		for k := len(stack) - 1; k >= 0; k-- {
			if stack[k].want == r {
				pairs = append(pairs, [2]int{stack[k].at, i})
				stack = stack[:k]
				break
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return a[0] - b[0] })
	for _, pair := range pairs {
		class := bracketClass(classes, pair, base)
		if class == bidi.ON {
			continue
		}
		for _, i := range pair {
			classes[i] = class
			for i++; i < len(classes) && original[i] == bidi.NSM; i++ {
				classes[i] = class
			}
		}
	}
}

// bracketClass is the direction of one pair: its content's where that agrees with the paragraph,
// else that of the text before where the content agrees with it; ON where it holds nothing strong.
func bracketClass(classes []bidi.Class, pair [2]int, base bidi.Class) bidi.Class {
	other := false
	for _, class := range classes[pair[0]+1 : pair[1]] {
		switch side(class) {
		case base:
			return base
		case bidi.ON:
		default:
			other = true
		}
	}
	if !other {
		return bidi.ON
	}
	before := base
	for i := pair[0] - 1; i >= 0; i-- {
		if s := side(classes[i]); s != bidi.ON {
			before = s
			break
		}
	}
	return before // The content's way where the two agree, else the paragraph's: the same value.
}

// neutral applies rules N1 and N2.
func neutral(classes []bidi.Class, base bidi.Class) {
	before := base
	for i := 0; i < len(classes); i++ {
		if s := side(classes[i]); s != bidi.ON {
			before = s
			continue
		}
		j, after := i, base
		for ; j < len(classes); j++ {
			if after = side(classes[j]); after != bidi.ON {
				break
			}
			after = base
		}
		class := base
		if before == after {
			class = before
		}
		fill(classes[i:j], class)
		i = j - 1
	}
}

// parted tells whether the rune at i begins a span that runs against the paragraph.
func (p *paragraph) parted(i int) bool {
	_, begins := slices.BinarySearch(p.pieces, i)
	return begins && (p.levels[i]%2 == 1) != p.rtl
}

// order puts the runs of a line from left to right: those of each span among themselves, and the
// spans in the paragraph's way, as isolates are.
func (p *paragraph) order(runs []run) {
	if p.rtl {
		defer slices.Reverse(runs)
	}
	for i := 0; i < len(runs); {
		j := i + 1
		for j < len(runs) && p.piece(runs[j].start) == p.piece(runs[i].start) {
			j++
		}
		reorder(runs[i:j])
		if p.rtl {
			slices.Reverse(runs[i:j]) // Turned round once more with all others.
		}
		i = j
	}
}

// piece is the number of the span that holds the rune at i.
func (p *paragraph) piece(i int) int {
	at, begins := slices.BinarySearch(p.pieces, i)
	if begins {
		// Of empty spans at one place the last one counts.
		for at+1 < len(p.pieces) && p.pieces[at+1] == i {
			at++
		}
		return at
	}
	return at - 1
}

// reorder applies rule L2: it turns round whatever stands at each level and above, from the highest
// down to the lowest odd one.
func reorder(runs []run) {
	highest := uint8(0)
	for _, r := range runs {
		highest = max(highest, r.level)
	}
	for level := highest; level > 0; level-- {
		for i := 0; i < len(runs); i++ {
			j := i
			for j < len(runs) && runs[j].level >= level {
				j++
			}
			if j > i {
				slices.Reverse(runs[i:j])
				i = j
			}
		}
	}
}
