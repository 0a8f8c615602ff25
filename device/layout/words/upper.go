package words

import (
	"strings"
	"unicode"
)

// Upper writes s in capitals as the language does: Turkish i becomes İ, Greek loses its accents,
// and ß becomes SS everywhere, because few code pages have ẞ.
//
// Source: Unicode 15, SpecialCasing.txt (tr, ß); CLDR el-Upper (Greek).
func (w *Words) Upper(s string) string {
	switch w.Tag {
	case "tr":
		s = strings.ToUpperSpecial(unicode.TurkishCase, s)
	case "el":
		s = greekPlain.Replace(strings.ToUpper(s))
	default:
		s = strings.ToUpper(s)
	}
	return strings.ReplaceAll(s, "ß", "SS")
}

// greekPlain takes the accent off capitals, and keeps the diaeresis, which parts two vowels. The
// two small letters have no capital of one rune.
var greekPlain = strings.NewReplacer(
	"Ά", "Α", "Έ", "Ε", "Ή", "Η", "Ί", "Ι", "Ό", "Ο", "Ύ", "Υ", "Ώ", "Ω",
	"ΐ", "Ϊ", "ΰ", "Ϋ", "Α\u0301", "Α", "Ε\u0301", "Ε", "Η\u0301", "Η", "Ι\u0301", "Ι",
	"Ο\u0301", "Ο", "Υ\u0301", "Υ", "Ω\u0301", "Ω",
)
