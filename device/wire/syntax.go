package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// SyntaxError is where a text stops being JSON. It wraps [ErrMalformed].
type SyntaxError struct {
	// Want is what RFC 8259 has there, such as "a comma or }".
	Want string

	raw []byte
	at  int
}

// Place counts lines, and the characters of a line, from 1.
func (e *SyntaxError) Place() (line, column int) {
	before := e.raw[:e.at]
	return bytes.Count(before, []byte{'\n'}) + 1,
		utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// Found quotes the character that stands there. Answer with it, never log it.
func (e *SyntaxError) Found() string {
	if e.at >= len(e.raw) {
		return "the end"
	}
	r, size := utf8.DecodeRune(e.raw[e.at:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02x", e.raw[e.at])
	}
	return strconv.QuoteToGraphic(string(r))
}

// Error is for logs: of the text it tells one byte.
func (e *SyntaxError) Error() string {
	if e.at >= len(e.raw) {
		return fmt.Sprintf("%v: JSON ends where %s was expected", ErrMalformed, e.Want)
	}
	return fmt.Sprintf("%v: JSON at byte %d: found 0x%02x, want %s", ErrMalformed, e.at, e.raw[e.at],
		e.Want)
}

// Unwrap makes it an [ErrMalformed].
func (e *SyntaxError) Unwrap() error { return ErrMalformed }
