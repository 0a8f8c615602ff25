package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Fixed attributes of the envelope (CloudEvents 1.0, JSON format 1.0).
const (
	// EventType is the type of a ticket event.
	EventType = "chit.ticket.v1"

	eventTypeStem   = "chit.ticket.v"
	eventSpec       = "1.0"
	eventDataType   = "application/json"
	eventSourceStem = "chit/"
)

// envelope fixes the order of attributes; data is spliced behind them. CloudEvents integers are 32
// bits wide and attributes cannot hold objects, so changes travels as a string of JSON.
type envelope struct {
	Spec     string `json:"specversion"`
	Type     string `json:"type"`
	Source   string `json:"source"`
	ID       string `json:"id"`
	Time     string `json:"time"`
	DataType string `json:"datacontenttype"`
	Device   string `json:"aud,omitempty"`
	Attempt  int    `json:"attempt"`
	Lease    int64  `json:"leasems"`
	Stale    int64  `json:"stalems,omitempty"`
	Expires  int64  `json:"expiress"`
	Printer  string `json:"printer"`
	Station  string `json:"station"`
	Number   string `json:"number,omitempty"`
	Previous string `json:"previous,omitempty"`
	Pred     string `json:"pred,omitempty"`
	Gaps     string `json:"gaps,omitempty"`
	As       string `json:"as,omitempty"`
	Marks    string `json:"marks,omitempty"`
	From     string `json:"from,omitempty"`
	OnStale  string `json:"onstale,omitempty"`
	AlsoAt   string `json:"alsoat,omitempty"`
	CopyOf   string `json:"copyof,omitempty"`
	Above    int    `json:"above,omitempty"`
	Changes  string `json:"changes,omitempty"`
}

// EncodeTicket writes t as a CloudEvents 1.0 event in JSON format with its data spliced in as
// bytes.
//
// What [DecodeTicket] would refuse is not written; nor is data that is not in RFC 8785 form, nor an
// unknown mark. An event over [MessageMax] wraps [ErrTooLarge].
func EncodeTicket(t Ticket) ([]byte, error) {
	if !isExact(t.Data) {
		return nil, fmt.Errorf("wire: ticket %s: %w: data: want the bytes of Canonical", t.ID,
			ErrClaims)
	}
	for _, m := range t.Marks {
		if !m.Known() {
			return nil, fmt.Errorf("wire: ticket %s: %w: marks: unknown %q", t.ID, ErrClaims, m)
		}
	}
	changes, err := encodeChanges(t.Changes)
	if err != nil {
		return nil, err
	}
	head, err := marshal(envelope{
		Spec: eventSpec, Type: EventType, Source: t.Source, ID: t.ID, Time: t.Time,
		DataType: eventDataType, Device: t.Device, Attempt: t.Attempt, Lease: t.Lease,
		Stale: t.Stale, Expires: t.Expires, Printer: t.Printer, Station: t.Station,
		Number: t.Number, Previous: t.Previous, Pred: t.Pred, Gaps: t.Gaps, As: string(t.As),
		Marks: formatMarks(t.Marks), From: t.From, OnStale: string(t.OnStale), AlsoAt: t.AlsoAt,
		CopyOf: t.CopyOf, Above: t.Above, Changes: changes,
	})
	if err != nil {
		return nil, fmt.Errorf("wire: writing ticket %s: %w", t.ID, err)
	}
	raw := splice(head, t.Data)
	if _, err := DecodeTicket(raw); err != nil {
		return nil, fmt.Errorf("wire: writing ticket %s: %w", t.ID, err)
	}
	return raw, nil
}

// DecodeTicket reads an event. Data is a copy of the exact bytes between "data": and what follows;
// hash it before it is parsed. Unknown attributes are ignored, as CloudEvents demands.
//
// Errors wrap [ErrMalformed], [ErrTooLarge], [ErrVersion], [ErrTyp] or [ErrClaims]. With an error,
// ID, Attempt and Data are set where they could be read, and nothing else: a device owes the sender
// of a genuine message a signed refusal, also of what it cannot understand.
func DecodeTicket(raw []byte) (Ticket, error) {
	if len(raw) > OpenMax {
		return Ticket{}, fmt.Errorf("%w: event of %d bytes, want at most %d", ErrTooLarge, len(raw),
			MessageMax)
	}
	tree, err := parseSound(raw)
	known := salvage(tree, raw)
	if err != nil {
		return known, err
	}
	if len(raw) > MessageMax {
		return known, fmt.Errorf("%w: event of %d bytes, want at most %d", ErrTooLarge, len(raw),
			MessageMax)
	}
	if err := checkEvent(tree); err != nil {
		return known, err
	}
	if len(known.Data) > ContentMax {
		return known, fmt.Errorf("%w: data of %d bytes, want at most %d", ErrTooLarge,
			len(known.Data), ContentMax)
	}
	r := &report{lenient: true}
	t := readTicket(r, tree)
	t.Data = known.Data
	if err := r.claims(); err != nil {
		return known, err
	}
	return t, nil
}

// salvage takes what a refusal needs from an event that may be of any version.
func salvage(tree jsonValue, raw []byte) Ticket {
	o := (&report{lenient: true}).object(tree, "")
	t := Ticket{
		ID:      o.text("id", ruleTicketID),
		Attempt: int(o.integer("attempt", true, 1, math.MaxInt32)),
	}
	if v, ok := o.get("data"); ok {
		t.Data = bytes.Clone(raw[v.start:v.end])
	}
	return t
}

// checkEvent tells what kind of event it is before any other attribute is believed.
func checkEvent(tree jsonValue) error {
	r := &report{lenient: true}
	o := r.object(tree, "")
	spec, kind := o.text("specversion", rule{required: true}), o.text("type", rule{required: true})
	version, ours := strings.CutPrefix(kind, eventTypeStem)
	switch {
	case len(r.errs) > 0:
		return r.claims()
	case spec != eventSpec:
		return fmt.Errorf("%w: specversion %.20q, want %s", ErrVersion, spec, eventSpec)
	case kind == EventType:
		return nil
	case ours && isVersion(version):
		return fmt.Errorf("%w: event type %.40q, want %s", ErrVersion, kind, EventType)
	}
	return fmt.Errorf("%w: event type %.40q, want %s", ErrTyp, kind, EventType)
}

// isVersion tells whether s is a major version after ours.
func isVersion(s string) bool {
	n, ok := parseCount(s, 9)
	return ok && n > 1
}

func readTicket(r *report, tree jsonValue) Ticket {
	o := r.object(tree, "")
	o.text("datacontenttype", rule{required: true, ok: oneOf(eventDataType), want: eventDataType})
	t := Ticket{
		Source:   o.text("source", ruleSource),
		ID:       o.text("id", ruleTicketID),
		Time:     o.text("time", required(ruleInstant)),
		Device:   o.text("aud", optional(ruleID)),
		Attempt:  int(o.integer("attempt", true, 1, math.MaxInt32)),
		Lease:    o.integer("leasems", true, 1, math.MaxInt32),
		Stale:    o.integer("stalems", false, 0, math.MaxInt32),
		Expires:  o.integer("expiress", true, 1, math.MaxInt32),
		Printer:  o.text("printer", rulePrinter),
		Station:  o.text("station", ruleID),
		Number:   o.text("number", ruleNumber),
		Previous: o.text("previous", ruleNumber),
		Pred:     o.text("pred", optional(ruleTicketID)),
		Gaps: o.text("gaps", rule{ok: areGaps,
			want: "a comma list of <number>:<what>[:<where>]"}),
		As: Kind(o.text("as", optional(ruleKind))),
		Marks: parseMarks(o.text("marks", rule{ok: areMarks,
			want: "a comma list of at most 16 words"})),
		From:    o.text("from", ruleText),
		OnStale: OnStale(o.text("onstale", optional(ruleWord))),
		AlsoAt: o.text("alsoat", rule{ok: areStations,
			want: "a comma list of at most 32 station ids"}),
		CopyOf: o.text("copyof", optional(ruleID)),
		Above:  int(o.integer("above", false, 0, SeqMax)),
	}
	if text := o.text("changes", rule{}); text != "" {
		t.Changes = readChanges(r, text)
	}
	data, ok := o.get("data")
	if !ok || data.kind != jsonObject {
		r.add("data", "no object", "an object")
		return t
	}
	// The pair must agree: the order on the paper is the order that is acknowledged.
	id, _ := ParseTicketID(t.ID)
	inner := (&report{lenient: true}).object(data, "data").text("id", ruleContentID)
	if t.ID != "" && inner != id.Content() {
		r.add("data.id", "another id", "the order and seq of the ticket id")
	}
	return t
}

func encodeChanges(c *Changes) (string, error) {
	if c == nil {
		return "", nil
	}
	raw, err := marshal(c)
	if err != nil {
		return "", fmt.Errorf("wire: writing changes: %w", err)
	}
	// CloudEvents 1.0 section 2.1 bars U+007F-U+009F from strings; JSON may escape them.
	var b strings.Builder
	for _, r := range string(raw) {
		if 0x7f <= r && r <= 0x9f {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), nil
}

func readChanges(r *report, text string) *Changes {
	tree, err := parseSound([]byte(text))
	if err != nil {
		r.add("changes", "no JSON", "a text that is a JSON object")
		return nil
	}
	o := r.object(tree, "changes")
	c := &Changes{
		Since:   int(o.integer("since", true, 0, SeqMax)),
		Added:   readItems(r, o.list("added", ItemsMax), "changes.added"),
		Removed: readItems(r, o.list("removed", ItemsMax), "changes.removed"),
		Altered: readItems(r, o.list("altered", ItemsMax), "changes.altered"),
		Was:     readItems(r, o.list("was", ItemsMax), "changes.was"),
		Omitted: o.boolean("omitted", false),
	}
	if len(c.Altered) != len(c.Was) {
		r.add("changes.was", fmt.Sprintf("%d items", len(c.Was)), "as many items as altered has")
	}
	return c
}

// isExact tells whether data is one JSON object in RFC 8785 form. Nothing else is spliced: it could
// bring members of its own, or white space that is cut off again and missing in the digest.
func isExact(data []byte) bool {
	form, err := jcs.Transform(data)
	return err == nil && len(data) > 0 && data[0] == '{' && bytes.Equal(form, data)
}

// splice puts data behind the other members of the object head, unchanged.
func splice(head, data []byte) []byte {
	out := make([]byte, 0, len(head)+len(data)+len(`,"data":`))
	out = append(out, head[:len(head)-1]...)
	out = append(out, `,"data":`...)
	out = append(out, data...)
	return append(out, '}')
}

// marshal is json.Marshal without HTML escapes. Text that is not UTF-8 is repaired with U+FFFD.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func required(u rule) rule {
	u.required = true
	return u
}

func optional(u rule) rule {
	u.required = false
	return u
}

var (
	ruleTicketID = rule{required: true, want: "<order>/<seq>[/r<k>]@<station>",
		ok: func(s string) bool {
			_, err := ParseTicketID(s)
			return err == nil
		}}
	ruleSource = rule{required: true, want: "chit/<tenant>", ok: func(s string) bool {
		tenant, ok := strings.CutPrefix(s, eventSourceStem)
		return ok && CheckID(tenant) == nil
	}}
	rulePrinter = rule{required: true, want: "1 to 64 of A-Z a-z 0-9 . _ -",
		ok: func(s string) bool { return CheckPrinter(s) == nil }}
	ruleNumber = rule{want: "1 to 64 of A-Z a-z 0-9 . _ -", ok: isToken}
	// ruleVisible holds ids and words whose form their maker chooses.
	ruleVisible = rule{required: true, want: "1 to 128 visible ASCII characters",
		ok: func(s string) bool {
			return s != "" && len(s) <= 128 && strings.IndexFunc(s, func(r rune) bool {
				return r <= ' ' || r >= utf8.RuneSelf-1
			}) < 0
		}}
)
