package escpos

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTokensAscend(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want string
	}{
		{0, "    "},
		{1, "   !"},
		{94, "   ~"},
		{95, "  ! "},
		{Tokens - 1, "~~~~"},
		{Tokens, "    "},
		{Tokens + 1, "   !"},
	} {
		if got := TokenOf(c.n).String(); got != c.want {
			t.Errorf("TokenOf(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestTokenNumberIsTheInverseOfTokenOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		token := TokenOf(n)
		if !token.Valid() || token.Number() != n%Tokens {
			t.Fatalf("TokenOf(%d) = %q, valid %v, number %d", n, token, token.Valid(),
				token.Number())
		}
	})
}

func TestLaterTokensCompareAsLaterAcrossTheWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 4*Tokens).Draw(t, "n")
		ahead := rapid.Uint64Range(1, Tokens/2).Draw(t, "ahead")
		earlier, later := TokenOf(n), TokenOf(n+ahead)
		if later.Compare(earlier) != 1 || earlier.Compare(later) != -1 {
			t.Fatalf("%q and %q: %d, %d", later, earlier,
				later.Compare(earlier), earlier.Compare(later))
		}
		if earlier.Compare(earlier) != 0 {
			t.Fatal("a token differs from itself")
		}
	})
}

func TestInvalidTokensAreToldApart(t *testing.T) {
	for _, token := range []Token{{}, {' ', ' ', ' ', 0x1F}, {0x7F, 'a', 'a', 'a'}, {'a', 0x80,
		0, 0}} {
		if token.Valid() {
			t.Errorf("% X is valid", token[:])
		}
	}
}
