package virtual

import (
	"testing"

	"chit/printer/profile"
)

func TestNationalSetsReplaceTwelveSignsOfASCII(t *testing.T) {
	for n, changed := range international {
		if got := len([]rune(changed)); got != len(internationalPlaces) {
			t.Errorf("set %d changes %d places, want %d", n, got, len(internationalPlaces))
		}
	}
	b := newBench(t, config())
	b.send("\x1bR\x02[|]\\{}~\x1bR\x08 5\\\x1bR\x00 [\\]\n")
	b.hangs("ÄöÜÖäüß 5¥ [\\]\n")
}

func TestThePageWithKatakanaDrawsTheRulesOfTables(t *testing.T) {
	if len(katakana) != 128 {
		t.Fatalf("the page has %d characters from 0x80 on, want 128", len(katakana))
	}
	c := config()
	c.Pages = append(c.Pages, profile.Page{Number: 1, Encoding: Katakana})
	b := newBench(t, c)
	b.send("\x1bt\x01\x9c\x95\x91\x9d a\x96\xb1\xf1\n")
	b.hangs("╭─┬╮ a│ｱ円\n")
}

func TestIdeographsAreReadInTheEncodingOfTheROM(t *testing.T) {
	for _, tt := range []struct{ rom, send, want string }{
		{"GB18030", "\x1c&\xc3\xe6 x2\x1c. a\n", "面 x2 a\n"},
		{"BIG5", "\x1c&\xb6\xba\x1c.a\n", "飯a\n"},
		{"EUC-KR", "\x1c&\xb9\xe4a\n", "밥a\n"},
		{"SHIFT-JIS", "\x1cC1\x93\xfaA\n", "日A\n"},             // Without FS &.
		{"SHIFT-JIS", "\x1c&\x46\x7c\x1c.F|\n", "日F|\n"},       // JIS in Kanji mode.
		{"GB18030", "\x1c&\x81 \n", "\u3013\n"},                // No such character.
		{"", "\x1c&\x82o\x1c.ok\n", "\u3013ok\n"},              // No ideographs at all.
		{"GB18030", "\x1c&\x1cS\x0c\x0c\xc3\xe6a\n", " 面 a\n"}, // Blank on both sides.
	} {
		c := config()
		c.Kanji = tt.rom
		b := newBench(t, c)
		b.send(tt.send)
		b.hangs(tt.want)
		if objects := tt.want[:3] == "\u3013"; objects != (len(b.p.Errors()) == 1) {
			t.Errorf("%s: objections %v", tt.rom, b.p.Errors())
		}
	}
}

func TestIdeographsHaveLooksOfTheirOwn(t *testing.T) {
	c := config()
	c.Kanji = "GB18030"
	b := newBench(t, c)
	b.send("\x1c&\x1c-\x02\xc3\xe6\x1c-\x00\x1cW\x01\xc3\xe6\x1cW\x00\x1c!\x84\xc3\xe6a\n")
	runs := b.p.Pending().Lines[0].Runs
	if len(runs) != 4 || runs[0].Style.Underline != 2 || runs[1].Style.Height != 2 ||
		runs[1].Width != 48 || runs[2].Style.Width != 2 || runs[2].Style.Underline != 1 ||
		runs[3].Style.Underline != 0 || runs[3].X != 24+48+48 {
		t.Fatalf("runs %+v", runs)
	}
}

func TestANeedlePrinterPrintsALineTwiceWithCR(t *testing.T) {
	c := config()
	c.Impact, c.Can.Red = true, true
	b := newBench(t, c)
	b.send("\x1br\x01      RED\r\x1br\x00black\n")
	b.hangs("black RED\n")
	if runs := b.p.Pending().Lines[0].Runs; len(runs) != 2 || runs[0].Style.Red == runs[1].Style.Red {
		t.Fatalf("runs %+v", runs)
	}
}

func TestFewerDotsThanLettersNeedGiveNarrowerLetters(t *testing.T) {
	c := ConfigFor(profile.Profile{Columns: 40, WidthDots: 400, ColumnsB: 50, Pages: config().Pages})
	b := newBench(t, c)
	b.send("1234567890123456789012345678901234567890x\n\x1bM\x01b\n")
	b.hangs("1234567890123456789012345678901234567890\nx\nb\n")
	if lines := b.p.Pending().Lines; lines[0].Runs[0].Width != 400 || lines[2].Runs[0].Width != 8 {
		t.Fatalf("lines %+v", lines)
	}
}
