package words

import "strings"

// Allergens are the fourteen names of Regulation (EU) No 1169/2011, Annex II, in short form.
type Allergens struct {
	Gluten, Crustaceans, Eggs, Fish, Peanuts, Soybeans, Milk string
	Nuts, Celery, Mustard, Sesame, Sulphites, Lupin          string
	Molluscs                                                 string
}

func (a Allergens) list() [14]string {
	return [14]string{
		a.Gluten, a.Crustaceans, a.Eggs, a.Fish, a.Peanuts, a.Soybeans, a.Milk, a.Nuts, a.Celery,
		a.Mustard, a.Sesame, a.Sulphites, a.Lupin, a.Molluscs,
	}
}

// Places in [Allergens].list.
const (
	gluten = iota
	crustaceans
	eggs
	fish
	peanuts
	soybeans
	milk
	nuts
	celery
	mustard
	sesame
	sulphites
	lupin
	molluscs
)

// spellings are other names for exactly one of the fourteen: the translation says all they say.
var spellings = map[string]int{
	"crustacean": crustaceans, "egg": eggs, "peanut": peanuts, "groundnut": peanuts,
	"groundnuts": peanuts, "soya": soybeans, "soy": soybeans, "soybean": soybeans,
	"soya beans": soybeans, "soy beans": soybeans, "nut": nuts, "tree nuts": nuts,
	"tree-nuts": nuts, "treenuts": nuts, "tree nut": nuts, "sesame seeds": sesame,
	"sesame seed": sesame, "sulphite": sulphites, "sulfites": sulphites, "sulfite": sulphites,
	"sulphur dioxide": sulphites, "sulfur dioxide": sulphites,
	"sulphur dioxide and sulphites": sulphites, "lupine": lupin, "lupins": lupin,
	"mollusc": molluscs, "mollusks": molluscs, "mollusk": molluscs,
	"cereals containing gluten": gluten,
}

// members say more than the name of their group, so they stay on the paper behind it.
var members = map[string]int{
	"wheat": gluten, "rye": gluten, "barley": gluten, "oats": gluten, "spelt": gluten,
	"kamut": gluten, "shrimp": crustaceans, "shrimps": crustaceans, "prawn": crustaceans,
	"prawns": crustaceans, "crab": crustaceans, "lobster": crustaceans, "crayfish": crustaceans,
	"dairy": milk, "lactose": milk, "cream": milk, "butter": milk, "cheese": milk,
	"almond": nuts, "almonds": nuts, "hazelnut": nuts, "hazelnuts": nuts, "walnut": nuts,
	"walnuts": nuts, "cashew": nuts, "cashews": nuts, "pecan": nuts, "pecans": nuts,
	"brazil nuts": nuts, "pistachio": nuts, "pistachios": nuts, "macadamia": nuts,
	"celeriac": celery, "tahini": sesame, "squid": molluscs, "octopus": molluscs,
	"oysters": molluscs, "oyster": molluscs, "mussels": molluscs, "clams": molluscs,
	"scallops": molluscs, "snails": molluscs, "salmon": fish, "tuna": fish, "cod": fish,
	"anchovy": fish, "anchovies": fish,
}

// named finds the fourteen by any language's name, in small letters.
var named = func() map[string]int {
	all := map[string]int{}
	for _, w := range catalogues {
		for i, name := range w.Allergens.list() {
			all[strings.ToLower(name)] = i
		}
	}
	for name, i := range spellings {
		all[name] = i
	}
	return all
}()

// Allergen is what the paper says for an allergen of the order.
//
// A name of one of the fourteen, in any of our languages, becomes the kitchen's name alone: the
// table is fixed, so nothing is lost. A member of one of them becomes the group with the order's
// word behind it, "NÜSSE (almonds)": the cook must know the group and may know the member. Every
// other word, and every English one in an English kitchen, is printed as it came. Words of two
// groups, such as shellfish, are in no table: a wrong translation is worse than none.
func (w *Words) Allergen(s string) string {
	key := strings.ToLower(strings.TrimSpace(s))
	own := w.Allergens.list()
	if i, ok := named[key]; ok {
		if _, english := spellings[key]; english && w.Tag == "en" {
			return s
		}
		return own[i]
	}
	if i, ok := members[key]; ok && w.Tag != "en" {
		return own[i] + " (" + s + ")"
	}
	return s
}
