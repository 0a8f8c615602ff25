package judges

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"chit/printer/profile"
	"chit/printer/virtual"
)

// receipts are documents of ours in receiptline's markdown: titles in three sizes, tables with and
// without rules, ruled and indented, columns to the left, right and in the middle, marks, cuts, an
// order as a kitchen wants it, words in many languages.
var receipts = map[string]string{
	"order": "^^^GRILL\n\n\"\"^^Order 42`NEW`\n\nTable 7 | Guests 3\n---\n{w:4 *; a:l}\n" +
		"^2x | Margherita\n | + extra basil\n1x | Crème brûlée\n | `NO NUTS`\n{w:auto; a:c}\n=\n" +
		"thank you\n",
	"bill": "^^RECEIPT\n\n01/02/2026, 11:22:33\n{b:line; w:* 4 8}\nItem | No | Price\n---\n" +
		"Asparagus | 1 | 1.00\nBroccoli | 20 | 40.00\n\"Carrot\" | 3 | 3.00\n{b:space; w:auto}\n---\n" +
		"^TOTAL | ^44.00\n_VAT 7%_ | 2.88\n",
	"rules": "{b:line; w:6 6 6}\na | b | c\n---\n1 | 2 | 3\n{w:12 *}\n---\nleft | right\n" +
		"{b:none; a:r}\n" +
		"flush right |\n| flush left\nmiddle\n",
	"languages": "Grüße aus Köln |\nÀ l’œuf ½ |\n¡Señor! ¿Qué? |\n" +
		"Łódź žluťoučký |\nПривет, мир |\n4 € § |\n",
	"sizes": "^a\n^^b\n^^^c\n^^^^d\n^^^^^e\n^^^^^^f\n^^^^^^^g\nnormal\n",
	"marks": "~escaped \\| bar\\~ |\nplain _under_ \"bold\" `mark` ^wide ^^tall ^^^big |\n" +
		"| right _u_ ^w\n",
}

// family is one command set of receiptline and the printer that understands it.
type family struct {
	command  string
	encoding string
	kanji    string
	impact   bool
}

var families = []family{
	{command: "escpos", encoding: "multilingual"}, {command: "epson", encoding: "multilingual"},
	{command: "sii", encoding: "multilingual"}, {command: "citizen", encoding: "multilingual"},
	{command: "fit", encoding: "multilingual"}, {command: "generic", encoding: "multilingual"},
	{command: "impact", encoding: "multilingual", impact: true},
	{command: "impactb", encoding: "multilingual", impact: true},
}

// ideographic are the same command sets with the encodings of ROMs.
var ideographic = []family{
	{command: "epson", encoding: "shiftjis", kanji: "SHIFT-JIS"},
	{command: "epson", encoding: "gb18030", kanji: "GB18030"},
	{command: "generic", encoding: "big5", kanji: "BIG5"},
	{command: "citizen", encoding: "ksc5601", kanji: "EUC-KR"},
	{command: "epson", encoding: "tis620"},
}

// columns is the width of the paper in characters.
const columns = 42

// cell is the width of one column in dots: impactb prints in font B.
func (f family) cell() int {
	if f.command == "impactb" {
		return 9
	}
	return 12
}

// printer is a printer with the pages that receiptline switches to.
func (f family) printer() virtual.Config {
	c := virtual.ConfigFor(profile.Profile{Columns: columns, WidthDots: 576, CutFeed: 4, Cutter: true,
		Pages: []profile.Page{{Number: 0, Encoding: "CP437"}, {Number: 1, Encoding: virtual.Katakana},
			{Number: 3, Encoding: "CP860"}, {Number: 4, Encoding: "CP863"}, {Number: 5, Encoding: "CP865"},
			{Number: 16, Encoding: "WINDOWS-1252"}, {Number: 17, Encoding: "CP866"},
			{Number: 18, Encoding: "CP852"}, {Number: 19, Encoding: "CP858"},
			{Number: 21, Encoding: "CP874"}}})
	c.Kanji, c.Impact = f.kanji, f.impact
	c.Can.Red = f.impact
	return c
}

// job is one document for one printer, and how to set it.
type job struct {
	name, document string
	family         family
	spacing        bool
	upsideDown     bool
}

// judged is what receiptline.mjs says about one job.
type judged struct {
	Text   string
	Stream []byte
}

// ask lets receiptline make documents.
func ask(t *testing.T, jobs []job) []judged {
	t.Helper()
	var questions []map[string]any
	for _, j := range jobs {
		questions = append(questions, map[string]any{"document": j.document,
			"printer": map[string]any{"command": j.family.command, "encoding": j.family.encoding,
				"cpl": columns, "spacing": j.spacing, "cutting": true, "upsideDown": j.upsideDown,
				"gradient": false, "gamma": 1}})
	}
	var answers []judged
	run(t, "receiptline.mjs", questions, &answers)
	if len(answers) != len(jobs) {
		t.Fatalf("%d answers to %d questions", len(answers), len(jobs))
	}
	return answers
}

// grid sets a line into columns as receiptline's own text does: a wide character takes two, an
// enlarged one is followed by as many blanks as it is wider, and half a column counts as a whole
// one.
func grid(line virtual.Line, cell int) string {
	var cells []rune
	for _, r := range line.Runs {
		count := utf8.RuneCountInString(r.Text)
		for i, char := range []rune(r.Text) {
			if char == ' ' {
				continue
			}
			width := r.Width / count
			at := (r.X + i*width + cell/2) / cell
			for len(cells) <= at {
				cells = append(cells, ' ')
			}
			cells[at] = char
			if width >= 2*r.Style.Width*cell {
				cells = append(cells[:at+1], wideTail) // The second column of an ideograph.
			}
		}
	}
	return strings.ReplaceAll(string(cells), string(wideTail), "")
}

// wideTail marks the second column of a wide character while a line is put together.
const wideTail = '\uE000'

// readable is the paper as receiptline writes it as text. What differs by nature is made the same
// on both sides, here and in normal: rules are drawn with other signs, symbols and images have no
// text, empty lines depend on the paper feed.
func readable(sheets []virtual.Sheet, cell int) string {
	var b strings.Builder
	for _, sheet := range sheets {
		for _, line := range sheet.Lines {
			if line.Y >= 0 {
				b.WriteString(grid(line, cell) + "\n")
			}
		}
	}
	return normal(b.String())
}

// normal is a text without empty lines, without blanks at the ends of lines, and with one kind of
// rule.
func normal(text string) string {
	rules := strings.NewReplacer("─", "-", "│", "|", "┌", "+", "┐", "+", "└", "+", "┘", "+",
		"├", "+", "┤", "+", "┬", "+", "┴", "+", "┼", "+", "╭", "+", "╮", "+", "╰", "+", "╯", "+")
	var lines []string
	for _, line := range strings.Split(rules.Replace(text), "\n") {
		if line = strings.TrimRightFunc(line, unicode.IsSpace); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// objectionsMax is how many of a printer's objections a failure shows.
const objectionsMax = 5

func noObjection(t *testing.T, stream []byte, objections []virtual.Mark) {
	t.Helper()
	for i, o := range objections {
		if i == objectionsMax {
			t.Errorf("and %d more", len(objections)-i)
			return
		}
		end := min(len(stream), int(o.Offset)+12)
		t.Errorf("byte %d, % X: %s", o.Offset, stream[min(int(o.Offset), end):end], o.Text)
	}
}

func TestReceiptlineIsUnderstoodInEveryFamilyAndReadsAsItsOwnText(t *testing.T) {
	var jobs []job
	for name, document := range receipts {
		for _, f := range families {
			if f.impact && name == "sizes" {
				continue // Needle printers have two sizes, receiptline's text has six.
			}
			for _, spacing := range []bool{true, false} {
				jobs = append(jobs, job{name: fmt.Sprintf("%s %s spacing %v", name, f.command, spacing),
					document: document, family: f, spacing: spacing})
			}
		}
	}
	compare(t, jobs)
}

// compare prints what receiptline makes of each job: nothing may be unknown, and the paper must
// read as its own text does.
func compare(t *testing.T, jobs []job) {
	t.Helper()
	for i, answer := range ask(t, jobs) {
		t.Run(jobs[i].name, func(t *testing.T) {
			sheets, objections := paper(t, jobs[i].family.printer(), answer.Stream)
			noObjection(t, answer.Stream, objections)
			if got, want := readable(sheets, jobs[i].family.cell()), normal(answer.Text); got != want {
				t.Errorf("the paper reads\n%s\nreceiptline says\n%s", got, want)
			}
		})
	}
}

func TestReceiptlineInTheLanguagesOfIdeographsReadsAsItsOwnText(t *testing.T) {
	var jobs []job
	for i, document := range []string{
		"^^^注文 42\n\n二つ | 寿司\n---\nｶﾅ 税 | ¥500\n", "^^订单 42\n\n两份 | 宫保鸡丁\n---\n_不要花生_ |\n",
		"^^訂單 42\n\n兩份 | 飯\n---\n_不要花生_ |\n", "^^주문 42\n\n비빔밥 | 둘\n---\n_땅콩 없이_ |\n",
		"^^42\n\nขาว | 2\n---\n_นม_ |\n",
	} {
		jobs = append(jobs, job{name: ideographic[i].encoding, document: document,
			family: ideographic[i], spacing: true})
	}
	compare(t, jobs)
}

func TestAScannerReadsTheCodesThatReceiptlineSends(t *testing.T) {
	var jobs []job
	for _, code := range []struct{ command, want string }{
		{"{c:4006381333931; o:ean,3,72,hri}", "EAN-13:4006381333931"},
		{"{c:96385074; o:ean,3,72}", "EAN-8:96385074"},
		{"{c:036000291452; o:upc,3,72,hri}", "UPC-A:036000291452"},
		{"{c:04252614; o:upc,3,72}", "UPC-E:04252614"},
		{"{c:CHIT-42; o:code39,2,72,hri}", "CODE-39:CHIT-42"},
		{"{c:12345670; o:itf,2,72}", "I2/5:12345670"},
		{"{c:A123456B; o:codabar,2,72}", "Codabar:A123456B"},
		{"{c:CHIT93; o:code93,2,72}", "CODE-93:CHIT93"},
		{"{c:Chit 42/123456; o:code128,2,72,hri}", "CODE-128:Chit 42/123456"},
		{"{c:https://chit.example/42; o:qrcode,4,m}", "QR-Code:https://chit.example/42"},
	} {
		for _, f := range families {
			// Needle printers draw no codes, and Seiko's name the signs of Code 93 and 128 by
			// number.
			if f.impact || f.command == "sii" && (strings.HasPrefix(code.want, "CODE-93") ||
				strings.HasPrefix(code.want, "CODE-128")) {
				continue
			}
			jobs = append(jobs, job{name: code.want, document: "\n" + code.command + "\n\n",
				family: f, spacing: true})
		}
	}
	for i, answer := range ask(t, jobs) {
		got := codes(t, jobs[i].family.printer(), string(answer.Stream))
		if !slices.Equal(got, []string{jobs[i].name}) {
			t.Errorf("%s: read %q, want %q", jobs[i].family.command, got, jobs[i].name)
		}
	}
}

// picture is black and white, 41 by 50 dots, so that neither bytes nor bands of dots fit it.
func picture() (png64 string, bits []byte, width, height int) {
	width, height = 41, 50
	stride := (width + 7) / 8
	bits = make([]byte, stride*height)
	m := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetGray(x, y, color.Gray{Y: 255})
			if (x*x+3*y)%7 < 3 {
				m.SetGray(x, y, color.Gray{})
				bits[y*stride+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // A picture in memory, of a size that is known.
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), bits, width, height
}

func TestPicturesOfReceiptlineComeOutDotByDot(t *testing.T) {
	encoded, bits, width, height := picture()
	var jobs []job
	for _, f := range families {
		for _, upsideDown := range []bool{false, true} {
			jobs = append(jobs, job{name: fmt.Sprintf("%s %v", f.command, upsideDown), family: f,
				document: "above\n{i:" + encoded + "}\nbelow\n", spacing: true, upsideDown: upsideDown})
		}
	}
	for i, answer := range ask(t, jobs) {
		t.Run(jobs[i].name, func(t *testing.T) {
			sheets, objections := paper(t, jobs[i].family.printer(), answer.Stream)
			noObjection(t, answer.Stream, objections)
			if len(sheets) != 1 || len(sheets[0].Images) == 0 {
				t.Fatalf("%d sheets", len(sheets))
			}
			if jobs[i].family.impact {
				// Eight needles: a band of columns for each eight rows.
				if n := len(sheets[0].Images); n != (height+7)/8 {
					t.Errorf("%d bands, want %d", n, (height+7)/8)
				}
				return
			}
			// Fujitsu's printers turn images by themselves, says receiptline.
			turned := jobs[i].upsideDown && jobs[i].family.command != "fit"
			got := sheets[0].Images[0]
			for y := range height {
				for x := range width {
					fromX, fromY := x, y
					if turned {
						fromX, fromY = width-1-x, height-1-y
					}
					want := bits[fromY*((width+7)/8)+fromX/8]&(0x80>>(fromX%8)) != 0
					if dark := got.Bits[y*((got.Width+7)/8)+x/8]&(0x80>>(x%8)) != 0; dark != want {
						t.Fatalf("dot %d,%d is dark: %v, want %v", x, y, dark, want)
					}
				}
			}
		})
	}
}

// Upside down, for printers that hang: the same words, from the last line to the first.
func TestReceiptlineUpsideDownSaysTheSameFromBelow(t *testing.T) {
	var jobs []job
	for name, document := range receipts {
		for _, f := range families {
			if !f.impact {
				jobs = append(jobs, job{name: name + " " + f.command, document: document, family: f,
					spacing: true, upsideDown: true})
			}
		}
	}
	for i, answer := range ask(t, jobs) {
		sheets, objections := paper(t, jobs[i].family.printer(), answer.Stream)
		noObjection(t, answer.Stream, objections)
		got, want := strings.Fields(readable(sheets, 12)), strings.Fields(normal(answer.Text))
		slices.Sort(got)
		slices.Sort(want)
		if len(sheets) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: the paper says\n%s\nreceiptline says\n%s", jobs[i].name, readable(sheets, 12),
				answer.Text)
		}
		for _, line := range sheets[0].Lines {
			if !line.Upside {
				t.Errorf("%s: a line stands upright", jobs[i].name)
			}
		}
	}
}
