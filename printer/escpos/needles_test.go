package escpos

import (
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

// column is an image of one column, # for a black dot.
func column(dots string) Image {
	m := Image{WidthDots: 1, HeightDots: len(dots), Rows: make([]byte, len(dots))}
	for y, c := range dots {
		if c == '#' {
			m.Rows[y] = 0x80
		}
	}
	return m
}

func TestNeedlesKeepInkAndGaps(t *testing.T) {
	for _, c := range []struct{ square, needles string }{
		{"##..##..", "#.#."},
		{".##.....", ".#.."}, // Paired as the stroke stands, not as the row numbers do.
		{"#", "#"},           // Half a pair is a whole row of needles.
		{"##.......", "#...."},
		{".......#", "...#"}, // No dot gets lost,
		{"..#.....", ".#.."}, // however thin its stroke.
		{"###..###", "#.##"}, // A gap of two rows stays,
		{"#..###.#", "#.##"}, // whichever stroke can spare a row,
		{"#..#...#", "##.#"}, // unless neither can.
		{"####....####", "##..##"},
	} {
		got := squashed(column(c.square))
		var text strings.Builder
		for _, b := range got.Rows {
			text.WriteByte(".#"[b>>7])
		}
		if text.String() != c.needles || got.HeightDots != len(c.needles) {
			t.Errorf("%s: %s in %d rows, want %s", c.square, &text, got.HeightDots, c.needles)
		}
	}
}

func needles() profile.Profile {
	p := profile.Safe80()
	p.Impact, p.Images, p.Columns, p.WidthDots = true, profile.ImagesColumn, 33, 400
	p.CutFeed = 0
	return p
}

func TestACodeOfNeedlesHasHalfAsManyRowsAsColumns(t *testing.T) {
	p := needles()
	for module := moduleMin; module <= moduleMax; module++ {
		paper := mustEncode(t, doc(document.QR{Data: "1", Module: module}), p)
		even := module / 2 * 2
		for even*(21+2*quiet) > p.WidthDots {
			even -= 2
		}
		rows := (21 + 2*quiet) * even / 2
		if want := rowDots(p, rows); paper.HeightDots != want {
			t.Errorf("modules of %d: %d dots, want %d", module, paper.HeightDots, want)
		}
		read := readSheet(t, paper.Body, p)
		stride := p.WidthDots / 8
		side := 21 * even
		for y := 0; y+even/2 <= 21*even/2; y += even / 2 {
			from := (quiet*even/2 + y) * stride
			first := read.dots[from : from+stride]
			for more := 1; more < even/2; more++ {
				if string(first) != string(read.dots[from+more*stride:from+(more+1)*stride]) {
					t.Fatalf("modules of %d: row %d differs within a module", module, y+more)
				}
			}
		}
		corner := (p.WidthDots - side) / 2
		if first := quiet * even / 2 * stride; read.dots[first+corner/8]>>(7-corner%8)&1 != 1 {
			t.Errorf("modules of %d: no finder at the corner", module)
		}
	}
}

func TestALineOfNeedlesIsNoTallerThanItsLetters(t *testing.T) {
	p := needles()
	var d document.Document
	for range 20 {
		d.Add(document.Text("花生", document.Style{}))
	}
	paper, err := Encoder{Profile: p, Drawer: &scribe{tall: true}}.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	// 20 lines of 12 rows are 240 rows, 72 to the inch.
	if want := (240*203 + 71) / 72; paper.HeightDots != want {
		t.Errorf("%d dots, want %d", paper.HeightDots, want)
	}
}
