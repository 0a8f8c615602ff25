package escpos

const (
	tokenFirst = 0x20
	tokenLast  = 0x7E
	tokenBase  = tokenLast - tokenFirst + 1
)

// Tokens is the number of different tokens, 95^4: at a ticket a minute, a wrap takes 150 years.
const Tokens = tokenBase * tokenBase * tokenBase * tokenBase

// TokenOf returns the n-th token. It wraps: n and n+[Tokens] share one.
func TokenOf(n uint64) Token {
	var t Token
	n %= Tokens
	for i := len(t) - 1; i >= 0; i-- {
		t[i] = tokenFirst + byte(n%tokenBase)
		n /= tokenBase
	}
	return t
}

// Number returns the smallest n for which TokenOf(n) is t, below [Tokens]; 0 for an invalid token.
func (t Token) Number() uint64 {
	if !t.Valid() {
		return 0
	}
	var n uint64
	for _, b := range t {
		n = n*tokenBase + uint64(b-tokenFirst)
	}
	return n
}

// Valid tells whether every byte may stand in GS ( H fn 48: 0x20 to 0x7E.
func (t Token) Valid() bool {
	for _, b := range t {
		if b < tokenFirst || b > tokenLast {
			return false
		}
	}
	return true
}

// Compare returns -1 where t was issued before u, 0 where they are the same, 1 where t is the later
// one. Tokens are a circle, so the later one is that which is less than half the circle ahead, as
// in RFC 1982 (serial number arithmetic). An answer with a token at or after the one awaited
// implies it.
//
// Source: Epson ESC/POS Command Reference, GS ( H <Function 48>: only the newest id is sent, hence
// ids should ascend.
func (t Token) Compare(u Token) int {
	ahead := (t.Number() + Tokens - u.Number()) % Tokens
	if ahead == 0 {
		return 0
	}
	if ahead <= Tokens/2 { // Tokens is odd, so no two tokens are opposite.
		return 1
	}
	return -1
}

// String returns the four characters as they travel.
func (t Token) String() string { return string(t[:]) }
