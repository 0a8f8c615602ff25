package wire

import (
	"crypto"
	"crypto/ed25519"
	"errors"
)

var errTODO = errors.New("not built yet")

// EncodeTicket writes the CloudEvents envelope.
func EncodeTicket(t Ticket) ([]byte, error) { return nil, errTODO }

// DecodeTicket reads it; Data is cut out as the exact bytes.
func DecodeTicket(raw []byte) (Ticket, error) { return Ticket{}, errTODO }

// Gap is one earlier number that has no paper here.
type Gap struct{ Number, What, To string }

// ParseGaps reads "40:moved:bar,39:cancelled".
func ParseGaps(s string) ([]Gap, error) { return nil, errTODO }

// FormatGaps writes it.
func FormatGaps(gaps []Gap) string { return "" }

// KID names a public key.
func KID(public ed25519.PublicKey) string { return "" }

// Signer signs messages.
type Signer struct{}

// NewSigner takes any key whose public half is Ed25519.
func NewSigner(key crypto.Signer) (*Signer, error) { return nil, errTODO }

func (s *Signer) KID() string                           { return "" }
func (s *Signer) Public() ed25519.PublicKey             { return nil }
func (s *Signer) SignTicket(m Ticket) ([]byte, error)   { return nil, errTODO }
func (s *Signer) SignRecall(m Recall) ([]byte, error)   { return nil, errTODO }
func (s *Signer) SignCommand(m Command) ([]byte, error) { return nil, errTODO }
func (s *Signer) SignWelcome(m Welcome) ([]byte, error) { return nil, errTODO }
func (s *Signer) SignHost(m Host) ([]byte, error)       { return nil, errTODO }
func (s *Signer) SignHello(m Hello) ([]byte, error)     { return nil, errTODO }
func (s *Signer) SignAck(m Ack) ([]byte, error)         { return nil, errTODO }
func (s *Signer) SignReply(m Reply) ([]byte, error)     { return nil, errTODO }
func (s *Signer) SignMade(m Made) ([]byte, error)       { return nil, errTODO }

// Keys are the public keys trusted for one sender, by kid.
type Keys map[string]ed25519.PublicKey

// NewKeys gathers public keys under their kid.
func NewKeys(public ...ed25519.PublicKey) (Keys, error) { return nil, errTODO }

func (k Keys) OpenTicket(raw []byte) (Ticket, error)   { return Ticket{}, errTODO }
func (k Keys) OpenRecall(raw []byte) (Recall, error)   { return Recall{}, errTODO }
func (k Keys) OpenCommand(raw []byte) (Command, error) { return Command{}, errTODO }
func (k Keys) OpenWelcome(raw []byte) (Welcome, error) { return Welcome{}, errTODO }
func (k Keys) OpenHost(raw []byte) (Host, error)       { return Host{}, errTODO }
func (k Keys) OpenHello(raw []byte) (Hello, error)     { return Hello{}, errTODO }
func (k Keys) OpenAck(raw []byte) (Ack, error)         { return Ack{}, errTODO }
func (k Keys) OpenReply(raw []byte) (Reply, error)     { return Reply{}, errTODO }
func (k Keys) OpenMade(raw []byte) (Made, error)       { return Made{}, errTODO }

// Peek tells type and kid of a signed message without believing it.
func Peek(raw []byte) (Type, string, error) { return "", "", errTODO }

// EncodeStatus writes the hint.
func EncodeStatus(s Status) ([]byte, error) { return nil, errTODO }

// DecodeStatus reads it.
func DecodeStatus(raw []byte) (Status, error) { return Status{}, errTODO }

// EncodeTelemetry writes the hint.
func EncodeTelemetry(t Telemetry) ([]byte, error) { return nil, errTODO }

// DecodeTelemetry reads it.
func DecodeTelemetry(raw []byte) (Telemetry, error) { return Telemetry{}, errTODO }

// Decoded is what chit wire decode shows.
type Decoded struct{}

// Decode describes any message of ours.
func Decode(topic string, raw []byte, keys Keys) (Decoded, error) { return Decoded{}, errTODO }
