package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Decoded describes one message of ours to a person. It holds the message whole, names and notes
// included: show it to whoever asked and log none of it.
type Decoded struct {
	// Message is a [Type], or event, request, status, telemetry, feed, or unknown.
	Message string `json:"message"`
	Topic   string `json:"topic,omitempty"`
	Size    int    `json:"bytes"`
	KID     string `json:"kid,omitempty"`
	// Signature is "verified", "not checked", or "refused: " and a [Reason].
	Signature string `json:"signature,omitempty"`
	// Digest is that of the data inside, over the exact bytes.
	Digest string          `json:"digest,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	// Problems are the reasons for which a receiver would refuse the message.
	Problems []string `json:"problems,omitempty"`
}

// Decode describes any message of ours: signed or not, with its topic or without ("", and then no
// rule about topics is checked). Keys may be nil: then signatures are not checked and the
// description says so. It never fails; what is wrong stands in Problems.
func Decode(topic string, raw []byte, keys Keys) Decoded {
	d := Decoded{Message: "unknown", Topic: topic, Size: len(raw)}
	var t Topic
	if topic != "" {
		var err error
		if t, err = ParseTopic(topic); err != nil {
			d.problem(err)
		}
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		d.plain(t, raw)
	} else {
		d.signed(t, raw, keys)
	}
	return d
}

func (d *Decoded) problem(err error) {
	if err != nil {
		d.Problems = append(d.Problems, err.Error())
	}
}

// plain describes a message that is JSON by itself.
func (d *Decoded) plain(t Topic, raw []byte) {
	tree, err := parseSound(raw)
	if err != nil {
		d.problem(err)
		return
	}
	d.Body = bytes.Clone(raw)
	o := (&report{lenient: true}).object(tree, "")
	has := func(name string) bool {
		_, ok := o.get(name)
		return ok
	}
	switch {
	case t.Leaf == LeafFeed:
		d.Message = "feed"
	case t.Leaf == LeafStatus || t.Leaf == "" && has("state") && has("session"):
		d.Message = "status"
		_, err = DecodeStatus(raw)
	case t.Leaf == LeafTelemetry || t.Leaf == "" && has("uptime_s"):
		d.Message = "telemetry"
		_, err = DecodeTelemetry(raw)
	case has("specversion"):
		d.Message = "event"
		err = d.event(raw)
	case has("kitchen"):
		d.Message = "request"
		var data []byte
		if data, _, err = Canonical(raw); err == nil {
			d.Digest = Digest(data)
		}
	default:
		err = fmt.Errorf("%w: JSON of no kind that is known here", ErrMalformed)
	}
	d.problem(err)
	if t.Leaf != "" && (d.Message == "event" || d.Message == "request") {
		d.problem(fmt.Errorf("%w: unsigned %s on %s", ErrSignature, d.Message, t.Leaf))
	}
}

func (d *Decoded) event(raw []byte) error {
	t, err := DecodeTicket(raw)
	if t.Data != nil {
		d.Digest = Digest(t.Data)
	}
	if err == nil {
		_, err = ParseContent(t.Data)
	}
	return err
}

// signed describes a JWS. The payload is shown also where the signature is wrong or not checked.
func (d *Decoded) signed(t Topic, raw []byte, keys Keys) {
	typ, kid, err := Peek(raw)
	d.problem(err)
	if typ == "" {
		return
	}
	d.Message, d.KID, d.Signature = string(typ), kid, "not checked"
	if keys != nil {
		d.Signature = "verified"
		if payload, err := keys.open(raw, typ); payload == nil {
			d.Signature = "refused: " + Reason(err)
			d.problem(err)
		}
	}
	if t.Leaf != "" && !t.Leaf.Carries(typ) {
		d.problem(fmt.Errorf("%w: %s does not belong on %s", ErrTyp, typ, t.Leaf))
	}
	parts := bytes.Split(raw, []byte("."))
	payload, err := decodePart(parts[1])
	if err != nil {
		d.problem(err)
		return
	}
	tree, err := parseSound(payload)
	if err != nil {
		d.problem(err)
		return
	}
	d.Body = payload
	d.problem(d.claims(typ, payload))
	d.parties(t, tree)
}

// parties holds the device named inside against the one in the topic.
func (d *Decoded) parties(t Topic, tree jsonValue) {
	o := (&report{lenient: true}).object(tree, "")
	for _, name := range []string{"iss", "aud"} {
		if v, ok := o.get(name); ok && t.Device != "" && v.text != t.Device {
			d.problem(fmt.Errorf("%w: %s is another device than the topic's", ErrClaims, name))
		}
	}
}

func (d *Decoded) claims(typ Type, payload []byte) error {
	switch typ {
	case TypeTicket:
		return d.event(payload)
	case TypeRecall:
		return checkClaims(payload, readRecall)
	case TypeCommand:
		return checkClaims(payload, readCommand)
	case TypeWelcome:
		return checkClaims(payload, readWelcome)
	case TypeHost:
		return checkClaims(payload, readHost)
	case TypeHello:
		return checkClaims(payload, readHello)
	case TypeAck:
		return checkClaims(payload, readAck)
	case TypeReply:
		return checkClaims(payload, readReply)
	default:
		m, err := decodeMade(payload)
		d.Digest = m.Digest
		return err
	}
}

func checkClaims[M any](payload []byte, read func(*report, jsonValue) M) error {
	_, err := decodeClaims(payload, read)
	return err
}

// String is the description for a terminal: a line per fact, then the body, indented. Control
// characters in the body stay escaped, as JSON has them.
func (d Decoded) String() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	line("message", d.Message)
	if d.Topic != "" {
		line("topic", fmt.Sprintf("%q", d.Topic))
	}
	line("bytes", fmt.Sprint(d.Size))
	if d.KID != "" {
		line("kid", fmt.Sprintf("%q", d.KID))
	}
	line("signature", d.Signature)
	line("digest", d.Digest)
	for _, p := range d.Problems {
		line("problem", p)
	}
	var body bytes.Buffer
	if len(d.Body) > 0 && json.Indent(&body, d.Body, "", "  ") == nil {
		b.WriteString("\n" + visible(body.String()) + "\n")
	}
	return b.String()
}

// visible escapes what JSON lets through and a terminal should not see: DEL, C1, bidi controls.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if 0x7f <= r && r <= 0x9f || 0x200e <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e ||
			0x2066 <= r && r <= 0x2069 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
