package wire

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestIDsAreLowerCaseLettersDigitsAndHyphens(t *testing.T) {
	for _, good := range []string{"a", "0", "-", "grill", "pass-2", "feeds", strings.Repeat("x", 64)} {
		if err := CheckID(good); err != nil {
			t.Errorf("CheckID(%q) = %v, want nil", good, err)
		}
	}
	for _, bad := range []string{"", "feed", "host", "Grill", "a_b", "a.b", "a b", "a/b", "+", "#",
		"é",
		"a\x00", strings.Repeat("x", 65)} {
		if err := CheckID(bad); !errors.Is(err, ErrID) {
			t.Errorf("CheckID(%q) = %v, want ErrID", bad, err)
		}
	}
}

func TestTicketIDsHaveOneSpelling(t *testing.T) {
	for s, want := range map[string]TicketID{
		"17/1@grill":                 {Order: "17", Seq: 1, Station: "grill"},
		".../1@grill":                {Order: "...", Seq: 1, Station: "grill"},
		"A.b_c~d-e/999999999@bar":    {Order: "A.b_c~d-e", Seq: SeqMax, Station: "bar"},
		"17/2/r1@grill":              {Order: "17", Seq: 2, Made: "r1", Station: "grill"},
		"17/2/d123456789012345@pass": {Order: "17", Seq: 2, Made: "d123456789012345", Station: "pass"},
	} {
		got, err := ParseTicketID(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("ParseTicketID(%q) = %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, bad := range []string{
		"", "@", "/", "17", "17/1", "17/1@", "/1@grill", "17/@grill", "17/0@grill", "17/01@grill",
		"17/+1@grill", "17/-1@grill", "17/1 @grill", "17/1000000000@grill", "17/1@Grill", "17/1@feed",
		"17/1@a@b", "17/1/@grill", "17/1/r@grill", "17/1/r0@grill", "17/1/r01@grill", "17/1/x1@grill",
		"17/1/1@grill", "17/1/r1/r2@grill", "17/1/r1234567890123456@grill", "1%7/1@grill",
		"./1@grill", "../1@grill", "../1/r1@grill",
		"ü/1@grill", strings.Repeat("x", 65) + "/1@grill", "17/１@grill",
	} {
		if got, err := ParseTicketID(bad); !errors.Is(err, ErrID) {
			t.Errorf("ParseTicketID(%q) = %+v, %v; want ErrID", bad, got, err)
		}
		if strings.Contains(bad, "@grill") {
			request := strings.TrimSuffix(bad, "@grill")
			if _, _, err := ParseContentID(request); !errors.Is(err, ErrID) {
				t.Errorf("ParseContentID(%q) = %v, want ErrID", request, err)
			}
		}
	}
}

// drawTicketID draws from all ticket ids there are.
func drawTicketID(t *rapid.T) TicketID {
	id := TicketID{
		Order:   rapid.StringMatching(`[A-Za-z0-9._~-]{1,64}`).Draw(t, "order"),
		Seq:     rapid.IntRange(1, SeqMax).Draw(t, "seq"),
		Made:    rapid.StringMatching(`([rd][1-9][0-9]{0,14})?`).Draw(t, "made"),
		Station: rapid.StringMatching(`[a-z0-9-]{1,64}`).Draw(t, "station"),
	}
	if CheckID(id.Station) != nil {
		id.Station = "grill" // Drew a reserved word.
	}
	if CheckOrder(id.Order) != nil {
		id.Order += "-" // Drew a dot segment.
	}
	return id
}

func TestEveryTicketIDComesBackFromItsSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := drawTicketID(t)
		if got, err := ParseTicketID(id.String()); err != nil || got != id {
			t.Fatalf("ParseTicketID(%q) = %+v, %v", id, got, err)
		}
		if got, err := ParseFeedID(id.Feed()); err != nil || got != id {
			t.Fatalf("ParseFeedID(%q) = %+v, %v", id.Feed(), got, err)
		}
		topic := FeedTopic("acme", FeedTickets, id.Feed())
		if got, err := ParseTopic(topic.String()); err != nil || got != topic {
			t.Fatalf("ParseTopic(%q) = %+v, %v", topic, got, err)
		}
	})
}

func FuzzTicketID(f *testing.F) {
	for _, s := range []string{"17/1@grill", "17/1/r2@grill", "a._~-/9/d1@b", "", "@/", "17.s1.grill",
		"a_2eb.s1.r2.grill", "./1@grill", "../1", ".../1@grill", "_2e.s1.grill", "_2e_2e.s1.grill"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseTicketID(s); err == nil && id.String() != s {
			t.Fatalf("%q was read as %q", s, id)
		}
		if id, err := ParseFeedID(s); err == nil && id.Feed() != s {
			t.Fatalf("%q was read as %q", s, id.Feed())
		}
		if order, seq, err := ParseContentID(s); err == nil {
			if id := (TicketID{Order: order, Seq: seq}); id.Content() != s {
				t.Fatalf("%q was read as %q", s, id.Content())
			}
		}
	})
}
