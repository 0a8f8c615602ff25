package preview

import (
	"time"

	"chit/device/layout"
	"chit/device/wire"
	"chit/printer/document"
)

// dinner is an order with everything on it that a ticket can say.
func dinner(o layout.Options) layout.Input {
	return layout.Input{
		Event: wire.Ticket{
			ID: "17-4711/1@grill", Attempt: 1, Station: "grill", Number: "41", Previous: "40",
		},
		Content: wire.Content{
			ID: "17-4711/1", Kind: wire.KindNew, Station: "grill", Order: "Anna", Type: "dine-in",
			Table: "12", Guests: 3,
			PlacedAt: "2026-03-01T18:12:00Z", DueAt: "2026-03-01T18:45:00Z",
			Items: []wire.Item{pizza(2), {Quantity: 12, Name: "Crème brûlée", Course: "2", Seat: "4"}},
			Note:  "Birthday, candle on the dessert",
		},
		Station: "Grill",
		Options: o,
		Facts:   layout.Facts{PrintedAt: time.Date(2026, 3, 1, 18, 14, 0, 0, time.UTC)},
	}
}

func pizza(n int) wire.Item {
	return wire.Item{
		Quantity: n, Name: "Pizza Margherita", Modifiers: []string{"NO basil", "EXTRA mozzarella"},
		Allergens: []string{"gluten", "milk"}, Note: "well done", Course: "2", Seat: "1",
	}
}

// kind is a kind of paper that a kitchen sees.
type kind struct {
	name string
	lay  func(layout.Options) document.Document
}

// ticket is a kind of ticket: dinner, changed.
func ticket(name string, change func(*layout.Input)) kind {
	return kind{name, func(o layout.Options) document.Document {
		in := dinner(o)
		change(&in)
		return layout.Ticket(in)
	}}
}

var kinds = []kind{
	ticket("new", func(*layout.Input) {}),
	ticket("change", func(in *layout.Input) {
		in.Event.ID, in.Content.Kind = "17-4711/2@grill", wire.KindChange
		in.Event.Gaps = "40:moved:bar,39:cancelled,38:dead,37:earlier"
		in.Event.Changes = &wire.Changes{
			Added:   []wire.Item{{Quantity: 12, Name: "Crème brûlée"}},
			Removed: []wire.Item{{Quantity: 3, Name: "Tiramisù", Allergens: []string{"eggs"}}},
			Altered: []wire.Item{pizza(2)}, Was: []wire.Item{pizza(1)},
		}
	}),
	ticket("void", func(in *layout.Input) { in.Content.Kind = wire.KindVoid }),
	ticket("void-everything", func(in *layout.Input) {
		in.Content.Kind, in.Content.Items, in.Content.Note = wire.KindVoid, nil, ""
	}),
	ticket("reprint", func(in *layout.Input) {
		in.Event.As, in.Event.Attempt = wire.KindReprint, 3
		in.Event.Marks = []wire.Mark{wire.MarkReprint, wire.MarkLate}
	}),
	ticket("notice", func(in *layout.Input) {
		in.Content = wire.Content{ID: "n/1", Kind: wire.KindNotice, Note: "Fryer 2 is off until 20:00"}
	}),
	ticket("possible-duplicate", func(in *layout.Input) { in.Facts.PossibleDuplicate = true }),
	ticket("moved", func(in *layout.Input) {
		in.Event.From, in.Event.Marks = "bar", []wire.Mark{wire.MarkMoved}
		in.Content.Items = in.Content.Items[1:]
	}),
	ticket("facts", func(in *layout.Input) {
		in.Event.Previous, in.Event.AlsoAt = wire.PreviousUnknown, "bar,pass"
		in.Event.Marks = []wire.Mark{wire.MarkMoved, wire.MarkPossibleDuplicate}
		in.Event.From = "bar"
		in.Facts = layout.Facts{
			AfterPowerCut: true, OlderThan: 3, Missing: "17-4711/1@grill", PossibleDuplicate: true,
			IgnoreAbove: []layout.Above{{Number: "39", Reason: "moved", MovedTo: "bar"}},
		}
		in.Content.DueAt, in.Content.Items = "2027-12-02T18:45:00Z", in.Content.Items[1:]
	}),
	ticket("copy", func(in *layout.Input) {
		in.Event.CopyOf, in.Event.Previous, in.Content.Items = "grill", "", in.Content.Items[1:]
	}),
	{"layout-failed", func(o layout.Options) document.Document {
		in := dinner(o)
		in.Facts.PossibleDuplicate = true
		return layout.Plain(in, "panic: index out of range")
	}},
	{"slip-backlog", func(o layout.Options) document.Document {
		return layout.Backlog([]layout.Waiting{
			{Number: "41", Order: "Anna", Ticket: "17-4711/1@grill", Age: 42 * time.Minute},
			{Number: "42", Order: "7", Ticket: "b/1@grill", Age: 65 * time.Minute},
		}, o)
	}},
	{"slip-moved", func(o layout.Options) document.Document {
		return layout.Moved([]layout.Above{
			{Number: "41", Reason: "moved", MovedTo: "bar"}, {Number: "42", Reason: "cancelled"},
			{Number: "43", Reason: "dead"},
		}, 3, true, o)
	}},
	{"slip-memory", func(o layout.Options) document.Document {
		return layout.Memory("+49 30 1234", o)
	}},
	{"slip-incomplete", layout.Incomplete},
	{"slip-complete", layout.Complete},
	{"slip-pairing", func(o layout.Options) document.Document {
		return layout.Pairing{Fingerprint: "abcd-efgh-2345-6723", Address: "https://broker.example",
			Problem: "the code has ended"}.Slip(o)
	}},
	{"slip-test", func(o layout.Options) document.Document {
		return layout.Test{Device: "dev-abc", Printer: "grill", Station: "Grill", Profile: "safe-80",
			Unit: "TM-T88V", Fence: "confirmed", Version: "1.0"}.Slip(o)
	}},
}
