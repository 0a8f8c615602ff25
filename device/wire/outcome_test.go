package wire

import (
	"errors"
	"fmt"
	"testing"
)

func TestEvidenceOnlyRises(t *testing.T) {
	order := []Evidence{EvidenceStored, EvidenceSent, EvidenceCounted, EvidenceFenced,
		EvidenceConfirmed, EvidenceSeen}
	for i, a := range order {
		if a.Rank() != i+1 || !a.Known() {
			t.Errorf("%s has rank %d, want %d", a, a.Rank(), i+1)
		}
		for j, b := range order {
			if got, want := Stronger(a, b), order[max(i, j)]; got != want {
				t.Errorf("Stronger(%s, %s) = %s, want %s", a, b, got, want)
			}
		}
		for _, weak := range []Evidence{EvidenceNone, EvidenceUnknown} {
			if Stronger(a, weak) != a || Stronger(weak, a) != a {
				t.Errorf("%s does not win over %q", a, weak)
			}
		}
	}
	if Stronger(EvidenceNone, EvidenceUnknown) != EvidenceUnknown ||
		Stronger(EvidenceUnknown, EvidenceNone) != EvidenceUnknown {
		t.Error("unknown does not win over none")
	}
	if Evidence("hearsay").Known() {
		t.Error("hearsay is known")
	}
}

func TestOutcomesKnowWhetherTheyEndATicket(t *testing.T) {
	for o, want := range map[Outcome]struct{ known, final, paper bool }{
		OutcomeStored:    {known: true},
		OutcomeHeld:      {known: true},
		OutcomeRefused:   {known: true}, // Never remembered as done.
		OutcomePrinted:   {true, true, true},
		OutcomeDuplicate: {true, true, true},
		OutcomeExpired:   {known: true, final: true},
		OutcomeRecalled:  {known: true, final: true},
		"eaten":          {},
	} {
		if o.Known() != want.known || o.Final() != want.final || o.OnPaper() != want.paper {
			t.Errorf("%s: known %v, final %v, on paper %v", o, o.Known(), o.Final(), o.OnPaper())
		}
	}
}

func TestEveryRefusalHasItsWord(t *testing.T) {
	for err, want := range map[error]string{
		nil: "", ErrMalformed: "malformed", ErrTooLarge: "too_large", ErrAlg: "alg", ErrTyp: "typ",
		ErrKID: "kid", ErrSignature: "signature", ErrClaims: "claims", ErrVersion: "version",
		ErrTopic: "topic", ErrTopicVersion: "version", ErrID: "claims", errors.New("x"): "other",
		&ContentError{}: "claims",
	} {
		if got := Reason(err); got != want {
			t.Errorf("Reason(%v) = %q, want %q", err, got, want)
		}
		if err != nil {
			if got := Reason(fmt.Errorf("reading: %w", err)); got != want {
				t.Errorf("Reason(wrapped %v) = %q, want %q", err, got, want)
			}
		}
	}
}
