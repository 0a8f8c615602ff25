package wire

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// kidLength is how much of the key's hash names it: 96 bits, plenty among the keys of one tenant.
const kidLength = 16

// ErrKey says that a key is not an Ed25519 key.
var ErrKey = errors.New("not an Ed25519 key")

// KID names a public key: the first 16 characters of base64url(SHA-256(raw public key)).
func KID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:kidLength]
}

// Signer signs messages with one Ed25519 key, which may live in a file, an agent or a chip. The
// zero value is of no use. It may be used by several goroutines if the key may.
type Signer struct {
	key    crypto.Signer
	public ed25519.PublicKey
	kid    string
}

// NewSigner takes any key whose public half is Ed25519; others wrap [ErrKey].
func NewSigner(key crypto.Signer) (*Signer, error) {
	if key == nil {
		return nil, fmt.Errorf("wire: signer: %w: none given", ErrKey)
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("wire: signer: %w: %T", ErrKey, key.Public())
	}
	return &Signer{key: key, public: public, kid: KID(public)}, nil
}

// KID is the name of the signer's key.
func (s *Signer) KID() string { return s.kid }

// Public is the signer's public key.
func (s *Signer) Public() ed25519.PublicKey { return s.public }

// SignTicket writes a message for the topic ticket. Where the whole would be over [MessageMax] the
// lists of m.Changes are left out, which the message says; where that does not help, and for the
// rest of this family: what the opener would refuse is not signed, errors wrap [ErrClaims] or
// [ErrTooLarge].
func (s *Signer) SignTicket(m Ticket) ([]byte, error) {
	raw, err := s.signTicket(m)
	if errors.Is(err, ErrTooLarge) && m.Changes != nil && !m.Changes.Omitted {
		m.Changes = &Changes{Since: m.Changes.Since, Omitted: true}
		return s.signTicket(m)
	}
	return raw, err
}

func (s *Signer) signTicket(m Ticket) ([]byte, error) {
	payload, err := EncodeTicket(m)
	if err != nil {
		return nil, err
	}
	return s.sign(TypeTicket, payload)
}

// SignRecall writes a message for the topic recall.
func (s *Signer) SignRecall(m Recall) ([]byte, error) {
	return signClaims(s, TypeRecall, m, readRecall)
}

// SignCommand writes a message for the topic command.
func (s *Signer) SignCommand(m Command) ([]byte, error) {
	return signClaims(s, TypeCommand, m, readCommand)
}

// SignWelcome writes the answer to a hello, for the topic command.
func (s *Signer) SignWelcome(m Welcome) ([]byte, error) {
	return signClaims(s, TypeWelcome, m, readWelcome)
}

// SignHost writes the retained message of the topic host.
func (s *Signer) SignHost(m Host) ([]byte, error) { return signClaims(s, TypeHost, m, readHost) }

// SignHello writes a device's opening, for the topic ack.
func (s *Signer) SignHello(m Hello) ([]byte, error) {
	return signClaims(s, TypeHello, m, readHello)
}

// SignAck writes an answer about a ticket, for the topic ack.
func (s *Signer) SignAck(m Ack) ([]byte, error) { return signClaims(s, TypeAck, m, readAck) }

// SignReply writes the answer to a command, for the topic ack.
func (s *Signer) SignReply(m Reply) ([]byte, error) {
	return signClaims(s, TypeReply, m, readReply)
}

// SignMade writes the report of a ticket made on the device, for the topic ack. Its data are the
// bytes that [Canonical] gave.
func (s *Signer) SignMade(m Made) ([]byte, error) {
	if !isExact(m.Data) {
		return nil, fmt.Errorf("wire: writing made: %w: data: want the bytes of Canonical", ErrClaims)
	}
	head, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("wire: writing made: %w", err)
	}
	payload := splice(head, m.Data)
	if _, err := decodeMade(payload); err != nil {
		return nil, fmt.Errorf("wire: writing made: %w", err)
	}
	return s.sign(TypeMade, payload)
}

// signClaims signs what its own reader takes, so that nobody signs what everybody refuses.
func signClaims[M any](s *Signer, typ Type, m M, read func(*report, jsonValue) M) ([]byte, error) {
	payload, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("wire: writing %s: %w", typ, err)
	}
	if _, err := decodeClaims(payload, read); err != nil {
		return nil, fmt.Errorf("wire: writing %s: %w", typ, err)
	}
	return s.sign(typ, payload)
}

func (s *Signer) sign(typ Type, payload []byte) ([]byte, error) {
	options := (&jose.SignerOptions{}).WithType(joseType(typ))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: opaque{s}}, options)
	if err != nil {
		return nil, fmt.Errorf("wire: signing %s: %w", typ, err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return nil, fmt.Errorf("wire: signing %s: %w", typ, err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		return nil, fmt.Errorf("wire: signing %s: %w", typ, err)
	}
	if len(compact) > MessageMax {
		return nil, fmt.Errorf("wire: signing %s: %w: %d bytes, want at most %d", typ, ErrTooLarge,
			len(compact), MessageMax)
	}
	return []byte(compact), nil
}

func joseType(typ Type) jose.ContentType { return jose.ContentType("chit-" + string(typ) + "+jws") }

// opaque lets go-jose sign with a key that it never sees; it also puts the kid into the header.
type opaque struct{ s *Signer }

func (o opaque) Public() *jose.JSONWebKey {
	return &jose.JSONWebKey{Key: o.s.public, KeyID: o.s.kid, Algorithm: string(jose.EdDSA)}
}

func (o opaque) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{jose.EdDSA} }

func (o opaque) SignPayload(payload []byte, alg jose.SignatureAlgorithm) ([]byte, error) {
	if alg != jose.EdDSA {
		return nil, fmt.Errorf("%w: asked for %s", ErrAlg, alg)
	}
	// Ed25519 (RFC 8032) is deterministic: it needs no randomness and signs the message unhashed.
	return o.s.key.Sign(nil, payload, crypto.Hash(0))
}
