package session

import (
	"chit/printer/escpos"
	"chit/printer/status"
)

// This file shows the session's judgements as plain values, without its goroutines: the simulator
// holds its own dialogue with a printer in virtual time and must not judge by rules of its own.

// Health is a printer's condition as far as its answers tell. The zero value knows nothing wrong.
type Health struct{ health health }

// After is the condition once e was said.
func (h Health) After(e status.Event) Health { return Health{h.health.after(e)} }

// Hold is the one reason that a person should act on first.
func (h Health) Hold() Hold { return h.health.hold() }

// PaperLow is the near-end sensor.
func (h Health) PaperLow() bool { return h.health.paperLow }

// Touches is true where e says that somebody may have moved paper, so that the odometer must be
// read again before it is believed.
func Touches(e status.Event) bool { return touches(e) }

// Proof is what one fence proves when it is answered.
type Proof struct{ proof proof }

// Heard are the answers that a printer gave. They outlive a connection, not a process.
type Heard struct{ proofs proofs }

// ProcessID notes an answer to GS ( H, whichever document it belongs to.
func (h *Heard) ProcessID(t escpos.Token) { h.proofs.answered(t) }

// Fence notes an answer to the GS r that was to prove p.
func (h *Heard) Fence(p Proof) { h.proofs.add(p.proof) }

// Forget drops what was answered to a token that is about to be used.
func (h *Heard) Forget(t escpos.Token) { h.proofs = h.proofs.without(t) }

// Has is true where exactly this token was answered to GS ( H.
func (h *Heard) Has(t escpos.Token) bool { return h.proofs.has(t) }

// Step is one write of a document and the proof to wait for before the next.
type Step struct {
	Bytes []byte
	// Fence is what the GS r at the end of Bytes will prove; Fenced is false where there is none.
	Fence  Proof
	Fenced bool
	token  escpos.Token
	until  part
}

// Plan lays out a job for what the unit can do (DESIGN section 5).
func Plan(unit Unit, job Job) []Step {
	var steps []Step
	for _, s := range plan(unit, job) {
		steps = append(steps, Step{Bytes: s.bytes, Fence: Proof{s.fence},
			Fenced: s.fence.part != nothing, token: job.Token, until: s.until})
	}
	return steps
}

// Blind is true where no answer can prove the step: accepted bytes are all there is.
func (s Step) Blind() bool { return s.until == nothing }

// Proven tells whether what was heard proves the step, how well, and whether it only proves the
// body of a ticket whose cutter has jammed, which ends the wait too.
func (s Step) Proven(h *Heard, health Health) (done bool, e Evidence, cutFault bool) {
	printed, e := h.proofs.of(s.token)
	cutFault = printed >= body && health.Hold() == HoldCutter
	return printed >= s.until || cutFault, e, cutFault
}

// Decide says what became of an interrupted document, from the answers heard so far and the
// odometer now. It never guesses.
func Decide(intent Intent, unit Unit, h *Heard, now Counters) Resolution {
	return decide(intent, unit, h.proofs, now)
}

// Untouched is true where the odometer says that nothing of a document came out whose rest the
// printer confirmed to have dropped.
func Untouched(intent Intent, unit Unit, now Counters) bool { return untouched(intent, unit, now) }
