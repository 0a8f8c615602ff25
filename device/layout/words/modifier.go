package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sense is what a modifier does to the item.
type Sense uint8

// The senses. Most modifiers have none: "medium", "oat milk".
const (
	Plain Sense = iota
	Without
	Extra
)

// Modifier is a modifier in three parts that are the whole text when put together. Word is the one
// that says without or extra; it is empty where Sense is Plain.
type Modifier struct {
	Sense               Sense
	Before, Word, After string
}

// signal is a word that gives a modifier its sense.
type signal struct {
	word   string // small letters
	sense  Sense
	behind bool
	joined bool // the script has no spaces, so the word may touch the next one
}

// signals are those of all languages, longest first, because the order's language is often not the
// kitchen's.
var signals = func() []signal {
	var all []signal
	for _, w := range catalogues {
		joined := w.Tag == "zh-Hans" || w.Tag == "ja" || w.Tag == "th"
		add := func(list []string, sense Sense) {
			for _, word := range list {
				all = append(all, signal{word, sense, w.Behind, joined})
			}
		}
		add(w.Without, Without)
		add(w.Extra, Extra)
	}
	slices.SortStableFunc(all, func(a, b signal) int { return len(b.word) - len(a.word) })
	return all
}()

// Sensed finds the word in a modifier that takes away or adds: the cook's eye must fall on it.
func Sensed(text string) Modifier {
	for _, s := range signals {
		if s.behind {
			if rest, ok := cutEnd(text, s); ok {
				return Modifier{Sense: s.sense, Before: rest, Word: text[len(rest):]}
			}
			continue
		}
		if n := begin(text, s); n > 0 {
			return Modifier{Sense: s.sense, Word: text[:n], After: text[n:]}
		}
	}
	return Modifier{Before: text}
}

// begin is how many bytes of text its beginning s takes, 0 where it does not begin so.
func begin(text string, s signal) int {
	n := len(s.word)
	if len(text) <= n || !strings.EqualFold(text[:n], s.word) {
		return 0
	}
	next, _ := utf8.DecodeRuneInString(text[n:])
	if !s.joined && !unicode.IsSpace(next) && next != ':' {
		return 0
	}
	return n
}

func cutEnd(text string, s signal) (rest string, ok bool) {
	n := len(text) - len(s.word)
	if n <= 0 || !strings.EqualFold(text[n:], s.word) {
		return "", false
	}
	last, _ := utf8.DecodeLastRuneInString(text[:n])
	return text[:n], s.joined || unicode.IsSpace(last)
}
