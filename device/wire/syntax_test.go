package wire

import (
	"errors"
	"testing"
)

func TestASyntaxErrorSaysWhereAndWhat(t *testing.T) {
	for _, c := range []struct {
		raw          string
		line, column int
		found, want  string
	}{
		{"", 1, 1, "the end", "a value"},
		{`two burgers`, 1, 1, `"t"`, "a value"},
		{`{"id":"1/1",}`, 1, 13, `"}"`, "a name in quotes"},
		{"{\n  \"id\": \"ö/1\" \"kind\"", 2, 15, `"\""`, "a comma or }"},
		{"{\n", 2, 1, "the end", "a name in quotes"},
		{"[\xff", 1, 2, "byte 0xff", "a value"},
		{"“", 1, 1, `"“"`, "a value"},
	} {
		_, _, err := Canonical([]byte(c.raw))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, want a SyntaxError", c.raw, err)
			continue
		}
		line, column := syntax.Place()
		if line != c.line || column != c.column || syntax.Found() != c.found || syntax.Want != c.want {
			t.Errorf("%q: line %d, column %d, found %s, want %s", c.raw, line, column, syntax.Found(),
				syntax.Want)
		}
	}
}
