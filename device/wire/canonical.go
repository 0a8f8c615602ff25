package wire

import (
	"fmt"
	"regexp"
	"time"

	"github.com/gowebpki/jcs"
)

// Bounds of a request. Lengths are Unicode code points, as JSON Schema counts them. They are wider
// than any paper and narrower than any mistake; the metre of paper is judged by the layout.
const (
	GuestsMax    = 999
	QuantityMax  = 999
	ItemsMax     = 200
	ModifiersMax = 50
	AllergensMax = 30
	ShortMax     = 40   // order, table, course, seat, one allergen
	NameMax      = 200  // an item, a modifier, a customer
	PhoneMax     = 40   // a customer's phone
	NoteMax      = 1000 // the note of a ticket or an item
)

// instantForm is RFC 3339 section 5.6 in upper case, years 2000 to 2199, at most nanoseconds.
var instantForm = regexp.MustCompile(`^2[01][0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}` +
	`(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$`)

var (
	ruleContentID = rule{required: true, ok: isContentID,
		want: "<order>/<seq>: 1 to 64 of A-Z a-z 0-9 . _ ~ - (not . or .. alone), a slash, " +
			"1 to 999999999"}
	ruleID = rule{required: true, ok: func(s string) bool { return CheckID(s) == nil },
		want: "1 to 64 of a-z, 0-9 and -, and not feed or host"}
	ruleDoorKind = rule{required: true, want: "new, change, void or notice",
		ok: oneOf(string(KindNew), string(KindChange), string(KindVoid), string(KindNotice))}
	ruleKind = rule{required: true, want: "new, change, void, notice or reprint",
		ok: func(s string) bool { return Kind(s).Known() }}
	ruleType = rule{want: "dine-in, take-away or delivery",
		ok: oneOf("dine-in", "take-away", "delivery")}
	ruleInstant = rule{ok: isInstant,
		want: "an RFC 3339 instant of 2000 to 2199, such as 2026-03-01T18:30:00+01:00"}
	ruleItem = rule{required: true, max: NameMax, ok: notBlank,
		want: fmt.Sprintf("a text of 1 to %d characters, not only spaces or what nobody sees", NameMax)}
	ruleModifier = rule{max: NameMax, ok: notBlank,
		want: fmt.Sprintf("a text of 1 to %d characters, not only spaces or what nobody sees", NameMax)}
	ruleAllergen = rule{max: ShortMax, ok: notBlank,
		want: fmt.Sprintf("a text of 1 to %d characters, not only spaces or what nobody sees", ShortMax)}
	ruleShort = rule{max: ShortMax}
	ruleName  = rule{max: NameMax}
	rulePhone = rule{max: PhoneMax}
	ruleNote  = rule{max: NoteMax} // Tills send notes of one space: an order is not lost for that.
)

// Known tells whether k is one of the kinds of wire version 1.
func (k Kind) Known() bool {
	return k == KindNew || k == KindChange || k == KindVoid || k == KindNotice || k == KindReprint
}

// Canonical validates the request of POST /v1/tickets and gives its exact bytes: the RFC 8785 form
// of what was said, nothing filled in, nothing left out (DESIGN section 4). Every door calls it.
//
// A body over [ContentMax] bytes wraps [ErrTooLarge], one that is not JSON wraps [ErrMalformed],
// and one that breaks the field table is a [*ContentError] that names every field.
func Canonical(raw []byte) (data []byte, c Content, err error) {
	if len(raw) > ContentMax {
		return nil, Content{}, fmt.Errorf("wire: ticket of %d bytes, want at most %d: %w", len(raw),
			ContentMax, ErrTooLarge)
	}
	return canonical(raw)
}

func canonical(raw []byte) ([]byte, Content, error) {
	tree, err := parseJSON(raw)
	if err != nil {
		return nil, Content{}, fmt.Errorf("wire: reading ticket: %w", err)
	}
	r := &report{}
	c := readContent(r, tree, ruleDoorKind)
	if err := r.content(); err != nil {
		return nil, Content{}, err
	}
	data, err := jcs.Transform(raw)
	if err != nil {
		return nil, Content{}, fmt.Errorf("wire: ticket to RFC 8785: %w: %w", ErrMalformed, err)
	}
	if len(data) > ContentMax {
		return nil, Content{}, fmt.Errorf("wire: ticket of %d bytes, want at most %d: %w", len(data),
			ContentMax, ErrTooLarge)
	}
	return data, c, nil
}

// CanonicalContent gives the exact bytes of a ticket that a program made itself, under the same
// rules.
func CanonicalContent(c Content) (data []byte, err error) {
	raw, err := marshal(c)
	if err != nil {
		return nil, fmt.Errorf("wire: writing ticket: %w", err)
	}
	data, _, err = canonical(raw)
	return data, err
}

// ParseContent reads data that [Canonical] made, perhaps that of a newer minor version: it ignores
// unknown fields and is as strict as a door about the rest. Check the digest before, over the
// bytes. Errors wrap [ErrMalformed], [ErrTooLarge], or are a [*ContentError].
func ParseContent(data []byte) (Content, error) {
	if len(data) > ContentMax {
		return Content{}, fmt.Errorf("wire: data of %d bytes, want at most %d: %w", len(data),
			ContentMax, ErrTooLarge)
	}
	tree, err := parseSound(data)
	if err != nil {
		return Content{}, fmt.Errorf("wire: reading data: %w", err)
	}
	r := &report{lenient: true}
	c := readContent(r, tree, ruleKind)
	if err := r.content(); err != nil {
		return Content{}, err
	}
	return c, nil
}

func readContent(r *report, v jsonValue, kinds rule) Content {
	o := r.object(v, "", "id", "kitchen", "station", "kind", "order", "type", "table", "guests",
		"placed_at", "due_at", "release_at", "customer", "items", "note")
	c := Content{
		ID:        o.text("id", ruleContentID),
		Kitchen:   o.text("kitchen", ruleID),
		Station:   o.text("station", ruleID),
		Kind:      Kind(o.text("kind", kinds)),
		Order:     o.text("order", ruleShort),
		Type:      o.text("type", ruleType),
		Table:     o.text("table", ruleShort),
		Guests:    int(o.integer("guests", false, 1, GuestsMax)),
		PlacedAt:  o.text("placed_at", ruleInstant),
		DueAt:     o.text("due_at", ruleInstant),
		ReleaseAt: o.text("release_at", ruleInstant),
		Note:      o.text("note", ruleNote),
	}
	if v, ok := o.get("customer"); ok {
		p := r.object(v, "customer", "name", "phone")
		c.Customer = &Customer{Name: p.text("name", ruleName), Phone: p.text("phone", rulePhone)}
	}
	c.Items = readItems(r, o.list("items", ItemsMax), "items")
	o.checkKind(c)
	return c
}

// checkKind holds what a kind needs: new and change are nothing without items, a change being the
// complete new order; void and notice may have none; a notice is its note.
func (o object) checkKind(c Content) {
	items, said := o.get("items")
	if c.Kind == KindNew || c.Kind == KindChange {
		want := fmt.Sprintf("1 to %d items in a ticket of kind %s", ItemsMax, c.Kind)
		if !said {
			o.need("items", want)
		} else if items.kind == jsonArray && len(items.items) == 0 {
			o.r.add(o.at("items"), "an empty array", want)
		}
	}
	if note, said := o.get("note"); c.Kind == KindNotice {
		const want = "a text, not only spaces or what nobody sees, in a ticket of kind notice"
		if !said {
			o.need("note", want)
		} else if note.kind == jsonString && !notBlank(note.text) {
			o.r.add(o.at("note"), found(note), want)
		}
	}
}

func readItems(r *report, list []jsonValue, path string) []Item {
	var items []Item
	for i, v := range list {
		o := r.object(v, fmt.Sprintf("%s[%d]", path, i), "quantity", "name", "modifiers", "note",
			"allergens", "course", "seat")
		items = append(items, Item{
			Quantity:  int(o.integer("quantity", true, 1, QuantityMax)),
			Name:      o.text("name", ruleItem),
			Modifiers: o.texts("modifiers", ModifiersMax, ruleModifier),
			Note:      o.text("note", ruleNote),
			Allergens: o.texts("allergens", AllergensMax, ruleAllergen),
			Course:    o.text("course", ruleShort),
			Seat:      o.text("seat", ruleShort),
		})
	}
	return items
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return contains(words, s) }
}

func isContentID(s string) bool {
	_, _, err := ParseContentID(s)
	return err == nil
}

func isInstant(s string) bool {
	if !instantForm.MatchString(s) {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
