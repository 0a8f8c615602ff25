package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSONIsReadAsStrictlyAsTheStandardSays(t *testing.T) {
	good := []string{`{}`, `[]`, ` {"a" : [1 , -0, 1.5e+3, "x", true,false , null]} `, `""`, `0`, `-1`,
		`"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"`, `1E5`, `0.10`, "\t\r\n1"}
	for _, s := range good {
		if _, err := parseSound([]byte(s)); err != nil || !json.Valid([]byte(s)) {
			t.Errorf("%s: %v", s, err)
		}
	}
	bad := []string{``, ` `, `{`, `}`, `[`, `[1,]`, `{"a":1,}`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a" 1}`,
		`01`, `-`, `+1`, `1.`, `.5`, `1e`, `1e+`, `0x1`, `NaN`, `tru`, `nul`, `truefalse`, `1 2`, `'a'`,
		`"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", "\x00", "\ufeff{}",
		`{"a":1 "b":2}`,
		`[1 2]`, `// c`, `[1]]`, strings.Repeat("[", depthMax+1) + strings.Repeat("]", depthMax+1)}
	for _, s := range bad {
		if _, err := parseJSON([]byte(s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s = %v, want ErrMalformed", s, err)
		}
	}
	deep := strings.Repeat("[", depthMax) + strings.Repeat("]", depthMax)
	if _, err := parseJSON([]byte(deep)); err != nil {
		t.Errorf("%d levels: %v", depthMax, err)
	}
}

func TestJSONFaultsThatEncodingJSONForgivesAreFound(t *testing.T) {
	for _, s := range []string{`{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\udc00"`,
		`"\ud800\ud800"`, `"\ud800x"`, `"\udc00\ud800"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"",
		"{\"\xff\":1}", `{"\ud800":1}`} {
		if _, err := parseSound([]byte(s)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q = %v, want ErrMalformed", s, err)
		}
		if _, err := parseJSON([]byte(s)); err != nil {
			t.Errorf("%q: %v, want a tree with a fault", s, err)
		}
	}
}

func TestWholeNumbersAreExact(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "-0": 0, "7": 7, "7.0": 7, "7e0": 7, "0.7e1": 7,
		"70E-1": 7, "1e15": 1e15, "9007199254740992": IntMax, "-9007199254740992": -IntMax,
		"9007199254740991.0": IntMax - 1, "0.0e999999999": 0} {
		if got, ok := wholeNumber(s); !ok || got != want {
			t.Errorf("wholeNumber(%s) = %d, %v; want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"0.5", "7.00000000000000000000001", "9007199254740993", "1e16", "1e400",
		"9223372036854775808", "1e-400", "1e-999999999", "7e-1", "9007199254740992.5"} {
		if got, ok := wholeNumber(s); ok {
			t.Errorf("wholeNumber(%s) = %d, want none", s, got)
		}
	}
}
