package layout

import (
	"strings"
	"testing"

	"chit/printer/document"
)

// render is the proof of a document for golden files.
func render(_ *testing.T, d document.Document, columns int) string { return Proof(d, columns) }

func TestAProofShowsEveryKindOfBlock(t *testing.T) {
	long := document.Line{Indent: 1, Hang: 2, Spans: []document.Span{
		{Text: "soup of the day "}, {Text: "abcdefghijklmnopqrstu"},
	}}
	d := document.Document{Blocks: []document.Block{
		document.Rule{}, document.Rule{Char: '='}, document.Feed{Lines: 1}, long,
		document.Text("right", document.Style{Strike: true}),
		document.Line{Align: document.Right, Spans: []document.Span{{Text: "right"}}},
		document.Line{Align: document.Centre, Spans: []document.Span{
			{Text: " 2 ", NoBreak: true, Style: document.Style{Width: 2, Height: 2, Inverse: true}},
		}},
		document.Pair{Left: []document.Span{{Text: "a"}}, Right: []document.Span{{Text: "b"}}},
		document.Pair{Left: []document.Span{{Text: "left text"}},
			Right: []document.Span{{Text: "right text"}}},
		document.Box{Lines: []document.Line{document.Text("nuts and milk", tall)}},
		document.QR{Data: "chit:o/1", Beside: []document.Line{document.Text("o/1", plain)}},
	}}
	want := strings.TrimPrefix(`
   |----------------
   |================
   |
   | soup of the day
   |  abcdefghijklmn
   |  opqrstu
   |~right~
   |           right
2x2|     ▌ 2 ▐
   |a              b
   |left text
   |      right text
   |+--------------+
1x2|| nuts and     |
1x2|| milk         |
   |+--------------+
   |   [chit:o/1]
   |o/1
`, "\n")
	if got := Proof(d, 16); got != want {
		t.Errorf("got:\n%s", got)
	}
}
