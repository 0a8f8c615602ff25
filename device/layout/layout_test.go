package layout

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"chit/device/layout/words"
	"chit/device/wire"
	"chit/printer/document"
)

var update = flag.Bool("update", false, "rewrite the golden papers in testdata")

// golden compares the paper at both usual widths with testdata.
func golden(t *testing.T, name string, lay func(columns int) document.Document) {
	t.Helper()
	for _, columns := range []int{48, 32} {
		got := render(t, lay(columns), columns)
		path := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, columns))
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; got:\n%s", path, got)
		}
	}
}

func margherita() wire.Item {
	return wire.Item{
		Quantity: 2, Name: "Pizza Margherita", Modifiers: []string{"NO basil", "EXTRA mozzarella"},
		Allergens: []string{"gluten", "milk"}, Note: "well \"done\"\nplease", Course: "Mains", Seat: "1",
	}
}

// dinner is an order with everything on it.
func dinner() Input {
	return Input{
		Event: wire.Ticket{
			ID: "17-4711/1@grill", Attempt: 1, Station: "grill", Number: "41", Previous: "40",
		},
		Content: wire.Content{
			ID: "17-4711/1", Kind: wire.KindNew, Station: "grill", Order: "Anna", Type: "dine-in",
			Table: "12", Guests: 3,
			PlacedAt: "2026-03-01T18:12:00Z", DueAt: "2026-03-01T18:45:00Z",
			Customer: &wire.Customer{Name: "Anna Müller", Phone: "+49 30 1234"},
			Items: []wire.Item{
				{Quantity: 1, Name: "Tagliatelle al ragù di cinghiale con funghi porcini", Course: "Starters"},
				margherita(),
				{Quantity: 12, Name: "Crème brûlée", Course: "Mains", Seat: "2"},
			},
			Note: "Birthday, candle on the dessert",
		},
		Station: "Grill",
		Options: Options{Location: time.FixedZone("CET", 3600)},
	}
}

func TestPapersLookAsReviewed(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Input)
	}{
		{"new", func(in *Input) {}},
		{"first", func(in *Input) {
			in.Event.Previous = ""
			in.Content = wire.Content{ID: "b/1", Kind: wire.KindNew, Order: "7",
				Items: []wire.Item{{Quantity: 1, Name: "Ramen ラーメン"}}}
		}},
		{"restored", func(in *Input) {
			in.Event.Number, in.Event.Previous = "1041", wire.PreviousUnknown
			in.Event.Gaps = "1040:earlier"
			in.Content.Items = in.Content.Items[:1]
		}},
		{"customer", func(in *Input) {
			in.Options.ShowCustomer = true
			in.Content.Items = in.Content.Items[:1]
			in.Content.DueAt = "2026-03-02T18:45:00Z"
			in.Content.Order = "Donaudampfschifffahrtsgesellschaft"
		}},
		{"no-name", func(in *Input) {
			in.Content.Order, in.Content.Items = " ", in.Content.Items[:1]
			in.Content.DueAt = "2027-01-02T18:45:00Z"
		}},
		{"change", func(in *Input) {
			in.Event.ID, in.Content.ID, in.Content.Kind = "17-4711/2@grill", "17-4711/2", wire.KindChange
			was := margherita()
			was.Quantity, was.Modifiers, was.Note = 1, nil, ""
			in.Event.Gaps = "40:moved:bar,39:cancelled"
			in.Event.Changes = &wire.Changes{
				Since:   1,
				Added:   []wire.Item{{Quantity: 12, Name: "Crème brûlée"}},
				Removed: []wire.Item{{Quantity: 3, Name: "Tiramisù", Modifiers: []string{"no cocoa"}}},
				Altered: []wire.Item{margherita()}, Was: []wire.Item{was},
			}
		}},
		{"change-unknown", func(in *Input) {
			in.Content.Kind = wire.KindChange
			in.Content.Items = in.Content.Items[:1]
		}},
		{"void", func(in *Input) { in.Event.As = wire.KindVoid }},
		{"void-everything", func(in *Input) {
			in.Content.Kind, in.Content.Items, in.Content.Note = wire.KindVoid, nil, ""
		}},
		{"notice", func(in *Input) {
			in.Content = wire.Content{ID: "n/1", Kind: wire.KindNotice, Note: "Fryer 2 is off until 8 pm"}
		}},
		{"reprint", func(in *Input) {
			in.Event.As, in.Event.Attempt = wire.KindReprint, 3
			in.Event.Marks = []wire.Mark{wire.MarkReprint, wire.MarkLate}
			in.Content.Items = in.Content.Items[:1]
		}},
		{"duplicate", func(in *Input) {
			in.Facts.PossibleDuplicate = true
			in.Content.Items = in.Content.Items[:1]
		}},
		{"moved", func(in *Input) {
			in.Facts.MovedFrom = "bar printer"
			in.Event.Marks = []wire.Mark{wire.MarkMoved, wire.MarkPossibleDuplicate}
			in.Content.Items = in.Content.Items[:1]
		}},
		{"also", func(in *Input) {
			in.Event.AlsoAt = "bar,pass"
			in.Content.Items = in.Content.Items[:1]
		}},
		{"copy", func(in *Input) {
			in.Event.ID, in.Event.CopyOf, in.Station = "17-4711/1/r1@pass", "grill", "Pass"
			in.Event.AlsoAt = "bar"
			in.Content.Items = in.Content.Items[:1]
		}},
		{"copy-void", func(in *Input) {
			in.Event.ID, in.Event.CopyOf, in.Station = "17-4711/2/r1@pass", "grill", "Pass"
			in.Content.Kind = wire.KindVoid
			in.Content.Items = in.Content.Items[:1]
		}},
		{"facts", func(in *Input) {
			in.Facts = Facts{
				AfterPowerCut: true, OlderThan: 3, Missing: "17-4711/1@grill", MovedFrom: "bar",
				IgnoreAbove: []Above{{Number: "39", Reason: "moved", MovedTo: "bar"}},
			}
			in.Content.Items = in.Content.Items[:1]
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, func(columns int) document.Document {
				in := dinner()
				in.Options.Columns = columns
				test.change(&in)
				return Ticket(in)
			})
		})
	}
}

func TestPlainPaperLooksAsReviewed(t *testing.T) {
	golden(t, "plain", func(columns int) document.Document {
		in := dinner()
		in.Options.Columns = columns
		in.Facts.PossibleDuplicate = true
		in.Event.Marks = []wire.Mark{wire.MarkReprint}
		return Plain(in, "poison: stopped \"twice\"")
	})
}

func TestThePlainPaperOfACopyLooksAsReviewed(t *testing.T) {
	golden(t, "plain-copy", func(columns int) document.Document {
		in := dinner()
		in.Options.Columns = columns
		in.Event.CopyOf, in.Event.AlsoAt = "grill", "bar,dessert"
		in.Content.Items = in.Content.Items[:1]
		return Plain(in, "poison: stopped \"twice\"")
	})
}

func TestSlipsLookAsReviewed(t *testing.T) {
	for name, lay := range map[string]func(columns int) document.Document{
		"slip-memory": func(n int) document.Document {
			return Memory("+49 30 1234", Options{Columns: n})
		},
		"slip-incomplete": func(n int) document.Document { return Incomplete(Options{Columns: n}) },
		"slip-complete":   func(n int) document.Document { return Complete(Options{Columns: n}) },
		"slip-pairing": func(n int) document.Document {
			return Pairing{
				Fingerprint: "abcd-efgh-2345-6723", Address: "https://broker.example",
				Problem: "the code has ended",
			}.Slip(Options{Columns: n})
		},
		"slip-paired": func(n int) document.Document {
			return Pairing{Device: "dev-abc"}.Slip(Options{Columns: n})
		},
		"slip-test": func(n int) document.Document {
			return Test{
				Device: "dev-abc", Printer: "grill", Station: "Grill", Profile: "epson-80",
				Unit: "TM-T88V", Fence: "confirmed", Version: "1.0",
			}.Slip(Options{Columns: n})
		},
		"slip-moved": func(n int) document.Document {
			return Moved([]Above{{Number: "41", Reason: "moved", MovedTo: "bar"},
				{Number: "42", Reason: "cancelled"}}, 0, false, Options{Columns: n})
		},
		"slip-moved-torn": func(n int) document.Document {
			return Moved([]Above{{Ticket: "o/1@grill", Reason: "moved"},
				{Number: "43", Reason: "dead"}}, 3, true, Options{Columns: n})
		},
		"slip-backlog-many": func(n int) document.Document {
			waiting := make([]Waiting, BacklogMax+7)
			for i := range waiting {
				waiting[i] = Waiting{Number: fmt.Sprint(i + 1), Order: fmt.Sprint("A", i+1),
					Ticket: fmt.Sprintf("a%d/1@grill", i+1), Age: 65 * time.Minute}
			}
			return Backlog(waiting, Options{Columns: n})
		},
		"slip-backlog": func(n int) document.Document {
			return Backlog([]Waiting{
				{Number: "41", Order: "Anna", Ticket: "17-4711/1@grill", Age: 42 * time.Minute},
				{Number: "42", Order: "7", Ticket: "b/1@grill", Age: 31 * time.Minute},
			}, Options{Columns: n})
		},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, lay) })
	}
}

func TestTheDueTimeSaysItsDayWhereItIsNotTheOrders(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	english, _ := words.For("en")
	for _, c := range []struct {
		due, placed string
		zone        *time.Location
		want        string
	}{
		{"2026-12-01T18:00:00Z", "2026-12-01T09:00:00Z", nil, "18:00"},
		{"2026-12-02T18:00:00Z", "2026-12-01T19:00:00Z", nil, "2 Dec 18:00"},
		{"2027-12-01T18:00:00Z", "2026-12-01T18:00:00Z", nil, "1 Dec 2027 18:00"},
		{"2026-12-01T23:30:00Z", "2026-12-01T22:30:00Z", berlin, "2 Dec 00:30"},
		{"2026-12-02T00:30:00+01:00", "2026-12-01T23:15:00Z", nil, "00:30"},
		{"2026-12-02T18:00:00Z", "", nil, "2 Dec 18:00"},
		{"tomorrow", "2026-12-01T19:00:00Z", nil, `"tomorrow"`},
	} {
		if got := due(c.due, c.placed, c.zone, english); got != c.want {
			t.Errorf("due %s, placed %s: %q, want %q", c.due, c.placed, got, c.want)
		}
	}
}

func TestADayIsWrittenAsTheLanguageWritesIt(t *testing.T) {
	day := time.Date(2027, 12, 2, 18, 0, 0, 0, time.UTC)
	for tag, want := range map[string][2]string{
		"en": {"2 Dec", "2 Dec 2027"}, "de": {"2. Dez.", "2. Dez. 2027"},
		"pt": {"2 de dez.", "2 de dez. de 2027"}, "ja": {"12月2日", "2027年12月2日"},
		"he": {"2 בדצמ׳", "2 בדצמ׳ 2027"}, "th": {"2 ธ.ค.", "2 ธ.ค. 2027"},
	} {
		w, _ := words.For(tag)
		if got := [2]string{date(day, w, false), date(day, w, true)}; got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func TestAnOrderWithoutANameIsCalledByItsID(t *testing.T) {
	for _, c := range []struct{ name, ticket, content, want string }{
		{"Anna", "web-7/1@grill", "web-7/1", "Anna"},
		{"", "web-7/1/r2@grill", "other/1", "web-7"},
		{" \n", "not an id", "web-7/1", "web-7"},
		{"", "", "", ""},
	} {
		s := sheet{in: Input{Event: wire.Ticket{ID: c.ticket},
			Content: wire.Content{ID: c.content, Order: c.name}}}
		if got := s.name(); got != c.want {
			t.Errorf("%q of %q is called %q, want %q", c.name, c.ticket, got, c.want)
		}
	}
}
