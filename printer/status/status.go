// Package status reads what a printer says back.
//
// Single answers have their own functions ([ParsePrinter] and its relatives). A connection carries
// all of them mixed: [Stream] takes it apart. The package refuses to guess: a byte that answers
// nothing that was asked is an [Unknown] event and never a success. It is pure.
//
//	var s status.Stream
//	s.Expect(status.ExpectPrinter) // before the bytes of DLE EOT 1 are sent
//	for _, e := range s.Write(read) {
//		switch e := e.(type) {
//		case status.Printer: // ...
//		case status.ProcessID: // ...
//		}
//	}
//
// Fixed bits tell the families apart (x is any bit, most significant first):
//
//	0xx1xx10  answer to DLE EOT          0xx1xx00  first byte of automatic status (ASB)
//	0xx0xxxx  answer to GS r, and bytes 2 to 4 of ASB
//	0xx1xxx1  header of a block that ends with 00, XON (11), XOFF (13)
//
// Sources: Epson ESC/POS Command Reference, DLE EOT, GS a, GS r, GS I, GS g 2, GS ( H, DLE DC4;
// research/escpos.md 2.2 to 2.5 and 2.14. Epson's present page for GS r shows the real-time pattern
// for its answer; its bit table and the older specifications show 0xx0xxxx, which is right.
package status

import (
	"errors"
	"fmt"
)

// ErrNotStatus says that a byte's fixed bits are not those of the answer asked for.
var ErrNotStatus = errors.New("not a status byte")

const (
	familyMask   = 0x93 // bits 7, 4, 1 and 0
	familyAnswer = 0x12 // 0xx1xx10: DLE EOT
	familyASB    = 0x10 // 0xx1xx00: ASB, first byte
	tailMask     = 0x90 // bits 7 and 4: 0xx0xxxx
)

func bit(b byte, n uint) bool { return b>>n&1 == 1 }

func realtime(b byte, n int) error {
	if b&familyMask != familyAnswer {
		return fmt.Errorf("status: DLE EOT %d answered %02X, expected 0xx1xx10: %w", n, b,
			ErrNotStatus)
	}
	return nil
}

// ParsePrinter decodes the one-byte answer to DLE EOT 1, 0xx1xx10. Another pattern yields an error
// wrapping [ErrNotStatus], here and in the next three.
//
// Source: Epson, DLE EOT, n = 1: printer status.
func ParsePrinter(b byte) (Printer, error) {
	if err := realtime(b, 1); err != nil {
		return Printer{}, err
	}
	return Printer{
		DrawerHigh: bit(b, 2), Offline: bit(b, 3), Recovering: bit(b, 5), FeedButton: bit(b, 6),
	}, nil
}

// ParseOffline decodes the one-byte answer to DLE EOT 2.
//
// Source: Epson, DLE EOT, n = 2: offline cause status.
func ParseOffline(b byte) (Offline, error) {
	if err := realtime(b, 2); err != nil {
		return Offline{}, err
	}
	return Offline{
		CoverOpen: bit(b, 2), FeedButton: bit(b, 3), PaperEnd: bit(b, 5), Error: bit(b, 6),
	}, nil
}

// ParseError decodes the one-byte answer to DLE EOT 3.
//
// Source: Epson, DLE EOT, n = 3: error cause status.
func ParseError(b byte) (Error, error) {
	if err := realtime(b, 3); err != nil {
		return Error{}, err
	}
	return Error{
		Recoverable: bit(b, 2), Cutter: bit(b, 3), Unrecoverable: bit(b, 5), AutoRecover: bit(b, 6),
	}, nil
}

// ParsePaper decodes the one-byte answer to DLE EOT 4, the roll sensor query.
//
// Bits 2-3 report the near-end sensor and bits 5-6 the end sensor, both bits of a pair together. Of
// a clone that raises only one of a pair the worse is believed. While the cover is open the end
// bits keep their value from before.
//
// Source: Epson, DLE EOT, n = 4: roll paper sensor status.
func ParsePaper(b byte) (Paper, error) {
	if err := realtime(b, 4); err != nil {
		return Paper{}, err
	}
	return Paper{NearEnd: b&0x0C != 0, End: b&0x60 != 0}, nil
}

// ParseFence decodes the one-byte answer to GS r 1, 0xx0xxxx with the near-end sensor in bits 0-1
// and the end sensor in bits 2-3. A byte in which the bits of a pair differ, such as the answer to
// the drawer query GS r 2 with a high pin (01), is not this answer: an error wrapping
// [ErrNotStatus].
//
// Source: Epson, GS r, n = 1: paper sensor status.
func ParseFence(b byte) (Fence, error) {
	if b&tailMask != 0 || bit(b, 0) != bit(b, 1) || bit(b, 2) != bit(b, 3) {
		return Fence{}, fmt.Errorf(
			"status: GS r 1 answered %02X, expected 0xx0 and two equal pairs: %w", b, ErrNotStatus)
	}
	return Fence{Paper: Paper{NearEnd: bit(b, 0), End: bit(b, 2)}}, nil
}

// ParseASB decodes four bytes of automatic status. Only the first has bit 4 set: an idle Epson says
// 14 00 00 0F. Another pattern yields an error wrapping [ErrNotStatus].
//
// Source: Epson, GS a, "automatic status".
func ParseASB(b [4]byte) (ASB, error) {
	if b[0]&familyMask != familyASB || (b[1]|b[2]|b[3])&tailMask != 0 {
		return ASB{}, fmt.Errorf(
			"status: ASB of % X, expected 0xx1xx00 and three 0xx0xxxx: %w", b[:], ErrNotStatus)
	}
	return ASB{
		DrawerHigh: bit(b[0], 2), Offline: bit(b[0], 3), CoverOpen: bit(b[0], 5),
		Feeding: bit(b[0], 6), Recovering: bit(b[1], 0), FeedButton: bit(b[1], 1),
		Recoverable: bit(b[1], 2), Cutter: bit(b[1], 3), Unrecoverable: bit(b[1], 5),
		AutoRecover: bit(b[1], 6), NearEnd: b[2]&0x03 != 0, End: b[2]&0x0C != 0,
	}, nil
}

// ParseProcessID decodes the seven bytes 37 22 d1 d2 d3 d4 00, each d 0x20 to 0x7E.
//
// Source: Epson, GS ( H <Function 48>.
func ParseProcessID(b []byte) (ProcessID, error) {
	ok := len(b) == 7 && b[0] == headerID && b[1] == idProcess && b[6] == 0
	for i := 2; ok && i < 6; i++ {
		ok = b[i] >= 0x20 && b[i] <= 0x7E
	}
	if !ok {
		return ProcessID{}, fmt.Errorf("status: process id of % X: %w", cut(b), ErrNotStatus)
	}
	return ProcessID{Token: [4]byte(b[2:6])}, nil
}

// ParseCounter decodes 5F, 1 to 10 decimal digits, 00.
//
// Source: Epson, GS g 2.
func ParseCounter(b []byte) (Counter, error) {
	ok := len(b) >= 3 && len(b) <= 12 && b[0] == headerText && b[len(b)-1] == 0
	var value uint64
	for i := 1; ok && i < len(b)-1; i++ {
		ok = b[i] >= '0' && b[i] <= '9'
		value = value*10 + uint64(b[i]-'0')
	}
	if !ok {
		return Counter{}, fmt.Errorf("status: counter of % X: %w", cut(b), ErrNotStatus)
	}
	return Counter{Value: value}, nil
}

// ParseIdentity decodes 5F, text, 00. The text is the printer's own, so bytes outside 0x20-0x7E are
// refused; it may be empty.
//
// Source: Epson, GS I, "Printer information B".
func ParseIdentity(b []byte) (Identity, error) {
	ok := len(b) >= 2 && len(b) <= BlockBytesMax && b[0] == headerText && b[len(b)-1] == 0
	for i := 1; ok && i < len(b)-1; i++ {
		ok = b[i] >= 0x20 && b[i] <= 0x7E
	}
	if !ok {
		return Identity{}, fmt.Errorf("status: identity of % X: %w", cut(b), ErrNotStatus)
	}
	return Identity{Text: string(b[1 : len(b)-1])}, nil
}

func cut(b []byte) []byte { return b[:min(len(b), 16)] }
