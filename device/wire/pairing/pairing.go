// Package pairing is the part of the contract by which a device becomes known to a broker.
//
// POST /v1/devices/pair takes a [Request] and answers an [Answer]; POST /v1/devices/renew takes a
// [Renewal] and answers the same. Both are HTTPS with JSON bodies of at most [BodyMax] bytes. The
// package is pure: it says which bytes are signed and how codes and fingerprints are written, and
// makes neither keys nor certificates.
//
// What proves what: the CSR is signed by the device's TLS key and its common name is the [Keys]
// fingerprint over both keys, so the TLS key vouches for the ack key; Proof is the ack key's
// signature over the whole request, so the ack key vouches for the TLS key and for this code. The
// code stands for the owner. The [Installation] fingerprint in the pairing string stands for the
// broker: the device speaks to nobody else at its first contact.
package pairing

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
)

// Sizes and lifetimes of the contract.
const (
	// BodyMax is the largest request or answer, in bytes.
	BodyMax = 32 << 10
	// PrintersMax is how many printers a device may name.
	PrintersMax = 16
	// CodeLength is the number of characters of a code without its hyphen.
	CodeLength = 8
	// Alphabet has the 32 characters of codes; 0, O, 1 and I are left out because people mix them up.
	Alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
)

// Paths of the two doors.
const (
	PathPair  = "/v1/devices/pair"
	PathRenew = "/v1/devices/renew"
)

// ErrCode says that a text is no pairing code or pairing string.
var ErrCode = errors.New("not a pairing code")

// Request asks to be paired. Byte slices are base64 in JSON.
type Request struct {
	Code string `json:"code"`
	// CSR is a DER PKCS #10 request for a P-256 key whose common name is the [Keys] fingerprint.
	CSR []byte `json:"csr"`
	// AckKey is the raw Ed25519 public key that will sign acks, 32 bytes.
	AckKey []byte `json:"ack_key"`
	// Proof is the ack key's signature over [Request.Signed].
	Proof    []byte   `json:"proof"`
	Serial   string   `json:"serial,omitempty"`
	Version  string   `json:"version,omitempty"`
	Printers []string `json:"printers,omitempty"`
}

// Signed is what Proof signs: a domain word, the code, the digest of the CSR and the ack key.
func (r Request) Signed() []byte {
	return signed("chit-pair-v1", r.Code, r.CSR, r.AckKey)
}

// Renewal asks for a new certificate for the key that the device is known by.
type Renewal struct {
	Device string `json:"device"`
	CSR    []byte `json:"csr"`
	// Proof is the ack key's signature over [Renewal.Signed]. The CSR is new each time and is the
	// nonce: one that comes again is refused.
	Proof []byte `json:"proof"`
}

// Signed is what Proof signs.
func (r Renewal) Signed() []byte { return signed("chit-renew-v1", r.Device, r.CSR, nil) }

// signed keeps fields apart by fixed lengths, so that no two requests have the same bytes.
func signed(domain, name string, csr, key []byte) []byte {
	text := domain + "\n"
	for _, part := range [][]byte{[]byte(name), csr, key} {
		sum := sha256.Sum256(part)
		text += string(sum[:])
	}
	return []byte(text)
}

// Station is one station bound to a printer of the device.
type Station struct {
	Station string `json:"station"` // id
	Name    string `json:"name"`    // for people
	Printer string `json:"printer"` // as named in Request.Printers
}

// Answer is what a device keeps.
type Answer struct {
	Tenant string `json:"tenant"`
	Device string `json:"device"`
	// Certificate and CA are DER.
	Certificate []byte `json:"certificate"`
	CA          []byte `json:"ca"`
	// BrokerKeys are the raw Ed25519 public keys that the tenant's messages may be signed with.
	BrokerKeys [][]byte `json:"broker_keys"`
	// MQTT is the address of the broker's listener, such as "tls://broker.example:8883".
	MQTT     string    `json:"mqtt"`
	Stations []Station `json:"stations"`
}

// base32Lower writes fingerprints that can be read aloud and typed.
var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").
	WithPadding(base32.NoPadding)

// installationBytes of a SHA-256 make a fingerprint that nobody finds a second key for: 2^128
// tries.
const installationBytes = 16

// Installation is the fingerprint of a CA, 26 characters, from its DER SubjectPublicKeyInfo.
func Installation(spki []byte) string {
	sum := sha256.Sum256(spki)
	return base32Lower.EncodeToString(sum[:installationBytes])
}

// Keys is the fingerprint of a device's two keys as people compare it: "abcd-efgh-ijkl-mnop-qrst",
// 100 bits of a SHA-256.
func Keys(tlsSPKI, ackKey []byte) string {
	tls, ack := sha256.Sum256(tlsSPKI), sha256.Sum256(ackKey)
	sum := sha256.Sum256(append(tls[:], ack[:]...))
	text := base32Lower.EncodeToString(sum[:])
	return strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:16], text[16:20]}, "-")
}

// NormalCode reads a code as people type it, in any case, with or without hyphens and spaces, and
// writes it "ABCD-EFGH". Anything else wraps [ErrCode] and never repeats what was typed.
func NormalCode(s string) (string, error) {
	s = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
	if len(s) != CodeLength {
		return "", fmt.Errorf("%w: found %d characters, expected %d", ErrCode, len(s), CodeLength)
	}
	for i := range len(s) {
		if strings.IndexByte(Alphabet, s[i]) < 0 {
			return "", fmt.Errorf("%w: character %d is none of %s", ErrCode, i+1, Alphabet)
		}
	}
	return s[:CodeLength/2] + "-" + s[CodeLength/2:], nil
}

// Join is the pairing string that a device is given: "ABCD-EFGH.<installation>".
func Join(code, installation string) string { return code + "." + installation }

// Split reads a pairing string; without a dot it is a code alone and installation is "".
func Split(s string) (code, installation string, err error) {
	head, tail, dotted := strings.Cut(strings.TrimSpace(s), ".")
	if code, err = NormalCode(head); err != nil || !dotted {
		return code, "", err
	}
	tail = strings.ToLower(strings.TrimSpace(tail))
	raw, err := base32Lower.DecodeString(tail)
	if err != nil || len(raw) != installationBytes || base32Lower.EncodeToString(raw) != tail {
		return "", "", fmt.Errorf("%w: the part after the dot is not 26 of a-z and 2-7", ErrCode)
	}
	return code, tail, nil
}
