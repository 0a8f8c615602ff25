package wire

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// This file reads the payloads of all signed messages but the ticket. Unknown members are ignored:
// within major version 1 they come from a newer minor one and may not change what the known ones
// mean.

var (
	ruleWord    = rule{want: "1 to 64 of A-Z a-z 0-9 . _ -", ok: isToken}
	ruleText    = rule{max: NameMax}
	ruleOutcome = rule{required: true, want: "an outcome of wire version 1",
		ok: func(s string) bool { return Outcome(s).Known() }}
	ruleEvidence = rule{want: "an evidence of wire version 1",
		ok: func(s string) bool { return Evidence(s).Known() }}
	ruleDigest = rule{want: "sha256: and 64 lower-case hex digits", ok: func(s string) bool {
		return s == "" || checkDigest(s)
	}}
	ruleMadeNumber = rule{required: true, want: "L<n>", ok: func(s string) bool {
		digits, ok := strings.CutPrefix(s, "L")
		_, count := parseCount(digits, 9)
		return ok && count
	}}
)

// decodeClaims reads a payload that is one flat object. Errors wrap [ErrMalformed] or [ErrClaims].
func decodeClaims[M any](payload []byte, read func(*report, jsonValue) M) (M, error) {
	var none M
	tree, err := parseSound(payload)
	if err != nil {
		return none, err
	}
	r := &report{lenient: true}
	m := read(r, tree)
	if err := r.claims(); err != nil {
		return none, err
	}
	return m, nil
}

func readRecall(r *report, v jsonValue) Recall {
	o := r.object(v, "")
	return Recall{
		ID:       o.text("id", ruleVisible),
		Ticket:   o.text("ticket", ruleTicketID),
		Attempt:  int(o.integer("attempt", true, 1, math.MaxInt32)),
		Reason:   o.text("reason", required(ruleWord)),
		IssuedAt: o.integer("iat", true, 0, IntMax),
		MovedTo:  o.text("moved_to", ruleText),
		Device:   o.text("aud", optional(ruleID)),
	}
}

func readCommand(r *report, v jsonValue) Command {
	o := r.object(v, "")
	return Command{
		ID:       o.text("id", ruleVisible),
		Do:       o.text("do", required(ruleWord)),
		Args:     o.words("args"),
		IssuedAt: o.integer("iat", true, 0, IntMax),
		Device:   o.text("aud", optional(ruleID)),
	}
}

func readWelcome(r *report, v jsonValue) Welcome {
	o := r.object(v, "")
	return Welcome{
		Session: o.text("session", ruleVisible),
		Epoch:   o.count("epoch", true, 0),
		Host:    o.text("host", ruleVisible),
		Now:     o.integer("now_ms", true, 1, IntMax),
		Journal: o.text("journal", ruleVisible),
		NSeen:   o.count("n_seen", true, 0),
	}
}

func readHost(r *report, v jsonValue) Host {
	o := r.object(v, "")
	return Host{
		State: o.text("state", rule{required: true, want: "alive or draining",
			ok: oneOf("alive", "draining")}),
		Epoch: o.text("epoch", ruleVisible),
	}
}

func readHello(r *report, v jsonValue) Hello {
	o := r.object(v, "")
	return Hello{
		Device:  o.text("iss", ruleID),
		Session: o.text("session", ruleVisible),
		Boot:    o.count("boot", true, 0),
		Journal: o.text("journal", ruleVisible),
		N:       o.count("n", true, 0),
		Serial:  o.text("serial", ruleText),
		Version: o.text("version", required(ruleText)),
		Format:  int(o.integer("wire", true, 1, math.MaxInt32)),
	}
}

func readAck(r *report, v jsonValue) Ack {
	o := r.object(v, "")
	a := Ack{
		Device:    o.text("iss", ruleID),
		Ticket:    o.text("sub", ruleTicketID),
		Attempt:   int(o.integer("attempt", true, 1, math.MaxInt32)),
		Outcome:   Outcome(o.text("outcome", ruleOutcome)),
		Permanent: o.boolean("permanent", false),
		Evidence:  Evidence(o.text("evidence", ruleEvidence)),
		Reason:    o.text("reason", optional(ruleVisible)),
		Digest:    o.text("digest", required(ruleDigest)),
		Marked:    o.boolean("marked", false),
		Journal:   o.text("journal", ruleVisible),
		Boot:      o.count("boot", true, 0),
		N:         o.count("n", true, 1),
		IssuedAt:  o.integer("iat", true, 0, IntMax),
	}
	o.checkAck(a)
	return a
}

// checkAck holds what an outcome needs: paper has evidence, a refusal and a wait have a reason, a
// recall has a name, and only a refusal is permanent.
func (o object) checkAck(a Ack) {
	_, reason := o.get("reason")
	switch a.Outcome {
	case OutcomePrinted, OutcomeDuplicate:
		if a.Evidence.Rank() < EvidenceSent.Rank() && a.Evidence != EvidenceUnknown {
			o.r.add("evidence", string(a.Evidence), "sent to seen, or unknown, with "+
				string(a.Outcome))
		}
	case OutcomeRefused, OutcomeHeld, OutcomeRecalled:
		if !reason {
			o.need("reason", "a reason with "+string(a.Outcome))
		}
	}
	if a.Permanent && a.Outcome != OutcomeRefused {
		o.r.add("permanent", "true", "true only with refused")
	}
	// What could not be read was not hashed, and a recall may name what was never received.
	if a.Digest == "" && a.Outcome != OutcomeRefused && a.Outcome != OutcomeRecalled {
		o.r.add("digest", "nothing", ruleDigest.want)
	}
}

func readReply(r *report, v jsonValue) Reply {
	o := r.object(v, "")
	return Reply{
		Device:   o.text("iss", ruleID),
		Command:  o.text("sub", ruleVisible),
		OK:       o.boolean("ok", true),
		Error:    o.text("error", ruleNote),
		Result:   o.words("result"),
		Journal:  o.text("journal", ruleVisible),
		Boot:     o.count("boot", true, 0),
		N:        o.count("n", true, 1),
		IssuedAt: o.integer("iat", true, 0, IntMax),
	}
}

func readMade(r *report, v jsonValue) Made {
	o := r.object(v, "")
	return Made{
		Device:   o.text("iss", ruleID),
		Ticket:   o.text("sub", ruleTicketID),
		Digest:   o.text("digest", required(ruleDigest)),
		Number:   o.text("number", ruleMadeNumber),
		Station:  o.text("station", ruleID),
		Printer:  o.text("printer", rulePrinter),
		Journal:  o.text("journal", ruleVisible),
		Boot:     o.count("boot", true, 0),
		N:        o.count("n", true, 1),
		IssuedAt: o.integer("iat", true, 0, IntMax),
	}
}

// decodeMade also cuts data out as bytes and holds it against digest before anyone reads it.
func decodeMade(payload []byte) (Made, error) {
	tree, err := parseSound(payload)
	if err != nil {
		return Made{}, err
	}
	r := &report{lenient: true}
	m := readMade(r, tree)
	if err := r.claims(); err != nil {
		return Made{}, err
	}
	v, ok := r.object(tree, "").get("data")
	if !ok || v.kind != jsonObject {
		return Made{}, fmt.Errorf("%w: data: want an object", ErrClaims)
	}
	m.Data = bytes.Clone(payload[v.start:v.end])
	if len(m.Data) > ContentMax {
		return Made{}, fmt.Errorf("%w: data of %d bytes, want at most %d", ErrTooLarge, len(m.Data),
			ContentMax)
	}
	if m.Digest != Digest(m.Data) {
		return Made{}, fmt.Errorf("%w: digest: want the digest of data", ErrClaims)
	}
	id, _ := ParseTicketID(m.Ticket)
	if inner := r.object(v, "data").text("id", ruleContentID); inner != id.Content() {
		return Made{}, fmt.Errorf("%w: data.id: want the order and seq of sub", ErrClaims)
	}
	return m, nil
}
