package wire

// Final tells whether o ends the ticket on the device that says it: its paper exists, or it never
// will by this hand. A stored, held or temporarily refused ticket is not final.
func (o Outcome) Final() bool {
	switch o {
	case OutcomePrinted, OutcomeDuplicate, OutcomeExpired, OutcomeRecalled:
		return true
	}
	return false
}

// OnPaper tells whether o says that paper came out.
func (o Outcome) OnPaper() bool { return o == OutcomePrinted || o == OutcomeDuplicate }

// Known tells whether o is one of the outcomes of wire version 1.
func (o Outcome) Known() bool {
	switch o {
	case OutcomeStored, OutcomeHeld, OutcomePrinted, OutcomeDuplicate, OutcomeRefused,
		OutcomeExpired, OutcomeRecalled:
		return true
	}
	return false
}

// Rank orders evidence: stored 1 … seen 6; none and unknown, which stand outside the order, are 0.
func (e Evidence) Rank() int {
	switch e {
	case EvidenceStored:
		return 1
	case EvidenceSent:
		return 2
	case EvidenceCounted:
		return 3
	case EvidenceFenced:
		return 4
	case EvidenceConfirmed:
		return 5
	case EvidenceSeen:
		return 6
	}
	return 0
}

// Known tells whether e is one of the evidences of wire version 1, none included.
func (e Evidence) Known() bool {
	return e == EvidenceNone || e == EvidenceUnknown || e.Rank() > 0
}

// Stronger is the better evidence of the two: evidence only rises. Unknown yields to all but none.
func Stronger(a, b Evidence) Evidence {
	switch {
	case b.Rank() > a.Rank():
		return b
	case a == EvidenceNone:
		return b
	}
	return a
}

// AckKey names one ack for ever: (journal, boot, n) never repeats.
type AckKey struct {
	Journal string
	Boot    uint64
	N       uint64
}

// Key is what tells this ack from every other.
func (a Ack) Key() AckKey { return AckKey{a.Journal, a.Boot, a.N} }

// Key is what tells this reply from every other message of its device.
func (r Reply) Key() AckKey { return AckKey{r.Journal, r.Boot, r.N} }

// Key is what tells this report from every other message of its device.
func (m Made) Key() AckKey { return AckKey{m.Journal, m.Boot, m.N} }
