package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// OpenMax bounds what is verified at all, in bytes. Whoever reads messages off a wire lets them
// through up to it: between [MessageMax] and it, a genuine ticket can still be refused by name;
// beyond it, nobody looks.
const OpenMax = 4 * MessageMax

// Keys are the public keys trusted for one sender, by kid: a tenant's broker keys, or one device's
// ack keys. Old ones stay as long as events handed over under them live (DESIGN section 4).
type Keys map[string]ed25519.PublicKey

// NewKeys gathers public keys under their kid; a key of another length wraps [ErrKey].
func NewKeys(public ...ed25519.PublicKey) (Keys, error) {
	keys := make(Keys, len(public))
	for _, one := range public {
		if len(one) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("wire: keys: %w: %d bytes, want %d", ErrKey, len(one),
				ed25519.PublicKeySize)
		}
		keys[KID(one)] = one
	}
	return keys, nil
}

// OpenTicket verifies and reads a message of the topic ticket. With an error that is about the
// content of a genuine message ([ErrVersion], [ErrTooLarge], [ErrClaims], [ErrTyp] of the event, or
// [ErrMalformed] JSON), ID, Attempt and Data are set where they could be read, for the signed
// refusal; a Ticket with an ID always comes from a verified message.
func (k Keys) OpenTicket(raw []byte) (Ticket, error) {
	payload, err := k.open(raw, TypeTicket)
	if payload == nil {
		return Ticket{}, err
	}
	t, inner := DecodeTicket(payload)
	if err == nil {
		err = inner
	}
	if err != nil {
		return Ticket{ID: t.ID, Attempt: t.Attempt, Data: t.Data}, err
	}
	return t, nil
}

// OpenRecall verifies and reads a message of the topic recall.
func (k Keys) OpenRecall(raw []byte) (Recall, error) {
	return openClaims(k, raw, TypeRecall, readRecall)
}

// OpenCommand verifies and reads a command.
func (k Keys) OpenCommand(raw []byte) (Command, error) {
	return openClaims(k, raw, TypeCommand, readCommand)
}

// OpenWelcome verifies and reads the answer to a hello.
func (k Keys) OpenWelcome(raw []byte) (Welcome, error) {
	return openClaims(k, raw, TypeWelcome, readWelcome)
}

// OpenHost verifies and reads the broker's sign of life.
func (k Keys) OpenHost(raw []byte) (Host, error) { return openClaims(k, raw, TypeHost, readHost) }

// OpenHello verifies and reads a device's opening. For this and all messages of a device the caller
// also compares Device with the topic's: a key speaks only for its own device.
func (k Keys) OpenHello(raw []byte) (Hello, error) {
	return openClaims(k, raw, TypeHello, readHello)
}

// OpenAck verifies and reads an answer about a ticket.
func (k Keys) OpenAck(raw []byte) (Ack, error) { return openClaims(k, raw, TypeAck, readAck) }

// OpenReply verifies and reads the answer to a command.
func (k Keys) OpenReply(raw []byte) (Reply, error) {
	return openClaims(k, raw, TypeReply, readReply)
}

// OpenMade verifies and reads the report of a ticket made on the device; Data are its exact bytes
// and fit Digest.
func (k Keys) OpenMade(raw []byte) (Made, error) {
	payload, err := k.open(raw, TypeMade)
	if err != nil {
		return Made{}, err
	}
	return decodeMade(payload)
}

func openClaims[M any](k Keys, raw []byte, typ Type, read func(*report, jsonValue) M) (M, error) {
	payload, err := k.open(raw, typ)
	if err != nil {
		var none M
		return none, err
	}
	return decodeClaims(payload, read)
}

// open verifies raw as a message of type typ. The payload comes with a nil error, or, genuine all
// the same, with one that wraps ErrVersion or ErrTooLarge.
func (k Keys) open(raw []byte, typ Type) ([]byte, error) {
	h, err := readHeader(raw)
	if err != nil && !errors.Is(err, ErrVersion) {
		return nil, err
	}
	if h.typ != typ {
		return nil, fmt.Errorf("%w: %.40q, want %q", ErrTyp, string(h.typ), string(typ))
	}
	public, ok := k[h.kid]
	if !ok || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: %.40q", ErrKID, h.kid)
	}
	signed, parseErr := jose.ParseSignedCompact(string(raw), []jose.SignatureAlgorithm{jose.EdDSA})
	if parseErr != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, parseErr)
	}
	payload, verifyErr := signed.Verify(public)
	if verifyErr != nil {
		return nil, fmt.Errorf("%w: %s by key %s", ErrSignature, typ, h.kid)
	}
	if len(raw) > MessageMax {
		err = fmt.Errorf("%w: message of %d bytes, want at most %d", ErrTooLarge, len(raw),
			MessageMax)
	}
	if payload == nil {
		payload = []byte{}
	}
	return payload, err
}

// Addressed tells whether a genuine message whose aud is given speaks to device. One that names
// nobody speaks to whoever its topic does.
func Addressed(aud, device string) bool { return aud == "" || aud == device }

// Peek tells the type and kid of a signed message without believing it: to choose the opener and
// the keys. Errors wrap [ErrMalformed], [ErrTooLarge], [ErrAlg], [ErrTyp] or [ErrVersion]. Where
// type and kid are set beside an error the opener can still verify the message and say whom it was
// about.
func Peek(raw []byte) (Type, string, error) {
	h, err := readHeader(raw)
	if err == nil && len(raw) > MessageMax {
		err = fmt.Errorf("%w: message of %d bytes, want at most %d", ErrTooLarge, len(raw),
			MessageMax)
	}
	return h.typ, h.kid, err
}

type header struct {
	typ Type
	kid string
}

// readHeader reads the protected header of a compact JWS (RFC 7515 section 7.1) before any library
// does. It holds alg, kid and typ and nothing else: whatever else a header can say (crit, jwk, jku,
// x5c, b64, zip …) is either an attack or another protocol.
func readHeader(raw []byte) (header, error) {
	if len(raw) > OpenMax {
		return header{}, fmt.Errorf("%w: message of %d bytes, want at most %d", ErrTooLarge, len(raw),
			MessageMax)
	}
	parts := bytes.Split(raw, []byte("."))
	if len(parts) != 3 {
		return header{}, fmt.Errorf("%w: %d parts, want the 3 of a compact JWS", ErrMalformed,
			len(parts))
	}
	var plain [3][]byte
	for i, part := range parts {
		var err error
		if plain[i], err = decodePart(part); err != nil {
			return header{}, err
		}
	}
	tree, err := parseSound(plain[0])
	if err != nil {
		return header{}, fmt.Errorf("header: %w", err)
	}
	if tree.kind != jsonObject {
		return header{}, fmt.Errorf("%w: header is no object", ErrMalformed)
	}
	values := map[string]string{}
	for _, m := range tree.members {
		if !contains([]string{"alg", "kid", "typ"}, m.name) || m.value.kind != jsonString {
			return header{}, fmt.Errorf("%w: header has %.20q, want the texts alg, kid and typ",
				ErrMalformed, m.name)
		}
		values[m.name] = m.value.text
	}
	if alg := values["alg"]; alg != string(jose.EdDSA) {
		return header{}, fmt.Errorf("%w: %.20q", ErrAlg, alg)
	}
	h := header{kid: values["kid"]}
	h.typ, err = parseType(values["typ"])
	return h, err
}

// decodePart is strict base64url: no padding, no line ends, no stray bits, so that one message has
// one spelling.
func decodePart(part []byte) ([]byte, error) {
	if bytes.ContainsAny(part, "\r\n") {
		return nil, fmt.Errorf("%w: line end inside base64url", ErrMalformed)
	}
	out, err := base64.RawURLEncoding.Strict().AppendDecode(nil, part)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64url", ErrMalformed)
	}
	return out, nil
}

// parseType reads chit-<message>+jws. A later major version would be chit-<message>.v<n>+jws.
func parseType(s string) (Type, error) {
	name, ok := strings.CutPrefix(s, "chit-")
	if ok {
		name, ok = strings.CutSuffix(name, "+jws")
	}
	if !ok {
		return "", fmt.Errorf("%w: %.40q, want chit-<message>+jws", ErrTyp, s)
	}
	name, version, versioned := strings.Cut(name, ".v")
	typ := Type(name)
	switch typ {
	case TypeTicket, TypeRecall, TypeCommand, TypeWelcome, TypeHost, TypeHello, TypeAck, TypeReply,
		TypeMade:
	default:
		return "", fmt.Errorf("%w: %.40q", ErrTyp, s)
	}
	switch {
	case !versioned:
		return typ, nil
	case isVersion(version):
		return typ, fmt.Errorf("%w: %.40q", ErrVersion, s)
	}
	return "", fmt.Errorf("%w: %.40q", ErrTyp, s)
}
