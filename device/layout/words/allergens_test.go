package words

import (
	"strings"
	"testing"
)

func TestAllergensAreNamedInTheKitchensLanguage(t *testing.T) {
	for _, c := range []struct{ tag, from, want string }{
		{"de", "gluten", "Gluten"}, {"de", "Milk", "Milch"}, {"de", " fish ", "Fisch"},
		{"pl", "Erdnüsse", "orzeszki ziemne"}, {"zh-Hans", "tree nuts", "坚果"},
		{"el", "sulfites", "θειώδη"}, {"ja", "Fruits à coque", "ナッツ類"},
		// A member says more than its group.
		{"de", "Almonds", "Schalenfrüchte (Almonds)"}, {"tr", "lactose", "süt (lactose)"},
		// English words stay in an English kitchen.
		{"en", "sulfites", "sulfites"}, {"en", "dairy", "dairy"}, {"en", "Milch", "milk"},
		// What is in no table, or in two groups, is printed as it came.
		{"de", "shellfish", "shellfish"}, {"fr", "Ananas", "Ananas"}, {"fr", "", ""},
		{"de", "A, C, G", "A, C, G"},
	} {
		w, _ := For(c.tag)
		if got := w.Allergen(c.from); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.tag, c.from, got, c.want)
		}
	}
}

// Two languages may share a name, but never for two allergens: the table would choose one of them.
func TestNoNameIsThatOfTwoAllergens(t *testing.T) {
	seen := map[string]int{}
	add := func(name string, i int) {
		name = strings.ToLower(name)
		if other, ok := seen[name]; ok && other != i {
			t.Errorf("%q is allergen %d and %d", name, other, i)
		}
		seen[name] = i
	}
	for _, w := range catalogues {
		for i, name := range w.Allergens.list() {
			add(name, i)
		}
	}
	for _, table := range []map[string]int{spellings, members} {
		for name, i := range table {
			add(name, i)
			if name != strings.ToLower(name) {
				t.Errorf("%q is never found", name)
			}
		}
	}
}

func TestEveryNameInEveryLanguageIsFoundInEveryOther(t *testing.T) {
	for _, from := range catalogues {
		for i, name := range from.Allergens.list() {
			for _, to := range catalogues {
				want := to.Allergens.list()[i]
				if _, english := spellings[strings.ToLower(name)]; english && to.Tag == "en" {
					want = name // An English word too.
				}
				if got := to.Allergen(name); got != want {
					t.Errorf("%s %q in %s: %q, want %q", from.Tag, name, to.Tag, got, want)
				}
			}
		}
	}
}
