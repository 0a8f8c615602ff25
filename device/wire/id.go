package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrID says that an identifier breaks the rules of this package.
var ErrID = errors.New("not a valid id")

// Bounds of identifiers, in characters.
const (
	// IDMax is the longest tenant, device, kitchen, station, order or printer id.
	IDMax = 64
	// SeqMax is the highest seq of an order; it fits a 32-bit int, which some Pis have.
	SeqMax = 999_999_999
	// madeDigitsMax keeps the k of "r<k>" below 2^53.
	madeDigitsMax = 15
)

// CheckID tells whether s may be a tenant, device, kitchen or station: 1-64 lower-case letters,
// digits and hyphens, and not a word that the topic tree uses itself (DESIGN section 4).
func CheckID(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: empty, want 1 to %d of a-z, 0-9 and -", ErrID, IDMax)
	case len(s) > IDMax:
		return fmt.Errorf("%w: %d characters, want at most %d", ErrID, len(s), IDMax)
	case s == "feed" || s == "host":
		return fmt.Errorf("%w: %q is a reserved word", ErrID, s)
	}
	for i := range len(s) {
		if !isLower(s[i]) && !isDigit(s[i]) && s[i] != '-' {
			return fmt.Errorf("%w: %q, want only a-z, 0-9 and -", ErrID, s)
		}
	}
	return nil
}

// CheckOrder tells whether s may be an order id: 1-64 of [A-Za-z0-9._~-] (DESIGN I2), but neither
// "." nor "..": as a segment of a path those mean another path (RFC 3986 section 5.2.4), even when
// they are percent-encoded, so nobody could ask for the ticket.
func CheckOrder(s string) error {
	if s == "." || s == ".." {
		return fmt.Errorf("%w: order %q, which no URL can name", ErrID, s)
	}
	return checkChars("order", s, "._~-")
}

// CheckPrinter tells whether s may be a device's printer name: 1-64 of [A-Za-z0-9._-].
func CheckPrinter(s string) error {
	return checkChars("printer", s, "._-")
}

func checkChars(what, s, extra string) error {
	if s == "" || len(s) > IDMax {
		return fmt.Errorf("%w: %s of %d characters, want 1 to %d", ErrID, what, len(s), IDMax)
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte(extra, s[i]) < 0 {
			return fmt.Errorf("%w: %s %q, want only A-Z, a-z, 0-9 and %s", ErrID, what, s, extra)
		}
	}
	return nil
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isDigit(c) || 'A' <= c && c <= 'Z' }

// TicketID is the identity that devices dedupe by: one order mutation at one station (DESIGN I2).
//
//	17-4711/1@grill        posted at a door
//	17-4711/1/r2@grill     made by the broker: reprint, notice, void
//	17-4711/1/d1@grill     made by a device at its button
type TicketID struct {
	Order   string
	Seq     int    // 1 to SeqMax
	Made    string // "", "r<k>" or "d<k>" with k from 1
	Station string
}

// ParseTicketID reads the one spelling that [TicketID.String] writes; anything else wraps [ErrID].
func ParseTicketID(s string) (TicketID, error) {
	rest, station, ok := strings.Cut(s, "@")
	if !ok {
		return TicketID{}, fmt.Errorf("%w: ticket %.200q, want <order>/<seq>@<station>", ErrID, s)
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return TicketID{}, fmt.Errorf("%w: ticket %.200q, want <order>/<seq>@<station>", ErrID, s)
	}
	seq, err := parseSeq(parts[1])
	if err != nil {
		return TicketID{}, err
	}
	id := TicketID{Order: parts[0], Seq: seq, Station: station}
	if len(parts) == 3 {
		if id.Made = parts[2]; id.Made == "" {
			return TicketID{}, fmt.Errorf("%w: ticket %.200q, want r<k> or d<k>", ErrID, s)
		}
	}
	return id, id.Check()
}

// ParseContentID reads "<order>/<seq>", the id of a request; anything else wraps [ErrID].
func ParseContentID(s string) (order string, seq int, err error) {
	order, digits, ok := strings.Cut(s, "/")
	if !ok {
		return "", 0, fmt.Errorf("%w: %.200q, want <order>/<seq>", ErrID, s)
	}
	if err := CheckOrder(order); err != nil {
		return "", 0, err
	}
	if seq, err = parseSeq(digits); err != nil {
		return "", 0, err
	}
	return order, seq, nil
}

func parseSeq(s string) (int, error) {
	n, ok := parseCount(s, 9)
	if !ok {
		return 0, fmt.Errorf("%w: seq %.40q, want 1 to %d", ErrID, s, SeqMax)
	}
	return int(n), nil
}

// parseCount reads a decimal from 1 without sign or leading zero, of at most max digits.
func parseCount(s string, max int) (uint64, bool) {
	if s == "" || len(s) > max || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// Check tells whether id can be written and read back.
func (id TicketID) Check() error {
	if err := CheckOrder(id.Order); err != nil {
		return err
	}
	if id.Seq < 1 || id.Seq > SeqMax {
		return fmt.Errorf("%w: seq %d, want 1 to %d", ErrID, id.Seq, SeqMax)
	}
	if id.Made != "" {
		_, ok := parseCount(id.Made[1:], madeDigitsMax)
		if (id.Made[0] != 'r' && id.Made[0] != 'd') || !ok {
			return fmt.Errorf("%w: made %.40q, want r<k> or d<k>", ErrID, id.Made)
		}
	}
	if err := CheckID(id.Station); err != nil {
		return fmt.Errorf("station: %w", err)
	}
	return nil
}

// String is the id as it stands in envelopes, acks and journals.
func (id TicketID) String() string {
	s := id.Content()
	if id.Made != "" {
		s += "/" + id.Made
	}
	return s + "@" + id.Station
}

// Content is the id of the order mutation, "<order>/<seq>", as in [Content.ID].
func (id TicketID) Content() string {
	return id.Order + "/" + strconv.Itoa(id.Seq)
}
