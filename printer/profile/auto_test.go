package profile

import "testing"

func TestAutoTakesAModelOnlyWhereNameBehaviourAndPaperFit(t *testing.T) {
	for _, c := range []struct {
		unit  string
		paper int
		want  string
	}{
		{"TM-T20III/EPSON/1.00/X4B2000001#hrgca", 80, "epson-tm-t20iii"},
		{"TM-T20III/EPSON/1.00/X4B2000001#hra", 80, "epson-tm-t20iii"},
		{"TM-T20III/EPSON/1.00/X4B2000001#hra", 58, "safe-58"}, // The paper is the person's word.
		{"TM-T20III/EPSON/1.00/X4B2000001#ra", 80, "safe-80"},  // It has GS ( H.
		{"TM-T20III/EPSON/1.00/#hra", 80, "safe-80"},
		{"TM-T20III/XPRINTER/1.00/1#hra", 80, "safe-80"},
		{"TM-T20III/EPSON/1.00/1", 80, "safe-80"}, // Not probed to the end.
		{"TM-T88III/EPSON/1.00/1#ra", 80, "epson-tm-t88iii"},
		{"TM-T88III/EPSON/1.00/1#hra", 80, "safe-80"}, // A clone: this model has no GS ( H.
		{"TM-T88V/EPOSN/1.00/1#hra", 80, "safe-80"},
		{"TM-U220B/EPSON/1.00/1#r", 76, "epson-tm-u220b"},
		{"TM-U220B/EPSON/1.00/1#r", 80, "safe-80"},
		{"TSP600/EPSON/1.00/1#hra", 80, "safe-80"},
		{"", 80, "safe-80"}, {"#", 58, "safe-58"}, {"////#hra", 76, "safe-76"},
	} {
		if got := Auto(c.unit, c.paper).Name; got != c.want {
			t.Errorf("%q on %d mm is %s, want %s", c.unit, c.paper, got, c.want)
		}
	}
}

func TestOnlyPaperOfThreeWidthsIsSafe(t *testing.T) {
	for _, mm := range []int{0, 57, 112} {
		if p, ok := SafeFor(mm); ok {
			t.Errorf("%d mm: %s", mm, p.Name)
		}
	}
	for mm, want := range map[int]string{58: "safe-58", 76: "safe-76", 80: "safe-80"} {
		if p, ok := SafeFor(mm); !ok || p.Name != want {
			t.Errorf("%d mm: %s, %v", mm, p.Name, ok)
		}
	}
}

func TestNoTwoModelsAnswerAlikeOnOnePaper(t *testing.T) {
	seen := map[string]string{}
	for _, m := range models() {
		if m.answers.model == "" {
			continue
		}
		if m.Vendor != "Epson" {
			t.Errorf("%s is by %s, whose answers nobody documents", m.Name, m.Vendor)
		}
		if other, twice := seen[m.answers.model]; twice {
			t.Errorf("%s and %s are both %s", other, m.Name, m.answers.model)
		}
		seen[m.answers.model] = m.Name
	}
	if len(seen) < 5 {
		t.Errorf("only %d models are told apart", len(seen))
	}
}
