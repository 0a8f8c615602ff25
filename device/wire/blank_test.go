package wire

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// A dish, a wish or an allergen of which a cook sees nothing would be left out unseen.
func TestWordsThatNobodySeesAreRefusedByNameOfTheirField(t *testing.T) {
	fields := map[string]string{"Margherita": "items[0].name", "extra €": "items[0].modifiers[1]",
		"milk": "items[0].allergens[0]"}
	for _, blank := range []string{" ", "\u200b\u2060", "\u00a0\u3000", "\ufe0f", "\U000e0100",
		"\u115f", "\u00ad", "\ufeff", "\u2028", "\u200e"} {
		for word, field := range fields {
			_, _, err := Canonical([]byte(edit(word, blank)))
			if err == nil || !strings.Contains(err.Error(), field+": want ") {
				t.Errorf("%s of %+q: %v", field, blank, err)
			}
			if _, _, err := Canonical([]byte(edit(word, blank+"é"+blank))); err != nil {
				t.Errorf("%s of %+q and a letter: %v", field, blank, err)
			}
		}
	}
}

// Tills send a space where nobody wrote a note.
func TestANoteThatSaysNothingLosesNoOrder(t *testing.T) {
	for _, note := range []string{"hot!", "ring twice"} {
		if _, _, err := Canonical([]byte(edit(note, " "))); err != nil {
			t.Errorf("%q: %v", note, err)
		}
	}
}

func TestEveryIgnorableRuneIsUnseenAndSoSaysTheSchema(t *testing.T) {
	name := compileSchema(t).Properties["items"].Items2020.Properties["name"]
	if name == nil {
		name = compileSchema(t).Properties["items"].Items2020.Ref.Properties["name"]
	}
	seen := regexp.MustCompile(fmt.Sprint(name.Pattern))
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		known := unicode.In(r, unicode.White_Space, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point)
		if known && notBlank(string(r)) {
			t.Errorf("U+%04X is seen", r)
		}
		if seen.MatchString(string(r)) != notBlank(string(r)) {
			t.Errorf("U+%04X: schema says %t", r, seen.MatchString(string(r)))
		}
	}
}
