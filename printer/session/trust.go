package session

import "fmt"

// Standing is what one kind of document has taught about an odometer.
//
//	Unproven --counted exactly--> Earned
//	   |                             |
//	   +--------- misfit ----------> Lost (for ever)
type Standing uint8

// The three standings.
const (
	Unproven Standing = iota
	Earned
	Lost
)

var standings = [...]string{Unproven: "unproven", Earned: "earned", Lost: "lost"}

// String is the standing's word in the journal.
func (s Standing) String() string {
	if int(s) < len(standings) {
		return standings[s]
	}
	return "invalid"
}

// MarshalText writes the standing's word.
func (s Standing) MarshalText() ([]byte, error) {
	if int(s) >= len(standings) {
		return nil, fmt.Errorf("session: standing %d: want 0 to %d", s, len(standings)-1)
	}
	return []byte(standings[s]), nil
}

// UnmarshalText reads the standing's word.
func (s *Standing) UnmarshalText(text []byte) error {
	for i, word := range standings {
		if word == string(text) {
			*s = Standing(i)
			return nil
		}
	}
	return fmt.Errorf("session: standing %q: want unproven, earned or lost", text)
}

// Trust says for which kinds of document one unit's odometer may be believed after a crash.
//
// It is earned per kind, because whether raster rows count as line feeds differs between models
// (research/escpos.md 2.14): by the first document of ours that was counted exactly, with both
// counters read before and after. The first reading that does not fit loses it for ever.
type Trust struct {
	Text   Standing `json:"text"`
	Raster Standing `json:"raster"`
}

// Covers is true where the odometer may be believed for a document of this kind.
func (t Trust) Covers(raster bool) bool { return *t.of(raster) == Earned }

// After is the trust left when a document that adds lineFeeds and cuts was seen to come out between
// two readings. A reading that is not known teaches nothing.
func (t Trust) After(raster bool, before, after Counters, lineFeeds, cuts int) Trust {
	standing := t.of(raster)
	switch {
	case !before.Known || !after.Known || *standing == Lost:
		return t
	case grownBy(before, after, lineFeeds, cuts):
		*standing = Earned
	default:
		*standing = Lost
	}
	return t
}

// of works on the receiver's copy, which After returns.
func (t *Trust) of(raster bool) *Standing {
	if raster {
		return &t.Raster
	}
	return &t.Text
}

// grownBy is true where both counters grew by exactly this much.
func grownBy(before, after Counters, lineFeeds, cuts int) bool {
	return before.Known && after.Known && lineFeeds >= 0 && cuts >= 0 &&
		after.LineFeeds == before.LineFeeds+uint64(lineFeeds) &&
		after.Cuts == before.Cuts+uint64(cuts)
}
