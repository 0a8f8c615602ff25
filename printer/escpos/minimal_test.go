package escpos

import (
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

// handMade is an everyday ticket and the shortest stream for it that a person writes by hand: text,
// LF, and a command only where a letter looks other than the one before. Both leave out what stands
// before the first letter and after the last line feed.
func handMade() (document.Document, string) {
	mark := document.Style{Width: 2, Height: 2, Bold: true, Inverse: true}
	tall := document.Style{Height: 2, Bold: true}
	bold := document.Style{Bold: true}
	span := func(text string, style document.Style) document.Span {
		return document.Span{Text: text, Style: style}
	}
	var d document.Document
	var hand strings.Builder
	d.Add(
		document.Line{Align: document.Centre, Spans: []document.Span{span(" GRILL ", mark)}},
		document.Line{Align: document.Centre, Spans: []document.Span{
			span("Maria", document.Style{Width: 4, Height: 4, Bold: true})}},
		document.Pair{Left: []document.Span{span("DINE-IN", tall)},
			Right: []document.Span{span("Table 12", tall), span(" - 4 guests", document.Style{})}},
		document.Rule{},
	)
	const small, four, high = "\x1D!\x00", "\x1D!\x33", "\x1D!\x01"
	const boldOff, inverse, upright = "\x1BE\x00", "\x1DB\x01", "\x1DB\x00"
	const doubleBold, usual = "\x1B!\x38", "\x1B!\x00" // Both at once are shorter.
	hand.WriteString("\x1Ba\x01" + doubleBold + inverse + " GRILL \n" +
		four + upright + "Maria\n" +
		"\x1Ba\x00" + high + "DINE-IN" + strings.Repeat(" ", 22) + "Table 12" +
		usual + " - 4 guests\n" + strings.Repeat("-", 48) + "\n")
	for _, item := range []struct{ count, name, without, note string }{
		{" 2 ", "Margherita", "- no basil", `"cut in eight"`},
		{" 3 ", "Spaghetti alla carbonara", "- without bacon", `"the guest waits outside"`},
		{" 2 ", "Caesar salad", "- dressing on the side", `"for the child"`},
		{" 2 ", "Tiramisu", "- no cocoa", `"birthday"`},
		{" 4 ", "Mineral water", "- no ice", `"two glasses"`},
		{" 2 ", "Grilled vegetables", "- no aubergine", `"very hot please"`},
	} {
		d.Add(
			document.Line{Hang: 7, Spans: []document.Span{span(item.count, mark), {Text: " "},
				span(item.name, tall)}},
			document.Line{Indent: 7, Hang: 9, Spans: []document.Span{span(item.without, bold)}},
			document.Line{Indent: 7, Hang: 9, Spans: []document.Span{span(item.note, document.Style{})}},
		)
		hand.WriteString(doubleBold + inverse + item.count + high + upright + " " + item.name +
			"\n" + small + "       " + item.without + "\n" + boldOff + "       " + item.note + "\n")
	}
	d.Add(document.Rule{}, document.Text("4711/1@grill", document.Style{}))
	hand.WriteString(strings.Repeat("-", 48) + "\n4711/1@grill\n")
	return d, hand.String()
}

func TestPlainTextIsNoMoreThanATenthLongerThanByHand(t *testing.T) {
	p := profile.Safe80()
	p.CutFeed = 0
	d, hand := handMade()
	paper := mustEncode(t, d, p)
	ours := paper.Body[len(known)/3:]
	byHand := Paper{Body: append([]byte{}, paper.Body[:len(known)/3]...)}
	byHand.Body = append(byHand.Body, hand...)
	if got, want := printed(t, paper, p), printed(t, byHand, p); got != want {
		t.Fatalf("the hand-made stream is another ticket:\n%s\nwant\n%s", want, got)
	}
	if len(ours)*10 > len(hand)*11 {
		t.Errorf("%d bytes, by hand %d", len(ours), len(hand))
	}
	t.Logf("%d bytes, by hand %d", len(ours), len(hand))
}
