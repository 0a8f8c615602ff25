package words

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// phrase is one text of a catalogue with its path, such as "Guests.Few".
type phrase struct{ path, place, text string }

// phrases lists all texts of a catalogue. The categories of a plural that the language does not
// have are left out.
func phrases(w *Words) []phrase {
	var all []phrase
	v := reflect.ValueOf(*w)
	for i := range v.NumField() {
		field, f := v.Type().Field(i), v.Field(i)
		if !field.IsExported() {
			continue
		}
		place := field.Tag.Get("place")
		switch value := f.Interface().(type) {
		case string:
			all = append(all, phrase{field.Name, place, value})
		case Plural:
			for _, name := range categories(w) {
				all = append(all, phrase{field.Name + "." + name, place,
					reflect.ValueOf(value).FieldByName(name).String()})
			}
		case [12]string:
			for n, month := range value {
				all = append(all, phrase{fmt.Sprintf("Months.%d", n+1), "mark", month})
			}
		case Allergens:
			for n, name := range value.list() {
				all = append(all, phrase{fmt.Sprintf("Allergens.%d", n), "mark", name})
			}
		case []string:
			if len(value) == 0 {
				all = append(all, phrase{field.Name, "", ""})
			}
		}
	}
	return all
}

// categories asks the language's rule which there are.
func categories(w *Words) []string {
	names := map[category]string{
		zero: "Zero", one: "One", two: "Two", few: "Few", many: "Many", other: "Other",
	}
	var all []string
	for n := range 1000 {
		if name := names[w.rule(n)]; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

var braces = regexp.MustCompile(`\{[a-z]+\}`)

func placeholders(text string) string {
	list := braces.FindAllString(text, -1)
	slices.Sort(list)
	return strings.Join(list, " ")
}

func each(t *testing.T, f func(t *testing.T, w *Words)) {
	for _, w := range catalogues {
		t.Run(w.Tag, func(t *testing.T) { f(t, w) })
	}
}

func TestNoWordIsMissingInAnyLanguage(t *testing.T) {
	each(t, func(t *testing.T, w *Words) {
		for _, p := range phrases(w) {
			if strings.TrimSpace(p.text) == "" || p.text != strings.TrimSpace(p.text) {
				t.Errorf("%s is %q", p.path, p.text)
			}
		}
	})
}

func TestEveryPhraseHasTheNamesOfTheEnglishOne(t *testing.T) {
	want := map[string]string{}
	for _, p := range phrases(&english) {
		want[p.path] = placeholders(p.text)
	}
	each(t, func(t *testing.T, w *Words) {
		for _, p := range phrases(w) {
			english, ok := want[p.path]
			if !ok { // A category of a plural that English has not.
				english = want[p.path[:strings.IndexByte(p.path, '.')]+".Other"]
			}
			if got := placeholders(p.text); got != english {
				t.Errorf("%s has %q, expected %q: %s", p.path, got, english, p.text)
			}
			if strings.ContainsAny(braces.ReplaceAllString(p.text, ""), "{}\"\n\t") {
				t.Errorf("%s: %q", p.path, p.text)
			}
		}
	})
}

// cells counts columns: two for Han and kana, none for marks above and below.
func cells(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r < 0xff61:
			n += 2
		default:
			n++
		}
	}
	return n
}

// The narrowest paper has 32 columns. A mark's words must fit at double width, a label its line.
func TestEveryWordFitsItsPlaceOnTheNarrowestPaper(t *testing.T) {
	each(t, func(t *testing.T, w *Words) {
		for _, p := range phrases(w) {
			text := braces.ReplaceAllString(p.text, "")
			if p.place == "label" && cells(text) > 30 {
				t.Errorf("%s takes %d of 30 columns: %s", p.path, cells(text), text)
			}
			longest := 32
			if p.place == "mark" {
				longest = 16
			}
			for _, word := range strings.Fields(text) {
				if cells(word) > longest {
					t.Errorf("%s: %q takes %d of %d columns", p.path, word, cells(word), longest)
				}
			}
		}
	})
}

func TestMarksAreCapitalsOfTheirLanguage(t *testing.T) {
	each(t, func(t *testing.T, w *Words) {
		for _, p := range phrases(w) {
			capitals := p.place == "mark" || p.place == "label"
			capitals = capitals && !strings.ContainsRune(p.path, '.') || strings.HasPrefix(p.path, "Old")
			text := braces.ReplaceAllString(p.text, "")
			if up := w.Upper(text); capitals && up != text {
				t.Errorf("%s: %q, expected %q", p.path, text, up)
			}
		}
	})
}

func TestMarksOfOneLanguageDiffer(t *testing.T) {
	each(t, func(t *testing.T, w *Words) {
		seen := map[string]string{}
		for _, p := range []phrase{
			{path: "New", text: w.New}, {path: "Change", text: w.Change}, {path: "Void", text: w.Void},
			{path: "Notice", text: w.Notice}, {path: "Reprint", text: w.Reprint},
			{path: "Late", text: w.Late}, {path: "Moved", text: w.Moved},
			{path: "PossibleDuplicate", text: w.PossibleDuplicate},
		} {
			if other := seen[p.text]; other != "" {
				t.Errorf("%s and %s are both %q", p.path, other, p.text)
			}
			seen[p.text] = p.path
		}
	})
}

func TestEveryTagFindsItsCatalogue(t *testing.T) {
	if len(Tags()) != 17 {
		t.Errorf("%d languages", len(Tags()))
	}
	for _, tag := range Tags() {
		for _, spelling := range []string{tag, strings.ToUpper(tag)} {
			if w, ok := For(spelling); !ok || w.Tag != tag {
				t.Errorf("%s: %v, %v", spelling, w.Tag, ok)
			}
		}
	}
	if w, ok := For("tlh"); ok || w.Tag != "en" {
		t.Errorf("tlh: %v, %v", w.Tag, ok)
	}
	if w, ok := For(""); !ok || w.Tag != "en" {
		t.Errorf("none: %v, %v", w.Tag, ok)
	}
}

func TestValuesAreNotLookedInto(t *testing.T) {
	for _, c := range []struct{ phrase, want string }{
		{"{a} and {b}", "{b} and {a}"},
		{"{a", "{a"}, {"a}", "a}"}, {"}{", "}{"}, {"{c}", "{c}"}, {"", ""},
	} {
		if got := Fill(c.phrase, "a", "{b}", "b", "{a}"); got != c.want {
			t.Errorf("%q: %q, want %q", c.phrase, got, c.want)
		}
	}
}

func TestNumbersAreCountedAsTheLanguageCounts(t *testing.T) {
	for tag, wants := range map[string]map[int]string{
		"en": {1: "1 guest", 2: "2 guests", 21: "21 guests"},
		"fr": {1: "1 couvert", 2: "2 couverts"},
		"pl": {1: "1 gość", 2: "2 gości", 5: "5 gości", 22: "22 gości"},
		"uk": {1: "1 гість", 2: "2 гості", 5: "5 гостей", 11: "11 гостей", 12: "12 гостей",
			21: "21 гість", 24: "24 гості", 111: "111 гостей", 112: "112 гостей"},
		"ar": {1: "ضيف واحد (1)", 2: "ضيفان (2)", 3: "3 ضيوف", 10: "10 ضيوف", 11: "11 ضيفا",
			99: "99 ضيفا", 100: "100 ضيف", 103: "103 ضيوف"},
		"he": {1: "סועד אחד (1)", 2: "שני סועדים (2)", 3: "3 סועדים"},
		"ja": {1: "1 名", 2: "2 名"},
	} {
		w, _ := For(tag)
		for n, want := range wants {
			if got := w.Count(w.Guests, n); got != want {
				t.Errorf("%s: %q, want %q", tag, got, want)
			}
		}
	}
	pl, _ := For("pl")
	for n, want := range map[int]string{
		1: "1 STARY BON NIEWYDRUKOWANY", 4: "4 STARE BONY NIEWYDRUKOWANE",
		12: "12 STARYCH BONÓW NIE WYDRUKOWANO", 21: "21 STARYCH BONÓW NIE WYDRUKOWANO",
		22: "22 STARE BONY NIEWYDRUKOWANE",
	} {
		if got := pl.Count(pl.OldTickets, n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCapitalsFollowTheLanguage(t *testing.T) {
	for _, c := range []struct{ tag, text, want string }{
		{"tr", "ızgara istasyonu", "IZGARA İSTASYONU"}, {"en", "grill", "GRILL"},
		{"de", "Süßspeisen", "SÜSSSPEISEN"}, {"el", "Κάρβουνα ΐ άέήίόύώ", "ΚΑΡΒΟΥΝΑ Ϊ ΑΕΗΙΟΥΩ"},
		{"el", "ζυμαρικα\u0301", "ΖΥΜΑΡΙΚΑ"}, {"uk", "гриль", "ГРИЛЬ"}, {"ja", "焼き場", "焼き場"},
	} {
		w, _ := For(c.tag)
		if got := w.Upper(c.text); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.tag, c.text, got, c.want)
		}
	}
}
