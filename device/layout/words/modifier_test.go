package words

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheWordOfAModifierIsFoundInEveryLanguage(t *testing.T) {
	for _, c := range []struct {
		text string
		want Modifier
	}{
		{"NO basil", Modifier{Without, "", "NO", " basil"}},
		{"Without onion", Modifier{Without, "", "Without", " onion"}},
		{"extra mozzarella", Modifier{Extra, "", "extra", " mozzarella"}},
		{"ohne Zwiebeln", Modifier{Without, "", "ohne", " Zwiebeln"}},
		{"Sans oignon", Modifier{Without, "", "Sans", " oignon"}},
		{"ΧΩΡΊΣ κρεμμύδι", Modifier{Without, "", "ΧΩΡΊΣ", " κρεμμύδι"}},
		{"بدون بصل", Modifier{Without, "", "بدون", " بصل"}},
		{"不要香菜", Modifier{Without, "", "不要", "香菜"}},
		{"ไม่ใส่ผักชี", Modifier{Without, "", "ไม่ใส่", "ผักชี"}},
		{"玉ねぎ抜き", Modifier{Without, "玉ねぎ", "抜き", ""}},
		{"soğan olmasın", Modifier{Without, "soğan ", "olmasın", ""}},
		// Words that only begin so, and words alone.
		{"Nori", Modifier{Before: "Nori"}}, {"extraordinary", Modifier{Before: "extraordinary"}},
		{"no", Modifier{Before: "no"}}, {"medium", Modifier{Before: "medium"}}, {"", Modifier{}},
		{"No.5 sauce", Modifier{Before: "No.5 sauce"}},
	} {
		if got := Sensed(c.text); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestNoLetterOfAModifierIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "no ", "不要", "ohne", "抜き"}).Draw(t, "word") +
			rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "抜き"}).Draw(t, "end")
		m := Sensed(text)
		if m.Before+m.Word+m.After != text || (m.Word == "") != (m.Sense == Plain) {
			t.Fatalf("%q: %+v", text, m)
		}
	})
}

func TestNoWordBothTakesAwayAndAdds(t *testing.T) {
	seen := map[string]Sense{}
	for _, s := range signals {
		if other, ok := seen[s.word]; ok && other != s.sense {
			t.Errorf("%q takes away and adds", s.word)
		}
		seen[s.word] = s.sense
	}
}
