package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/config"
	"chit/device/layout"
	"chit/printer/profile"
)

// written is a file with that text in a folder of its own.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryExampleOfATemplateIsGood(t *testing.T) {
	files, err := filepath.Glob("../layout/examples/*.toml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		if tmpl, err := LoadTemplate(file); err != nil || len(tmpl.Blocks) == 0 {
			t.Errorf("%s: %+v, %v", file, tmpl, err)
		}
	}
}

func TestAMistakeInATemplateIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\nblocks = [\"kind\", \"order\", \"changes\", \"items\", \"note\"]",
			`:2: blocks: "foot" is missing`},
		{`blocks = ["prices"]`, `:1: blocks: found "prices", expected some of station`},
		{`blocks = ["kind", "kind"]`, `:1: blocks: "kind" is there twice`},
		{`hide = ["items"]`, `:1: hide: found "items", expected some of type`},
		{"[kind]\nsize = 5", `:2: kind.size: found 5, expected 1 to 4`},
		{"[station]\nsize = -1", `:2: station.size: found -1`},
		{"[order]\nalign = \"right\"", `:2: order.align: found "right", expected left or centre`},
		{"[items]\nsize = \"tiny\"", `:2: items.size: unknown size: found "tiny", expected normal`},
		{"[qr]\nmodule = 9", `:2: qr.module: found 9, expected 2 to 8`},
		{"\n\nitem = 3", `:3: item`},
	} {
		_, err := LoadTemplate(written(t, "t.toml", c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// mute is a printer without images.
func mute() profile.Profile {
	p := profile.Safe80()
	p.Images = profile.ImagesNone
	return p
}

// dressed is a configuration whose one printer has that look.
func dressed(change func(*Config)) Config {
	c := Config{State: "x", RetryFirst: 1, RetryMax: 1,
		Printers: []Printer{{Name: "main", URL: "file:///dev/null", Profile: "safe-58"}}}
	change(&c)
	return c
}

func TestTheLookOfPapersIsCheckedBeforeTheFirstTicket(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Language = "klingon" }, `language: found "klingon", expected one of en`},
		{func(c *Config) { c.Printers[0].Language = "xx" }, `printers[0].language: found "xx"`},
		{func(c *Config) { c.Size = "tiny" }, `size: unknown size: found "tiny"`},
		{func(c *Config) { c.Printers[0].Size = "tiny" }, `printers[0].size: unknown size`},
		{func(c *Config) { c.Printers[0].Template = "nowhere.toml" }, `printers[0].template: `},
		{func(c *Config) { c.Templates = "nowhere" }, `templates: open nowhere`},
		{func(c *Config) { c.QRAddress = "https://ü/" }, `qr_address: found`},
		{func(c *Config) { c.QRAddress = strings.Repeat("x", 101) }, `qr_address: found 101 characters`},
	} {
		if err := dressed(c.change).Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if err := dressed(func(c *Config) { c.Language, c.Size = "ar", "huge" }).Validate(); err != nil {
		t.Error(err)
	}
}

func TestALanguageThatThePrinterHasNoLettersForIsRefusedAtTheStart(t *testing.T) {
	if err := checkLetters("printers[0].", Printer{Profile: "safe-80"}, "zh-Hans"); err != nil {
		t.Errorf("a printer that takes images: %v", err)
	}
	if err := lettersOf("printers[0].", mute(), "de"); err != nil {
		t.Errorf("German has a page: %v", err)
	}
	err := lettersOf("printers[0].", mute(), "ja")
	want := "printers[0].language: found ja, expected a language"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

func TestATemplateBelongsToItsStationAndElseToThePrinter(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"grill.toml": "[order]\nsize = 2", "note.txt": "no template",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf := dressed(func(c *Config) {
		c.Templates, c.Language, c.Size = folder, "de", "large"
		c.Printers[0].Template = written(t, "own.toml", "[order]\nsize = 3")
		c.Printers = append(c.Printers, Printer{Name: "bar", URL: nowhere, Profile: "safe-80",
			Language: "fr", Size: "huge"})
	})
	if err := conf.Validate(); err != nil {
		t.Fatal(err)
	}
	d, err := conf.designs()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		printer, station, language string
		size                       layout.Size
		order                      int
	}{
		{"main", "grill", "de", layout.Large, 2}, {"main", "wok", "de", layout.Large, 3},
		{"bar", "grill", "fr", layout.Huge, 2}, {"bar", "bar", "fr", layout.Huge, 0},
	} {
		o := d.of(c.printer, c.station)
		if o.Language != c.language || o.Size != c.size || int(o.Template.OrderSize) != c.order {
			t.Errorf("%s at %s: %+v", c.station, c.printer, o)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "Grill!.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = conf.designs()
	if err == nil || !strings.Contains(err.Error(), "named after no station") {
		t.Errorf("%v", err)
	}
}

// A code that must be sent as an image costs more than the ticket: it is printed where a template
// names it.
func TestADrawnCodeIsPrintedWhereATemplateAsksForIt(t *testing.T) {
	conf := dressed(func(*Config) {})
	d, err := conf.designs()
	if err != nil {
		t.Fatal(err)
	}
	if d.of("main", "grill").Codes {
		t.Error("a code as an image that nobody asked for")
	}
	d.stations["grill"] = layout.Template{Blocks: layout.Blocks()}
	if !d.of("main", "grill").Codes {
		t.Error("no code, and the template has one")
	}
}

func TestASampleOfATemplateCanBeRead(t *testing.T) {
	path := written(t, "sample.toml", string(config.Sample(templateFile{})))
	if tmpl, err := LoadTemplate(path); err != nil || tmpl.Check() != nil {
		t.Errorf("%+v, %v", tmpl, err)
	}
}
