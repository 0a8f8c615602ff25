package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestGapsAreReadBackAsWritten(t *testing.T) {
	for s, want := range map[string][]Gap{
		"":                          nil,
		"40:moved:bar,39:cancelled": {{"40", "moved", "bar"}, {"39", "cancelled", ""}},
		"7:dead":                    {{"7", "dead", ""}},
	} {
		got, err := ParseGaps(s)
		if err != nil || !slices.Equal(got, want) || FormatGaps(got) != s {
			t.Errorf("ParseGaps(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"40", ",", "40:moved,", ":moved", "40:", "40:moved:", "40:a:b:c",
		"40:mo ved", "４0:moved", strings.Repeat("1:dead,", gapsMax) + "1:dead"} {
		if got, err := ParseGaps(bad); !errors.Is(err, ErrClaims) {
			t.Errorf("ParseGaps(%q) = %v, %v; want ErrClaims", bad, got, err)
		}
	}
	many := slices.Repeat([]Gap{{Number: "1", What: "dead"}}, gapsMax+5)
	if got, err := ParseGaps(FormatGaps(many)); err != nil || len(got) != gapsMax {
		t.Errorf("%d gaps came back as %d, %v", len(many), len(got), err)
	}
}
