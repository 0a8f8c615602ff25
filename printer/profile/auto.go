package profile

import (
	"fmt"
	"strings"
)

// answers is how a unit that really is this model tells itself from one that only says so.
type answers struct {
	model string // GS I 67
	// has and lacks are letters of what it was seen to answer, as session writes them behind the #
	// of a unit's fingerprint: h GS ( H, r GS r, g GS g 2, a GS a.
	has, lacks string
}

// maker is what GS I 66 says of the only maker whose answers are documented for each model.
const maker = "EPSON"

// SafeFor returns the safe profile for paper of 58, 76 or 80 mm, and whether there is one.
func SafeFor(paperMM int) (Profile, bool) {
	switch paperMM {
	case 58:
		return Safe58(), true
	case 76:
		return Safe76(), true
	case 80:
		return Safe80(), true
	}
	return Profile{}, false
}

// Auto returns the profile for a unit with that fingerprint (session.Unit.Fingerprint, such as
// "TM-T20III/EPSON/1.00/X4B2000001#hrgca") on paper of that width in mm. It is the safe profile of
// the width unless the unit says that it is a model of the documented maker, has a serial number,
// answers what this model answers and nothing that it does not have. Clones that take the name of
// an old model answer more than that model could.
//
// No printer tells the width of its paper, so that a model is taken only where its paper is as wide
// as asked for. A clone that copies all of a model is taken for it: then pages beyond the safe ones
// may hold other letters, which chit printer codepages shows.
//
// paperMM is one that [SafeFor] knows.
func Auto(fingerprint string, paperMM int) Profile {
	fallback, ok := SafeFor(paperMM)
	if !ok {
		panic(fmt.Sprintf("profile: paper of %d mm, expected 58, 76 or 80", paperMM))
	}
	identity, letters, probed := strings.Cut(fingerprint, "#")
	said := strings.Split(identity, "/")
	if !probed || len(said) != 4 || !strings.EqualFold(said[1], maker) || said[3] == "" {
		return fallback
	}
	for _, m := range models() {
		a := m.answers
		if a.model == "" || a.model != said[0] || m.Refused != "" || m.paperMM() != paperMM {
			continue
		}
		fits := !strings.ContainsAny(letters, a.lacks)
		for _, letter := range a.has {
			fits = fits && strings.ContainsRune(letters, letter)
		}
		if fits {
			return m.clone().Profile
		}
	}
	return fallback
}

// paperMM is the width of the paper that a model's dots need.
func (m Model) paperMM() int {
	switch {
	case m.Impact:
		return 76
	case m.WidthDots <= 440: // 55 mm at 203 dpi.
		return 58
	}
	return 80
}

// parseAnswers reads "MODEL has[-lacks]".
func parseAnswers(value string) (answers, error) {
	model, letters, _ := strings.Cut(value, " ")
	has, lacks, _ := strings.Cut(letters, "-")
	if model == "" || has == "" || strings.Trim(has+lacks, "hrga") != "" {
		return answers{}, fmt.Errorf("found %q, expected a model and letters of h, r, g and a", value)
	}
	return answers{model: model, has: has, lacks: lacks}, nil
}
