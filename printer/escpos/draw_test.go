package escpos

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

// scribe is a drawer whose drawings can be read back: each image holds its text as bytes between
// 0xFE and 0xFF, which no UTF-8 has.
type scribe struct {
	asked []string
	grids []Grid
	err   error
	noise []byte // put behind each text, to be a nuisance
	lost  []rune
	tall  bool // every row twice, which needles print as one
}

func (s *scribe) Line(line document.Line, grid Grid) ([]Image, error) {
	var text strings.Builder
	for _, span := range line.Spans {
		text.WriteString(span.Text)
	}
	return s.draw(text.String(), grid)
}

func (s *scribe) Pair(pair document.Pair, grid Grid) ([]Image, error) {
	var text strings.Builder
	for _, span := range append(slices.Clone(pair.Left), pair.Right...) {
		text.WriteString(span.Text)
	}
	return s.draw(text.String(), grid)
}

func (s *scribe) draw(text string, grid Grid) ([]Image, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.asked, s.grids = append(s.asked, text), append(s.grids, grid)
	stride, whole := (grid.WidthDots+7)/8, grid.WidthDots/8
	data := append(append([]byte{0xFE}, text...), 0xFF)
	data = append(data, s.noise...)
	step := 1
	if s.tall {
		step = needleRows
	}
	rows := max((len(data)+whole-1)/whole*step, grid.LineDots)
	dots := make([]byte, rows*stride)
	for y := 0; len(data) > 0; y += stride * step {
		n := copy(dots[y:y+whole], data)
		copy(dots[y+(step-1)*stride:], data[:n])
		data = data[n:]
	}
	return []Image{{
		WidthDots: grid.WidthDots, HeightDots: rows, Missing: s.lost, Rows: dots,
	}}, nil
}

// messages reads back what a scribe wrote.
func messages(dots []byte) []string {
	var all []string
	for {
		from := bytes.IndexByte(dots, 0xFE)
		if from < 0 {
			return all
		}
		to := bytes.IndexByte(dots[from:], 0xFF)
		if to < 0 {
			return all
		}
		all = append(all, string(dots[from+1:from+to]))
		dots = dots[from+to+1:]
	}
}

// crop takes the whole bytes between two columns of dots out of rows of a paper of that width.
func crop(dots []byte, width, from, to int) []byte {
	stride := (width + 7) / 8
	var out []byte
	for ; len(dots) >= stride; dots = dots[stride:] {
		row := make([]byte, (to-from)/8)
		for x := range len(row) * 8 {
			if dots[(from+x)/8]&(0x80>>((from+x)%8)) != 0 {
				row[x/8] |= 0x80 >> (x % 8)
			}
		}
		out = append(out, row...)
	}
	return out
}

func withImages(p profile.Profile) profile.Profile {
	p.Images = profile.ImagesRaster
	return p
}

func TestWhatNoPageSpellsIsDrawnInItsPlace(t *testing.T) {
	p := withImages(profile.Safe80())
	s := &scribe{}
	d := doc(document.Text("2 x rice", document.Style{}),
		document.Text("no 花生 \x1B@", document.Style{}), document.Text("after", document.Style{}))
	paper, err := Encoder{Profile: p, Drawer: s}.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	read := readSheet(t, paper.Body, p)
	if read.text != "2 x rice\n\uFFFCafter\n" {
		t.Errorf("paper reads %q", read.text)
	}
	if got := fmt.Sprint(messages(read.dots)); got != "[no 花生 [U+001B]@]" {
		t.Errorf("drawn %s", got)
	}
	if !paper.Raster || paper.LineFeeds != 2+p.CutFeed || string(paper.Replaced) != "\x1B" {
		t.Errorf("raster %t, %d line feeds, replaced %q", paper.Raster, paper.LineFeeds,
			string(paper.Replaced))
	}
	if want := (2+p.CutFeed)*lineDots + drawnLineDots; paper.HeightDots != want {
		t.Errorf("%d dots high, want %d", paper.HeightDots, want)
	}
	want := Grid{Columns: 48, WidthDots: 576, CellDots: 12, LineDots: 30}
	if s.grids[0] != want {
		t.Errorf("grid %+v, want %+v", s.grids[0], want)
	}
}

func TestAWordThatCannotBePrintedRefusesTheDocument(t *testing.T) {
	broken := errors.New("no fonts")
	images := withImages(profile.Safe80())
	none := profile.Safe80()
	none.Images = profile.ImagesNone
	line := document.Line{Spans: []document.Span{{Text: "no "}, {Text: "花生"}}}
	for _, c := range []struct {
		name  string
		e     Encoder
		block document.Block
		says  string
	}{
		{"no drawer", Encoder{Profile: images}, line, "block 1: span 1: [U+82B1 U+751F]"},
		{"no images", Encoder{Profile: none, Drawer: &scribe{}}, line, "[U+82B1 U+751F]"},
		{"a broken drawer", Encoder{Profile: images, Drawer: &scribe{err: broken}}, line, "no fonts"},
		{"a pair", Encoder{Profile: none}, document.Pair{Left: line.Spans},
			"left span 1: [U+82B1 U+751F]"},
		{"the right of a pair", Encoder{Profile: none}, document.Pair{Right: line.Spans},
			"right span 1: [U+82B1 U+751F]"},
		{"a box", Encoder{Profile: none}, document.Box{Lines: []document.Line{{}, line}},
			"box line 1 span 1: [U+82B1 U+751F]"},
		{"beside a code", Encoder{Profile: none},
			document.QR{Data: "A", Beside: []document.Line{line}}, "beside line 0 span 1: [U+82B1"},
	} {
		paper, err := c.e.Encode(doc(document.Text("A", document.Style{}), c.block))
		if !errors.Is(err, ErrUnprintable) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, ErrUnprintable, c.says)
		}
		if paper.Body != nil {
			t.Errorf("%s: bytes beside an error", c.name)
		}
		c.e.Substitute = true
		paper, err = c.e.Encode(doc(c.block))
		if err != nil || string(paper.Replaced) != "花生" {
			t.Errorf("%s, substituted: %v, replaced %q", c.name, err, string(paper.Replaced))
		}
		if !bytes.Contains(paper.Body, []byte("[U+82B1 U+751F]")) {
			t.Errorf("%s, substituted: %q", c.name, paper.Body)
		}
	}
}

func TestWhatNoFontHasIsListed(t *testing.T) {
	paper, err := Encoder{Profile: withImages(profile.Safe80()), Drawer: &scribe{lost: []rune{'生'}}}.
		Encode(doc(document.Text("花生", document.Style{})))
	if err != nil || string(paper.Replaced) != "生" {
		t.Errorf("%v, replaced %q", err, string(paper.Replaced))
	}
}

func TestWhatIsStruckIsDrawnOrSaidInSigns(t *testing.T) {
	strike := document.Style{Strike: true}
	d := doc(document.Line{Spans: []document.Span{{Text: "2 x ", Style: strike},
		{Text: "fries", Style: strike}, {Text: " (was 3)"}}})
	p := profile.Safe80()
	paper, err := Encode(d, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := printed(t, paper, p); got != "--- 2 x fries --- (was 3)\n" {
		t.Errorf("in signs: %q", got)
	}
	s := &scribe{}
	paper, err = Encoder{Profile: withImages(p), Drawer: s}.Encode(d)
	if err != nil || fmt.Sprint(s.asked) != "[2 x fries (was 3)]" || !paper.Raster {
		t.Errorf("drawn: %v, %q", err, s.asked)
	}
	s.err = errors.New("no fonts")
	paper, err = Encoder{Profile: withImages(p), Drawer: s}.Encode(d)
	if err != nil || paper.Raster || printed(t, paper, p) != "--- 2 x fries --- (was 3)\n" {
		t.Errorf("by a broken drawer: %v", err)
	}
}

func TestADrawingIsRedWhereAllItSaysIsRed(t *testing.T) {
	p := withImages(profile.Safe80())
	p.Red = true
	red := document.Style{Red: true}
	for _, c := range []struct {
		spans []document.Span
		want  bool
	}{
		{[]document.Span{{Text: "花", Style: red}, {Text: " "}, {Text: "生", Style: red}}, true},
		{[]document.Span{{Text: "花", Style: red}, {Text: "生"}}, false},
	} {
		paper, err := Encoder{Profile: p, Drawer: &scribe{}}.Encode(doc(document.Line{Spans: c.spans}))
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(paper.Body, []byte{0x1B, 0x72, 1, 0x1D, 0x76, 0x30}); got != c.want {
			t.Errorf("%v: red %t", c.spans, got)
		}
	}
}

func TestADrawerThatDrawsNonsenseIsNotBelieved(t *testing.T) {
	for _, images := range [][]Image{
		nil, {{WidthDots: 8, HeightDots: 2, Rows: []byte{1}}}, {{WidthDots: 0, HeightDots: 1}},
	} {
		if err := whole(images); err == nil {
			t.Errorf("%v is taken", images)
		}
	}
}

func TestAStripIsNeverLargerThanThePrinterTakes(t *testing.T) {
	for _, c := range []struct {
		strip, rows int
	}{{0, 48}, {4096, 48}, {2048, 24}, {1 << 20, 48}, {1000, 13}, {80, 1}} {
		p := withImages(profile.Safe80())
		p.StripBytes = c.strip
		full := slices.Repeat([]byte{0xAA}, 72)
		paper, err := Encoder{Profile: p, Drawer: &scribe{noise: slices.Repeat(full, 200)}}.
			Encode(doc(document.Text("花生", document.Style{})))
		if err != nil {
			t.Fatal(err)
		}
		commands, err := new(Decoder).Write(paper.Body)
		if err != nil {
			t.Fatal(err)
		}
		first := true
		for _, command := range commands {
			if command.Op != OpRaster {
				continue
			}
			if len(command.Raw) > stripBytes(p) || first && command.Args[2] != c.rows {
				t.Errorf("strips of %d: one of %d bytes and %d rows", c.strip, len(command.Raw),
					command.Args[2])
			}
			first = false
		}
	}
	p := withImages(profile.Safe80())
	p.StripBytes = 79
	if _, err := Encode(doc(), p); !errors.Is(err, ErrProfile) {
		t.Errorf("a strip without room for a row: %v", err)
	}
}

func TestNoDrawingHoldsALiveCommand(t *testing.T) {
	for _, noise := range [][]byte{
		{0x10, 0x04, 0x01}, {0x10, 0x05, 0x02}, {0x10, 0x14, 0x01, 0x00, 0x01}, ClearBuffers(),
		{0x10, 0x10, 0x04, 0x04}, {0x10, 0x14, 0x03, 0x10, 0x04, 0x01, 0, 0},
		slices.Repeat([]byte{0x10, 0x04, 0x07}, 1500), slices.Repeat([]byte{0x10, 0x14, 0x03}, 1500),
		slices.Repeat([]byte{0x10, 0x05}, 1500),
	} {
		for _, images := range []profile.Images{profile.ImagesRaster, profile.ImagesColumn} {
			p := profile.Safe80()
			p.Images, p.CutFeed = images, 0
			paper, err := Encoder{Profile: p, Drawer: &scribe{noise: noise}}.
				Encode(doc(document.Text("花生", document.Style{})))
			if err != nil {
				t.Fatalf("% X: %v", noise[:3], err)
			}
			for after := range 256 { // Whatever byte follows the document.
				if at := LiveCommands(append(slices.Clone(paper.Body), byte(after), 0, 0)); len(at) > 0 {
					t.Fatalf("% X by %d: live at %v", noise[:3], images, at)
				}
			}
			read := readSheet(t, paper.Body, p)
			if got := fmt.Sprint(messages(read.dots)); got != "[花生]" {
				t.Errorf("% X by %d: reads %s", noise[:3], images, got)
			}
		}
	}
}

func TestDefusingAddsOneDotBesideAnother(t *testing.T) {
	dots := []byte{0x10, 0x04, 0x01, 0x10, 0x41, 0x01, 0x10}
	defuse(dots)
	if got := fmt.Sprintf("% X", dots); got != "18 04 01 10 41 01 18" {
		t.Error(got)
	}
}

func TestColumnsOfDotsPrintTheSamePicture(t *testing.T) {
	p := profile.Safe80()
	p.Images = profile.ImagesColumn
	paper, err := Encoder{Profile: p, Drawer: &scribe{}}.Encode(doc(
		document.Text("A", document.Style{}), document.Text("花生", document.Style{}),
		document.Text("B", document.Style{})))
	if err != nil {
		t.Fatal(err)
	}
	read := readSheet(t, paper.Body, p)
	if got := fmt.Sprint(messages(read.dots)); got != "[花生]" {
		t.Errorf("reads %s", got)
	}
	// 30 rows are two bands, each ended by a line feed.
	if paper.LineFeeds != 4+p.CutFeed {
		t.Errorf("%d line feeds", paper.LineFeeds)
	}
	if !bytes.Contains(paper.Body, []byte{0x0A, 0x1B, 0x32, 'B', 0x0A}) {
		t.Errorf("the spacing is not put back: % X", paper.Body)
	}
}
