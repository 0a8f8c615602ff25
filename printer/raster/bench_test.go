package raster

import (
	"fmt"
	"strings"
	"testing"

	"chit/printer/document"
)

// ticketLines is a ticket of 40 lines of which every one is drawn: all the scripts of readings,
// with quantities in front.
func ticketLines() []document.Line {
	var out []document.Line
	for len(out) < 40 {
		for _, r := range readings {
			for _, text := range strings.Split(strings.TrimSpace(r.text), "\n") {
				if len(out) == 40 {
					return out
				}
				out = append(out, document.Line{Hang: 4, Spans: []document.Span{
					{Text: fmt.Sprintf(" %d ", len(out)%3+1), Style: document.Style{Inverse: true}},
					{Text: " "}, {Text: text, Style: document.Style{Bold: len(out)%4 == 0}},
				}})
			}
		}
	}
	return out
}

// BenchmarkTicket draws a ticket of 40 lines on 80 mm, every line as dots.
func BenchmarkTicket(b *testing.B) {
	lines := ticketLines()
	drawer := New(Fonts{})
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, err := drawer.Line(line, grid80); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkFirstTicket is the same by a drawer that has read no font yet.
func BenchmarkFirstTicket(b *testing.B) {
	lines := ticketLines()
	b.ReportAllocs()
	for b.Loop() {
		drawer := New(Fonts{})
		for _, line := range lines {
			if _, err := drawer.Line(line, grid80); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkOneScript draws 40 lines of one script each.
func BenchmarkOneScript(b *testing.B) {
	for _, r := range readings {
		b.Run(r.script, func(b *testing.B) {
			texts := strings.Split(strings.TrimSpace(r.text), "\n")
			drawer := New(Fonts{})
			b.ReportAllocs()
			for b.Loop() {
				for i := range 40 {
					line := document.Text(texts[i%len(texts)], document.Style{})
					if _, err := drawer.Line(line, grid80); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
