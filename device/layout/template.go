package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"chit/printer/document"
)

// Block is one part of a ticket, from top to bottom.
type Block string

// The blocks, in their usual order. Marks such as POSSIBLE DUPLICATE stand above all of them and,
// where it matters, below; no template can leave them out.
const (
	BlockStation  Block = "station"  // the station's name
	BlockKind     Block = "kind"     // CHANGE, VOID, NOTICE, REPRINT, COPY OF
	BlockOrder    Block = "order"    // the order's short name, the largest thing on the paper
	BlockNumber   Block = "number"   // NEW, "41 · previous 40", what became of numbers between
	BlockAlso     Block = "also"     // other stations that make a part of the same order
	BlockFacts    Block = "facts"    // type, table, guests
	BlockTimes    Block = "times"    // due, placed, printed
	BlockCustomer Block = "customer" // name and phone, where the kitchen's configuration shows them
	BlockChanges  Block = "changes"  // what a change ticket adds, removes and alters
	BlockItems    Block = "items"    // quantities, names, modifiers, allergens, notes
	BlockNote     Block = "note"     // the note of the whole order
	BlockQR       Block = "qr"       // the ticket's id, for a camera
	BlockFoot     Block = "foot"     // the ticket's id, attempt and marks
)

var usual = []Block{
	BlockStation, BlockKind, BlockOrder, BlockNumber, BlockAlso, BlockFacts, BlockTimes,
	BlockCustomer, BlockChanges, BlockItems, BlockNote, BlockQR, BlockFoot,
}

// mandatory blocks are those without which food is made wrong, twice or never.
var mandatory = []Block{
	BlockKind, BlockOrder, BlockChanges, BlockItems, BlockNote, BlockFoot,
}

// Blocks lists the names of all blocks in their usual order.
func Blocks() []Block { return slices.Clone(usual) }

// Template says which blocks a ticket has, in which order, and how some of them look. The zero
// value is the usual paper.
type Template struct {
	// Blocks from top to bottom; empty means all in their usual order.
	Blocks []Block
	// Sizes of the station's and the kind's banner and of the order's name, 1 to 4; 0 means 2, the
	// kind's own (3 or 4), and 4. Long words are made smaller until they fit.
	StationSize, KindSize, OrderSize document.Size
	// OrderLeft puts the order's name at the left edge instead of the middle.
	OrderLeft bool
	// ItemSize is the size of items in this template instead of [Options].Size; nil keeps that.
	ItemSize *Size
	// QRModule is the edge of one module of the QR code in dots, 2 to 8; 0 means 4.
	QRModule int
	// Hidden are single facts of blocks: type, table, guests, due, placed, printed, course, seat.
	Hidden []Fact
}

// Fact is a single thing that a template may leave out of a block.
type Fact string

// The facts that may be left out.
const (
	FactType    Fact = "type"
	FactTable   Fact = "table"
	FactGuests  Fact = "guests"
	FactDue     Fact = "due"
	FactPlaced  Fact = "placed"
	FactPrinted Fact = "printed"
)

var facts = []Fact{FactType, FactTable, FactGuests, FactDue, FactPlaced, FactPrinted}

// ErrTemplate is wrapped by every error about a template.
var ErrTemplate = errors.New("unusable template")

// TemplateError names the part of a template that cannot be.
type TemplateError struct {
	// Key is the part, such as "blocks" or "order.size".
	Key string
	// Problem says what was found and what was expected.
	Problem string
}

func (e *TemplateError) Error() string { return e.Key + ": " + e.Problem }

// Unwrap makes every TemplateError an [ErrTemplate].
func (e *TemplateError) Unwrap() error { return ErrTemplate }

// Check names the first part of the template that cannot be: an unknown or repeated block, a size
// out of range, and every mandatory block that is missing.
func (t Template) Check() error {
	bad := func(key, format string, args ...any) error {
		return &TemplateError{key, fmt.Sprintf(format, args...)}
	}
	for i, b := range t.Blocks {
		if !slices.Contains(usual, b) {
			return bad("blocks", "found %q, expected some of %s", b, join(usual))
		}
		if slices.Contains(t.Blocks[:i], b) {
			return bad("blocks", "%q is there twice", b)
		}
	}
	for _, b := range mandatory {
		if len(t.Blocks) > 0 && !slices.Contains(t.Blocks, b) {
			return bad("blocks", "%q is missing, expected at least %s: without them food is made wrong",
				b, join(mandatory))
		}
	}
	for _, s := range []struct {
		key  string
		size document.Size
	}{
		{"station.size", t.StationSize}, {"kind.size", t.KindSize}, {"order.size", t.OrderSize},
	} {
		if s.size > 4 {
			return bad(s.key, "found %d, expected 1 to 4", s.size)
		}
	}
	if t.QRModule != 0 && (t.QRModule < 2 || t.QRModule > 8) {
		return bad("qr.module", "found %d, expected 2 to 8", t.QRModule)
	}
	for _, f := range t.Hidden {
		if !slices.Contains(facts, f) {
			return bad("hide", "found %q, expected some of %s", f, join(facts))
		}
	}
	return nil
}

func join[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return strings.Join(names, ", ")
}

func (t Template) blocks() []Block {
	if len(t.Blocks) == 0 {
		return usual
	}
	return t.Blocks
}

func (t Template) has(b Block) bool { return slices.Contains(t.blocks(), b) }

func (t Template) hides(f Fact) bool { return slices.Contains(t.Hidden, f) }
