package virtual

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/printer/escpos"
)

// boxes sends a stream and returns the symbols on the paper and what was objected to.
func boxes(t *testing.T, send string) ([]Box, []Mark) {
	t.Helper()
	b := newBench(t, config())
	b.send(send)
	return b.p.Pending().Boxes, b.p.Errors()
}

// The modules of ISO/IEC 15420's own example: 425261 in number system 0 has check digit 4.
func TestUPCEHasTheModulesOfTheStandard(t *testing.T) {
	for _, digits := range []string{"425261", "0425261", "04252614", "04210000526", "042100005264"} {
		bars, says, err := upcE(digits)
		got := ""
		for _, bar := range bars {
			got += map[bool]string{false: "0", true: "1"}[bar]
		}
		// Check digit 4: even, odd, even, even, odd, odd.
		const want = "101" + "0011101" + "0010011" + "0111001" + "0011011" + "0101111" + "0011001" +
			"010101"
		if err != nil || says != "04252614" || len(bars) != 51 || got != want {
			t.Errorf("%s: %s says %s, %v\nwant %s", digits, got, says, err, want)
		}
	}
}

func TestUPCEGoesTheWayFromUPCAAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		six := fmt.Sprintf("%06d", rapid.IntRange(0, 999_999).Draw(t, "six"))
		long := upcLong('0', six)
		if len(long) != 11 {
			t.Fatalf("%s is %s", six, long)
		}
		// Several short forms can mean one long one; squeezing finds one that means the same.
		if back := upcSqueeze(long[1:]); back == "" || upcLong('0', back) != long {
			t.Fatalf("%s is %s and comes back as %q", six, long, back)
		}
	})
}

func TestABarCodeThatCannotBeIsNotPrintedAndToldOf(t *testing.T) {
	for _, send := range []string{
		"\x1dk\x02notdigits123\x00", "\x1dk\x02123\x00", "\x1dk\x0224006381333930\x00",
		"\x1dk\x49\x03abc", "\x1dk\x49\x03{C\x64", "\x1dk\x05123\x00", "\x1dk\x01123456789012\x00",
		"\x1dk\x04" + strings.Repeat("A", 60) + "\x00", "\x1dk\x49\x04{B\xff\xff",
		"\x1d(k\x03\x001Q0",
	} {
		if found, objections := boxes(t, send); len(found) != 0 || len(objections) != 1 {
			t.Errorf("%q: %d symbols, objections %v", send, len(found), objections)
		}
	}
}

func TestWhatABarCodeSaysStandsWhereGSHWantsIt(t *testing.T) {
	for n, want := range [][]int{nil, {0}, {50}, {0, 74}} {
		found, objections := boxes(t,
			fmt.Sprintf("\x1dh\x32\x1dH%c\x1dk\x02400638133393\x00", rune(n)))
		if len(found) != 1 || len(objections) != 0 {
			t.Fatalf("GS H %d: %d symbols, %v", n, len(found), objections)
		}
		var tops []int
		for _, line := range found[0].Captions {
			tops = append(tops, line.Y)
			if line.Runs[0].Text != "4006381333931" {
				t.Errorf("GS H %d: %q", n, line.Runs[0].Text)
			}
		}
		if fmt.Sprint(tops) != fmt.Sprint(want) || found[0].Height != 50+24*len(want) {
			t.Errorf("GS H %d: lines at %v in %d dots, want %v", n, tops, found[0].Height, want)
		}
	}
}

func TestSymbolsThatNobodyScansInAKitchenAreStillDrawn(t *testing.T) {
	for cn, size := range map[int][2]int{
		escpos.SymbolDataMatrix: {14 * 3, 14 * 3}, escpos.SymbolAztec: {15 * 3, 15 * 3},
		escpos.SymbolPDF417: {(3+4)*17*3 + 3, 0},
	} {
		found, objections := boxes(t, fmt.Sprintf("\x1d(k\x0a\x00%cP0chit-42", rune(cn))+
			fmt.Sprintf("\x1d(k\x03\x00%cQ0", rune(cn)))
		if len(found) != 1 || len(objections) != 0 {
			t.Fatalf("%s: %d symbols, %v", symbolNames[cn], len(found), objections)
		}
		box := found[0]
		if box.Data != "chit-42" || len(box.Bits) != (box.Width+7)/8*box.Height ||
			box.Width != size[0] || size[1] != 0 && box.Height != size[1] {
			t.Errorf("%s: %d by %d dots, %d bytes, says %q", symbolNames[cn], box.Width, box.Height,
				len(box.Bits), box.Data)
		}
	}
}

func TestASymbolThatCannotBeDrawnIsAFrameAndAnEvent(t *testing.T) {
	b := newBench(t, config())
	b.send("\x1d(k\x05\x002P2ab\x1d(k\x03\x002Q0\x1dk\x4b\x0d0123456789012")
	sheet := b.p.Pending()
	if len(sheet.Boxes) != 2 || len(sheet.Boxes[0].Bits) != 0 || len(b.p.Events()) != 2 {
		t.Fatalf("%d symbols, events %v, errors %v", len(sheet.Boxes), b.p.Events(), b.p.Errors())
	}
}
