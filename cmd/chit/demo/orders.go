package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"chit/device/wire"
)

// stations are the demo's: one printer each, both on the one device.
var stations = []string{"grill", "bar"}

// order is one posted ticket.
type order struct {
	content wire.Content
	say     string // for the story
}

// dish is one line of the demo's menu.
type dish struct {
	station, name string
	modifiers     []string
	note          string
	allergens     []string
	course        string
}

var menu = []dish{
	{"grill", "Cheeseburger", []string{"NO onion", "EXTRA cheese"}, "", []string{"milk", "gluten"},
		"main"},
	{"grill", "Entrecôte 300 g", []string{"medium rare"}, "Bitte ohne Kräuterbutter", nil, "main"},
	{"grill", "Crème brûlée façon grand-mère", nil, "", []string{"milk", "egg"}, "dessert"},
	{"grill", "Currywurst mit Pommes (12,50 €)", []string{"SIDE mayo"}, "",
		[]string{"celery", "mustard"}, "main"},
	{"grill", "Slow-roasted shoulder of salt-marsh lamb with rosemary potatoes, glazed carrots and " +
		"mint",
		nil, "well done, gravy apart", nil, "main"},
	{"grill", "Smørrebrød med laks", nil, "", []string{"fish", "gluten"}, "starter"},
	{"grill", "Żurek w chlebie", nil, "bez jajka", []string{"egg", "gluten"}, "starter"},
	{"grill", "Piña a la plancha", nil, "", nil, "dessert"},
	{"bar", "Weißbier 0,5 l", nil, "", []string{"gluten"}, ""},
	{"bar", "Gin & Tonic", []string{"NO ice", "EXTRA lime"}, "", nil, ""},
	{"bar", "Café con leche", []string{"oat milk"}, "ALLERGIC to milk!", []string{"milk"}, ""},
	{"bar", "Mojito \"sin alcohol\"", nil, "", nil, ""},
}

var guestNames = []string{"Ana", "Björn", "Çağla", "Dvořák", "Élodie", "Łukasz", "Núria", "O'Neil"}

// ordersFor makes n tickets from a generator: mostly new ones, now and then a change or a void of
// one that was sent before, and a notice. The first ones are the same for every seed in kind, so
// that a short demo shows each.
func ordersFor(n int, rng *rand.Rand, now time.Time) []order {
	kinds := []wire.Kind{wire.KindNew, wire.KindNew, wire.KindChange, wire.KindNew, wire.KindNew,
		wire.KindNew, wire.KindVoid, wire.KindNew, wire.KindNotice, wire.KindNew, wire.KindChange,
		wire.KindNew}
	var out []order
	var open []wire.Content // newest state of what may be changed
	next := 100
	for i := range n {
		kind := kinds[i%len(kinds)]
		if i >= len(kinds) && rng.IntN(3) > 0 {
			kind = wire.KindNew
		}
		if len(open) == 0 && kind != wire.KindNotice {
			kind = wire.KindNew
		}
		at := now.Add(time.Duration(i) * time.Second)
		switch kind {
		case wire.KindChange, wire.KindVoid:
			k := rng.IntN(len(open))
			c := follow(open[k], kind, i, rng)
			if kind == wire.KindVoid {
				open = append(open[:k], open[k+1:]...)
			} else {
				open[k] = c
			}
			out = append(out, order{c, fmt.Sprintf("%s of %s at %s", kind, c.Order, c.Station)})
		case wire.KindNotice:
			out = append(out, order{wire.Content{
				ID: fmt.Sprintf("n%d/1", next), Kitchen: "main", Station: stations[0], Kind: kind,
				Order: "86", PlacedAt: stamp(at), Note: "86 the lamb: last portion is gone",
			}, "notice to the " + stations[0]})
		default:
			c := fresh(next, i, rng, at)
			open = append(open, c)
			out = append(out, order{c, fmt.Sprintf("new %s at %s, %d lines", c.Order, c.Station,
				len(c.Items))})
		}
		next++
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// fresh makes a new ticket. Every third goes to the second station.
func fresh(number, i int, rng *rand.Rand, at time.Time) wire.Content {
	station := stations[0]
	if i%3 == 1 {
		station = stations[1]
	}
	c := wire.Content{
		ID: fmt.Sprintf("demo-%d/1", number), Kitchen: "main", Station: station, Kind: wire.KindNew,
		Order: fmt.Sprint(number), PlacedAt: stamp(at), DueAt: stamp(at.Add(20 * time.Minute)),
	}
	switch rng.IntN(3) {
	case 0:
		c.Type, c.Table, c.Guests = "dine-in", fmt.Sprint(1+rng.IntN(20)), 1+rng.IntN(6)
	case 1:
		c.Type, c.Order = "take-away", guestNames[rng.IntN(len(guestNames))]
	default:
		c.Type, c.Note = "delivery", "ring twice, the dog is friendly"
	}
	c.Items = dishes(station, 1+rng.IntN(4), rng)
	return c
}

func dishes(station string, count int, rng *rand.Rand) []wire.Item {
	var mine []dish
	for _, d := range menu {
		if d.station == station {
			mine = append(mine, d)
		}
	}
	var items []wire.Item
	for _, k := range rng.Perm(len(mine))[:min(count, len(mine))] {
		d := mine[k]
		items = append(items, wire.Item{
			Quantity: 1 + rng.IntN(3), Name: d.name, Modifiers: d.modifiers, Note: d.note,
			Allergens: d.allergens, Course: d.course,
		})
	}
	return items
}

// follow is the next mutation of an order.
func follow(was wire.Content, kind wire.Kind, i int, rng *rand.Rand) wire.Content {
	c := was
	id, seq, err := wire.ParseContentID(was.ID)
	if err != nil {
		panic("demo: own order id: " + err.Error())
	}
	c.ID = fmt.Sprintf("%s/%d", id, seq+1)
	c.Kind = kind
	c.Note = ""
	if kind == wire.KindVoid {
		c.Note = "guest has left"
		return c
	}
	c.Items = append([]wire.Item(nil), was.Items...)
	c.Items[0].Quantity++
	if i%2 == 0 {
		c.Items = append(c.Items, dishes(c.Station, 1, rng)...)
	}
	return c
}
