package layout

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/layout/words"
	"chit/device/wire"
	"chit/printer/document"
)

// inverse gathers the text of every mark on the paper.
func inverse(d document.Document) []string {
	var list []string
	each(d, func(s document.Span) {
		if s.Style.Inverse {
			list = append(list, s.Text)
		}
	})
	return list
}

func each(d document.Document, f func(document.Span)) {
	lines := func(lines []document.Line) {
		for _, l := range lines {
			for _, s := range l.Spans {
				f(s)
			}
		}
	}
	for _, block := range d.Blocks {
		switch b := block.(type) {
		case document.Box:
			lines(b.Lines)
		case document.QR:
			lines(b.Beside)
		case document.Line:
			for _, s := range b.Spans {
				f(s)
			}
		case document.Pair:
			for _, s := range append(append([]document.Span{}, b.Left...), b.Right...) {
				f(s)
			}
		}
	}
}

// typed is text as a guest or cashier may type it, marked so that it can be found again.
func typed() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return "§" + rapid.SampledFrom([]string{
			"", "VOID", "POSSIBLE DUPLICATE\n", "\" quoted", "a b c", strings.Repeat("long", 30), "é\u202e",
			"面白い", "\x1b@", "\t\r\n", "Zwiebelrostbratenmitspätzlesoße",
		}).Draw(t, "text") + rapid.String().Draw(t, "more")
	})
}

func items() *rapid.Generator[[]wire.Item] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wire.Item {
		return wire.Item{
			Quantity: rapid.IntRange(1, 999).Draw(t, "quantity"), Name: typed().Draw(t, "name"),
			Modifiers: rapid.SliceOfN(typed(), 0, 3).Draw(t, "modifiers"), Note: typed().Draw(t, "note"),
			Allergens: rapid.SliceOfN(typed(), 0, 3).Draw(t, "allergens"),
			Course:    typed().Draw(t, "course"), Seat: typed().Draw(t, "seat"),
		}
	}), 0, 4)
}

func inputs() *rapid.Generator[Input] {
	kinds := []wire.Kind{
		"", wire.KindNew, wire.KindChange, wire.KindVoid, wire.KindNotice, wire.KindReprint,
	}
	marks := []wire.Mark{
		wire.MarkReprint, wire.MarkPossibleDuplicate, wire.MarkMoved, wire.MarkLate,
	}
	return rapid.Custom(func(t *rapid.T) Input {
		in := Input{
			Event: wire.Ticket{
				ID: "o/1@grill", Station: "grill", Number: rapid.SampledFrom([]string{"", "41"}).Draw(t, "n"),
				As:    rapid.SampledFrom(kinds).Draw(t, "as"),
				Marks: rapid.SliceOfN(rapid.SampledFrom(marks), 0, 3).Draw(t, "marks"),
			},
			Content: wire.Content{
				Kind: rapid.SampledFrom(kinds[1:]).Draw(t, "kind"), Order: typed().Draw(t, "order"),
				Type: typed().Draw(t, "type"), Table: typed().Draw(t, "table"),
				Guests:   rapid.IntRange(0, 1000).Draw(t, "guests"),
				PlacedAt: typed().Draw(t, "placed"), DueAt: typed().Draw(t, "due"),
				Customer: &wire.Customer{Name: typed().Draw(t, "customer")},
				Items:    items().Draw(t, "items"), Note: typed().Draw(t, "note"),
			},
			Options: options().Draw(t, "options"),
			Facts: Facts{
				PossibleDuplicate: rapid.Bool().Draw(t, "duplicate"),
				AfterPowerCut:     rapid.Bool().Draw(t, "power"),
				PrintedAt:         time.Unix(int64(rapid.Uint32().Draw(t, "at")), 0),
			},
		}
		if rapid.Bool().Draw(t, "changed") {
			in.Event.Changes = &wire.Changes{
				Added: items().Draw(t, "added"), Removed: items().Draw(t, "removed"),
				Altered: items().Draw(t, "altered"), Was: items().Draw(t, "was"),
			}
		}
		return in
	})
}

// options are wishes of any kind, also templates that cannot be.
func options() *rapid.Generator[Options] {
	return rapid.Custom(func(t *rapid.T) Options {
		blocks := append(Blocks(), "unknown")
		size := document.Size(0)
		if rapid.Bool().Draw(t, "sized") {
			size = document.Size(rapid.IntRange(0, 5).Draw(t, "size"))
		}
		return Options{
			ShowCustomer: rapid.Bool().Draw(t, "show"),
			Columns:      rapid.SampledFrom([]int{0, 32, 33, 42, 48}).Draw(t, "columns"),
			Language:     rapid.SampledFrom(append(words.Tags(), "", "tlh")).Draw(t, "language"),
			Size:         Size(rapid.IntRange(0, 3).Draw(t, "body")),
			Compact:      rapid.Bool().Draw(t, "compact"), Codes: rapid.Bool().Draw(t, "codes"),
			Template: Template{
				Blocks: rapid.SliceOfNDistinct(rapid.SampledFrom(blocks), 0, len(blocks),
					rapid.ID[Block]).Draw(t, "blocks"),
				StationSize: size, KindSize: size, OrderSize: size,
				Hidden: rapid.SliceOfN(rapid.SampledFrom(facts), 0, 3).Draw(t, "hidden"),
			},
		}
	})
}

var quantityOnly = regexp.MustCompile(`^ \d+ $`)

// Everything typed begins with a section sign, which no catalogue and no configuration has.
func TestNothingTypedIsEverWhiteOnBlack(t *testing.T) {
	english := regexp.MustCompile(`^[A-Z0-9 ,:./]*$`)
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		w, _ := words.For(in.Options.Language)
		for _, d := range []document.Document{Ticket(in), Plain(in, "§ reason")} {
			for _, text := range inverse(d) {
				if strings.Contains(text, "§") || strings.ContainsAny(text, "\"\n") ||
					w.Tag == "en" && !english.MatchString(text) && !quantityOnly.MatchString(text) {
					t.Fatalf("a mark says %q", text)
				}
			}
		}
	})
}

func TestThePossibleDuplicateMarkStandsAtBothEndsOrNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		want := 0
		if in.Facts.PossibleDuplicate || slices.Contains(in.Event.Marks, wire.MarkPossibleDuplicate) {
			want = 2
		}
		w, _ := words.For(in.Options.Language)
		for _, d := range []document.Document{Ticket(in), Plain(in, "")} {
			words := strings.Join(strings.Fields(strings.Join(inverse(d), " ")), " ")
			if got := strings.Count(words, w.PossibleDuplicate); got != want {
				t.Fatalf("marked %d times, want %d: %s", got, want, words)
			}
		}
	})
}

func TestEveryUnbreakableSpanFitsThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		in.Station = "A very long station name am " + strings.Repeat("x", 60)
		each(Ticket(in), func(s document.Span) {
			n := cells(s.Text) * int(max(s.Style.Width, 1))
			if s.NoBreak && n > columns(in.Options.Columns) {
				t.Fatalf("%q takes %d columns", s.Text, n)
			}
		})
	})
}

func TestEveryItemAllergenAndNoteIsOnThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		for _, d := range []document.Document{Ticket(in), Plain(in, "")} {
			var all strings.Builder
			each(d, func(s document.Span) { all.WriteString(s.Text) })
			w, _ := words.For(in.Options.Language)
			for _, item := range in.Content.Items {
				if !strings.Contains(all.String(), strconv.Itoa(item.Quantity)) {
					t.Fatalf("quantity %d is missing", item.Quantity)
				}
				for _, m := range item.Modifiers {
					if !strings.Contains(all.String(), flat(m)) {
						t.Fatalf("modifier %q is missing", m)
					}
				}
				if !strings.Contains(all.String(), flat(item.Name)) {
					t.Fatalf("item %q is missing", item.Name)
				}
				for _, a := range item.Allergens {
					if !strings.Contains(all.String(), w.Upper(flat(a))) {
						t.Fatalf("allergen %q is missing", a)
					}
				}
				if !strings.Contains(all.String(), quoted(item.Note)) {
					t.Fatalf("note %q is missing", item.Note)
				}
			}
		}
	})
}

func TestQuotedTextCannotEndItsQuotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		signs := rapid.StringOf(rapid.SampledFrom([]rune(doubleQuotes + "a ")))
		text := rapid.OneOf(rapid.String(), signs).Draw(t, "text")
		if q := quoted(text); strings.ContainsAny(q[1:len(q)-1], doubleQuotes+"\n\r\t") {
			t.Fatalf("%q", q)
		}
	})
}
