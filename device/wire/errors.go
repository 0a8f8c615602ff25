package wire

import "errors"

// Why a message or a request was not taken. [Reason] gives each its word for counters.
var (
	// ErrMalformed: not the syntax of a message: parts, base64, JSON, UTF-8, duplicate keys.
	ErrMalformed = errors.New("malformed message")
	// ErrTooLarge: a message over MessageMax or a request over ContentMax.
	ErrTooLarge = errors.New("too large")
	// ErrAlg: signed with anything but EdDSA.
	ErrAlg = errors.New("signature algorithm is not EdDSA")
	// ErrTyp: a signed message of another type than the one wanted here.
	ErrTyp = errors.New("wrong message type")
	// ErrKID: signed by a key that is not among those trusted here.
	ErrKID = errors.New("unknown key")
	// ErrSignature: the signature does not fit the bytes.
	ErrSignature = errors.New("signature does not verify")
	// ErrClaims: a genuine message that breaks the field tables of the package comment.
	ErrClaims = errors.New("invalid claims")
	// ErrForeign: a genuine message for another device or of another tenant (see [Addressed]).
	ErrForeign = errors.New("for another device or tenant")
	// ErrVersion: a message of a newer major version.
	ErrVersion = errors.New("newer wire version")
)

// Reason is the word under which a refused message is counted: malformed, too_large, alg, typ, kid,
// signature, claims, foreign, version or topic; "other" for errors of others and "" for nil.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	for _, r := range []struct {
		err  error
		word string
	}{
		{ErrTooLarge, "too_large"}, {ErrVersion, "version"}, {ErrTopicVersion, "version"},
		{ErrAlg, "alg"}, {ErrTyp, "typ"}, {ErrKID, "kid"}, {ErrSignature, "signature"},
		{ErrForeign, "foreign"}, {ErrClaims, "claims"}, {ErrMalformed, "malformed"}, {ErrTopic, "topic"},
		{ErrID, "claims"},
	} {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return "other"
}
