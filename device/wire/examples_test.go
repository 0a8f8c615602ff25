package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"testing"
)

// keyOf makes the key whose seed is 32 times b: fixed keys make fixed vectors.
func keyOf(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

// The keys of the vectors: the broker's, the device's, and one that nobody trusts.
var brokerKey, deviceKey, foreignKey = keyOf(1), keyOf(2), keyOf(3)

func signerOf(t testing.TB, key ed25519.PrivateKey) *Signer {
	t.Helper()
	s, err := NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keysOf(t testing.TB, keys ...ed25519.PrivateKey) Keys {
	t.Helper()
	var public []ed25519.PublicKey
	for _, one := range keys {
		public = append(public, one.Public().(ed25519.PublicKey))
	}
	k, err := NewKeys(public...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// compact signs any header and payload without the help of the code under test.
func compact(key ed25519.PrivateKey, header, payload string) string {
	b64 := base64.RawURLEncoding.EncodeToString
	input := b64([]byte(header)) + "." + b64([]byte(payload))
	return input + "." + b64(ed25519.Sign(key, []byte(input)))
}

func headerOf(key ed25519.PrivateKey, typ string) string {
	return `{"alg":"EdDSA","kid":"` + KID(key.Public().(ed25519.PublicKey)) + `","typ":"` + typ + `"}`
}

const ackPayload = `{"iss":"pi-7","sub":"web-41/2@grill","attempt":2,"outcome":"printed",` +
	`"evidence":"confirmed","digest":"sha256:` +
	`e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","journal":"j-1","boot":4,` +
	`"n":1729,"iat":1772384400}`

// example messages, one of each type, with every member set.
var (
	exampleRecall = Recall{ID: "recall-1", Ticket: "web-41/2@grill", Attempt: 2, Reason: "moved",
		IssuedAt: 1772384400, MovedTo: "bar", Device: "pi-7"}
	exampleCommand = Command{ID: "command-1", Do: "stale-answer", Args: map[string]string{
		"answer": "all", "printer": "kitchen"}, IssuedAt: 1772384400, Device: "pi-7"}
	exampleWelcome = Welcome{Session: "s-1", Epoch: 12, Host: "h-1", Now: 1772384400123,
		Journal: "j-1", NSeen: 1728}
	exampleHost  = Host{State: "alive", Epoch: "h-1"}
	exampleHello = Hello{Device: "pi-7", Session: "s-1", Boot: 4, Journal: "j-1", N: 1792,
		Serial: "10000000abcdef01", Version: "1.0.0", Format: 1}
	exampleAck = Ack{Device: "pi-7", Ticket: "web-41/2@grill", Attempt: 2, Outcome: OutcomeRefused,
		Permanent: true, Evidence: EvidenceUnknown, Reason: "poison", Digest: Digest(nil), Marked: true,
		Journal: "j-1", Boot: 4, N: 1729, IssuedAt: 1772384400}
	exampleReply = Reply{Device: "pi-7", Command: "command-1", OK: true, Error: "no – none",
		Result: map[string]string{"printed": "2"}, Journal: "j-1", Boot: 4, N: 1730,
		IssuedAt: 1772384400}
)

func exampleMade() Made {
	data := plainTicket().Data
	return Made{Device: "pi-7", Ticket: "1/1/d1@bar", Data: data, Digest: Digest(data), Number: "L3",
		Station: "bar", Printer: "kitchen", Journal: "j-1", Boot: 4, N: 1731, IssuedAt: 1772384400}
}

// messages has every signed message with its way in and out.
func messages() []message {
	ticket, first, made := exampleTicket(), firstTicket(), exampleMade()
	openTicket := func(k Keys, raw []byte) (any, error) { return k.OpenTicket(raw) }
	return []message{
		{TypeTicket, brokerKey, first,
			func(s *Signer) ([]byte, error) { return s.SignTicket(first) }, openTicket, ""},
		{TypeTicket, brokerKey, ticket,
			func(s *Signer) ([]byte, error) { return s.SignTicket(ticket) }, openTicket, "ticket-moved"},
		{TypeRecall, brokerKey, exampleRecall,
			func(s *Signer) ([]byte, error) { return s.SignRecall(exampleRecall) },
			func(k Keys, raw []byte) (any, error) { return k.OpenRecall(raw) }, ""},
		{TypeCommand, brokerKey, exampleCommand,
			func(s *Signer) ([]byte, error) { return s.SignCommand(exampleCommand) },
			func(k Keys, raw []byte) (any, error) { return k.OpenCommand(raw) }, ""},
		{TypeWelcome, brokerKey, exampleWelcome,
			func(s *Signer) ([]byte, error) { return s.SignWelcome(exampleWelcome) },
			func(k Keys, raw []byte) (any, error) { return k.OpenWelcome(raw) }, ""},
		{TypeHost, brokerKey, exampleHost,
			func(s *Signer) ([]byte, error) { return s.SignHost(exampleHost) },
			func(k Keys, raw []byte) (any, error) { return k.OpenHost(raw) }, ""},
		{TypeHello, deviceKey, exampleHello,
			func(s *Signer) ([]byte, error) { return s.SignHello(exampleHello) },
			func(k Keys, raw []byte) (any, error) { return k.OpenHello(raw) }, ""},
		{TypeAck, deviceKey, exampleAck,
			func(s *Signer) ([]byte, error) { return s.SignAck(exampleAck) },
			func(k Keys, raw []byte) (any, error) { return k.OpenAck(raw) }, ""},
		{TypeReply, deviceKey, exampleReply,
			func(s *Signer) ([]byte, error) { return s.SignReply(exampleReply) },
			func(k Keys, raw []byte) (any, error) { return k.OpenReply(raw) }, ""},
		{TypeMade, deviceKey, made,
			func(s *Signer) ([]byte, error) { return s.SignMade(made) },
			func(k Keys, raw []byte) (any, error) { return k.OpenMade(raw) }, ""},
	}
}

type message struct {
	typ  Type
	key  ed25519.PrivateKey
	want any
	sign func(*Signer) ([]byte, error)
	open func(Keys, []byte) (any, error)
	name string // of its vector, the type's where empty
}
