package judges

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"chit/printer/escpos/codepage"
	"chit/printer/profile"
	"chit/printer/virtual"
)

// models are the printers that the other encoder knows.
var models = []string{
	"bixolon-srp350", "bixolon-srp350iii", "citizen-ct-s310ii", "epson-tm-m30ii", "epson-tm-m30iii",
	"epson-tm-p20ii", "epson-tm-t20ii", "epson-tm-t20iii", "epson-tm-t20iv", "epson-tm-t70",
	"epson-tm-t70ii", "epson-tm-t88ii", "epson-tm-t88iii", "epson-tm-t88iv", "epson-tm-t88v",
	"epson-tm-t88vi", "epson-tm-t88vii", "fujitsu-fp1000", "hp-a779", "meow", "metapace-t1", "mpt-ii",
	"pos-5890", "pos-8360", "star-mc-print2", "star-mpop", "star-sm-l200", "star-tsp100iii",
	"star-tsp100iv", "star-tsp650", "star-tsp650ii", "sunmi-p2se", "sunmi-p3h", "sunmi-p3kh",
	"sunmi-p3mix", "sunmi", "xprinter-xp-n160ii", "xprinter-xp-t80q", "youku-58t",
}

// encodings are the other encoder's names of those code pages that both know.
var encodings = map[string]string{
	"cp437": "CP437", "cp850": "CP850", "cp852": "CP852", "cp855": "CP855", "cp858": "CP858",
	"cp860": "CP860", "cp863": "CP863", "cp865": "CP865", "cp866": "CP866",
	"iso8859-2": "ISO-8859-2", "epson/iso8859-2": "ISO-8859-2", "iso8859-7": "ISO-8859-7",
	"iso8859-15": "ISO-8859-15", "windows1250": "WINDOWS-1250", "windows1251": "WINDOWS-1251",
	"windows1252": "WINDOWS-1252", "windows1253": "WINDOWS-1253", "windows1254": "WINDOWS-1254",
	"windows1257": "WINDOWS-1257", "epson/katakana": virtual.Katakana,
}

// words are lines in several alphabets; a printer gets those that its pages can spell.
var words = []string{
	"2 x Crème brûlée", "Grüße, Señor Ångström", "Łódź, žluťoučký kůň", "Привет, борщ", "Καλημέρα",
	"Işık, ğ, ş", "Ķīselis, šķēles", "ação, maçã", "5 £ ½ ±",
}

// encoded is what encoder.mjs says about one printer.
type encoded struct {
	Language    string
	Columns     int
	Pages       map[string]int
	Symbologies []string
	QR, PDF417  bool
	QRModels    []string
	Stream      []byte
}

type call = []any

// question is one printer and what is to be done with it.
type question struct {
	Options map[string]any `json:"options"`
	Pages   []string       `json:"pages"`
	Calls   []call         `json:"calls"`
}

func newQuestion(options map[string]any, calls ...call) question {
	names := slices.Sorted(maps.Keys(encodings))
	options["codepageCandidates"] = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "epson/katakana"
	})
	return question{options, names, append([]call{{"initialize"}, {"codepage", "auto"}}, calls...)}
}

func encode(t *testing.T, questions []question) []encoded {
	t.Helper()
	var answers []encoded
	run(t, "encoder.mjs", questions, &answers)
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}

// printer is the printer that a stream was made for: its columns, and its pages where they are.
func (e encoded) printer() virtual.Config {
	facts := profile.Profile{Columns: e.Columns, WidthDots: e.Columns * 12, CutFeed: 4, Cutter: true}
	for name, n := range e.Pages {
		facts.Pages = append(facts.Pages, profile.Page{Number: byte(n), Encoding: encodings[name]})
	}
	return virtual.ConfigFor(facts)
}

// spells tells whether one of the printer's pages has each letter.
func (e encoded) spells(line string) bool {
	for _, r := range line {
		found := r < 0x80
		for name := range e.Pages {
			_, ok := codepage.Encode(encodings[name], r)
			found = found || ok
		}
		if !found {
			return false
		}
	}
	return true
}

// known asks what all models are, and leaves out those that do not speak ESC/POS.
func known(t *testing.T) (names []string, facts map[string]encoded) {
	t.Helper()
	var questions []question
	for _, model := range models {
		questions = append(questions, newQuestion(map[string]any{"printerModel": model}))
	}
	facts = map[string]encoded{}
	for i, answer := range encode(t, questions) {
		if answer.Language == "esc-pos" {
			names = append(names, models[i])
			facts[models[i]] = answer
		}
	}
	if len(names) != 32 || len(models) != 39 {
		t.Fatalf("%d of %d models speak ESC/POS, want 32 of 39", len(names), len(models))
	}
	return names, facts
}

func TestEveryModelOfTheOtherEncoderIsUnderstoodAndReadsAsItWasMeant(t *testing.T) {
	names, facts := known(t)
	var questions []question
	var expected []string
	for _, model := range names {
		f := facts[model]
		calls := []call{
			{"bold", true}, {"line", "Order 42"}, {"bold", false}, {"italic", true}, {"underline", true},
			{"line", "under"}, {"underline", false}, {"italic", false}, {"invert", true},
			{"line", "mark"}, {"invert", false}, {"size", 2, 2}, {"line", "big"}, {"size", 1, 1},
			{"align", "right"}, {"line", "right"}, {"align", "center"}, {"line", "even"},
			{"align", "left"}, {"font", "A"},
			{"table", []any{
				map[string]any{"width": 10, "align": "left"}, map[string]any{"width": 8, "align": "right"},
			}, []any{[]string{"Water", "1.00"}, []string{"Wine", "10.00"}}},
			{"rule"}, {"box", map[string]any{"style": "single"}, "in a box"},
		}
		inside := f.Columns - 2
		lines := []string{"Order 42", "under", "mark", "b i g",
			fmt.Sprintf("%*s", f.Columns, "right"), strings.Repeat(" ", (f.Columns-4)/2) + "even",
			"Water         1.00", "Wine         10.00", strings.Repeat("-", f.Columns),
			"+" + strings.Repeat("-", inside) + "+", fmt.Sprintf("|%-*s|", inside, "in a box"),
			"+" + strings.Repeat("-", inside) + "+"}
		for _, line := range words {
			if f.spells(line) {
				calls, lines = append(calls, call{"line", line}), append(lines, line)
			}
		}
		// Models without a cutter are not fed to the blade by themselves.
		calls = append(calls, call{"image", 48}, call{"newline", 5}, call{"cut", "partial"},
			call{"pulse"})
		questions = append(questions, newQuestion(map[string]any{"printerModel": model}, calls...))
		expected = append(expected, strings.Join(lines, "\n"))
	}
	for i, answer := range encode(t, questions) {
		t.Run(names[i], func(t *testing.T) {
			sheets, objections := paper(t, answer.printer(), answer.Stream)
			noObjection(t, answer.Stream, objections)
			if got := readable(sheets, 12); got != expected[i] {
				t.Errorf("the paper reads\n%s\nwant\n%s", got, expected[i])
			}
			if len(sheets) == 0 || len(sheets[0].Images) == 0 {
				t.Error("no image on the paper")
			}
		})
	}
}

// symbols are codes that the other encoder draws by command, by its own names.
var symbols = map[string]struct{ data, want string }{
	"upca": {"036000291452", "UPC-A:036000291452"}, "upce": {"04252614", "UPC-E:04252614"},
	"ean13": {"4006381333931", "EAN-13:4006381333931"}, "ean8": {"96385074", "EAN-8:96385074"},
	"code39": {"CHIT-42", "CODE-39:CHIT-42"}, "itf": {"12345670", "I2/5:12345670"},
	"codabar": {"A123456B", "Codabar:A123456B"}, "code93": {"CHIT93", "CODE-93:CHIT93"},
	"code128": {"Chit 42", "CODE-128:Chit 42"}, "gs1-128": {"(00)123456789012345675",
		"CODE-128:00123456789012345675"}, "code128-auto": {"Chit 42", "CODE-128:Chit 42"},
}

func TestAScannerReadsTheCodesOfEveryModelOfTheOtherEncoder(t *testing.T) {
	names, facts := known(t)
	var questions []question
	var asked []string
	for _, model := range names {
		calls := []call{{"align", "center"}}
		for _, name := range facts[model].Symbologies {
			s, ok := symbols[name]
			if !ok {
				continue // GS1 DataBar is drawn as a frame.
			}
			if facts[model].Columns < 40 && name == "gs1-128" {
				continue // Wider than 58 mm.
			}
			calls = append(calls, call{"newline", 2}, call{"barcode", s.data, name,
				map[string]any{"height": 60, "width": 1, "text": "below"}}, call{"newline", 2})
			asked = append(asked, model+" "+s.want)
		}
		if facts[model].QR {
			model2 := any(2)
			if len(facts[model].QRModels) == 0 {
				model2 = "" // Printers that are not to be told of a model.
			}
			calls = append(calls, call{"newline", 3}, call{"qrcode", "https://chit.example/42",
				map[string]any{"model": model2, "size": 4, "errorlevel": "m"}}, call{"newline", 3})
			asked = append(asked, model+" QR-Code:https://chit.example/42")
		}
		if facts[model].PDF417 {
			calls = append(calls, call{"pdf417", "Chit 42"})
		}
		questions = append(questions, newQuestion(map[string]any{"printerModel": model}, calls...))
	}
	var found []string
	seen := map[string][]string{} // Many models get the same bytes.
	for i, answer := range encode(t, questions) {
		stream := string(answer.Stream)
		if _, ok := seen[stream]; !ok {
			seen[stream] = codes(t, answer.printer(), stream)
		}
		for _, code := range seen[stream] {
			found = append(found, names[i]+" "+code)
		}
	}
	slices.Sort(asked)
	slices.Sort(found)
	for _, want := range asked {
		if _, ok := slices.BinarySearch(found, want); !ok {
			t.Errorf("not read: %s", want)
		}
	}
	for _, got := range found {
		if _, ok := slices.BinarySearch(asked, got); !ok {
			t.Errorf("read, and nobody sent it: %s", got)
		}
	}
}

// Star's own languages begin like ESC/POS. What a kitchen would get is rubbish, so it must be told.
func TestALanguageThatIsNotESCPOSDoesNotPassSilently(t *testing.T) {
	var questions []question
	for _, language := range []string{"star-prnt", "star-line"} {
		questions = append(questions, newQuestion(map[string]any{"language": language, "columns": 48},
			call{"size", 2, 2}, call{"line", "Order 42"}, call{"cut", "partial"}))
	}
	for i, answer := range encode(t, questions) {
		if _, objections := paper(t, answer.printer(), answer.Stream); len(objections) == 0 {
			t.Errorf("%v passed as ESC/POS", questions[i].Options)
		}
	}
	var jobs []job
	for _, command := range []string{
		"starsbcs", "starmbcs", "starlinesbcs", "stargraphic", "starimpact",
	} {
		jobs = append(jobs, job{name: command, document: receipts["order"], spacing: true,
			family: family{command: command, encoding: "multilingual"}})
	}
	for i, answer := range ask(t, jobs) {
		if _, objections := paper(t, jobs[i].family.printer(), answer.Stream); len(objections) == 0 {
			t.Errorf("%s passed as ESC/POS", jobs[i].name)
		}
	}
}
