package session

import (
	"slices"

	"chit/printer/escpos"
)

// part is how much of a document an answer speaks for.
type part uint8

const (
	nothing part = iota
	body         // everything but the cut
	whole        // the cut too, or all of a document that has none
)

// proof is one answer to one fence: this part of that document has been printed.
type proof struct {
	token    escpos.Token // of the job; its body's fence has a token of its own, see bodyToken
	part     part
	evidence Evidence
}

// bodyToken is the token of the fence between body and cut. It differs from the job's own, since a
// printer that has two ids to tell sends only the newest (Epson, GS ( H), and one id for both would
// not say which. Half the circle ahead, it meets no other job for 40 million documents.
func bodyToken(t escpos.Token) escpos.Token {
	return escpos.TokenOf(t.Number() + escpos.Tokens/2)
}

// askToken is the n-th token of queries that belong to no document: the last 95 of the circle.
func askToken(n uint64) escpos.Token {
	const reserved = 95
	return escpos.TokenOf(escpos.Tokens - reserved + n%reserved)
}

// proofs are the answers that printers gave, oldest first, bounded. They outlive a connection: an
// answer speaks for the document that its fence was issued to, however late it comes.
type proofs []proof

// proofsMax is far more than can be outstanding with one document in flight.
const proofsMax = 64

func (p *proofs) add(q proof) {
	*p = append(*p, q)
	if extra := len(*p) - proofsMax; extra > 0 {
		*p = slices.Delete(*p, 0, extra)
	}
}

// answered notes an answer to GS ( H, whichever document it belongs to.
func (p *proofs) answered(t escpos.Token) {
	p.add(proof{token: t, part: whole, evidence: Confirmed})
}

// of is the best that was said about the document with token t. Only its own two tokens count: a
// later token would imply this one on a faultless printer, but clones are not, and we issue no
// later one while this is open.
func (p proofs) of(t escpos.Token) (part, Evidence) {
	best, evidence := nothing, None
	for _, q := range p {
		switch {
		case q.token == t && q.part >= best:
			best, evidence = q.part, max(evidence, q.evidence)
		case q.evidence == Confirmed && q.token == bodyToken(t) && best < body:
			best, evidence = body, max(evidence, Fenced)
		}
	}
	return best, evidence
}

// without drops what was answered to this token and to that of its body.
func (p proofs) without(t escpos.Token) proofs {
	return slices.DeleteFunc(p, func(q proof) bool {
		return q.token == t || q.evidence == Confirmed && q.token == bodyToken(t)
	})
}

// has is true where exactly this token was answered to GS ( H.
func (p proofs) has(t escpos.Token) bool {
	return slices.ContainsFunc(p, func(q proof) bool {
		return q.token == t && q.evidence == Confirmed
	})
}

// step is one write and the proof to wait for before the next.
type step struct {
	bytes []byte
	// breaks are the places in bytes at which the host may pause; see escpos.Paper.
	breaks []int
	// fence is the proof that the GS r 1 at the end of bytes will be; its part is nothing where
	// there is no GS r 1.
	fence proof
	until part
}

// plan lays out a job for what the unit can do (DESIGN section 5). GS ( H fences go out with the
// document in one write; after GS r nothing may be sent until its answer (Epson, GS r), so there
// the cut waits for the body.
func plan(unit Unit, job Job) []step {
	paper := job.Paper
	fenced := func(p part) proof { return proof{token: job.Token, part: p, evidence: Fenced} }
	switch {
	case unit.ProcessID && len(paper.Cut) > 0:
		return []step{{until: whole, breaks: paper.Breaks, bytes: slices.Concat(
			paper.Body, escpos.ProcessID(bodyToken(job.Token)),
			paper.Cut, escpos.ProcessID(job.Token))}}
	case unit.ProcessID:
		return []step{{until: whole, breaks: paper.Breaks,
			bytes: slices.Concat(paper.Body, escpos.ProcessID(job.Token))}}
	case unit.Fence && len(paper.Cut) > 0:
		return []step{
			{until: body, fence: fenced(body), breaks: paper.Breaks,
				bytes: slices.Concat(paper.Body, escpos.FencePaper())},
			{until: whole, fence: fenced(whole), bytes: slices.Concat(paper.Cut, escpos.FencePaper())},
		}
	case unit.Fence:
		return []step{
			{until: whole, fence: fenced(whole), breaks: paper.Breaks,
				bytes: slices.Concat(paper.Body, escpos.FencePaper())},
		}
	}
	return []step{{breaks: paper.Breaks, bytes: slices.Concat(paper.Body, paper.Cut)}}
}
