package wire

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file reads RFC 8259 JSON into a tree that remembers what encoding/json forgives or forgets:
// duplicate keys, lone surrogates, bytes that are not UTF-8, the spelling of numbers, the upper and
// lower case of keys, and where each value stood, so that data can be cut out as exact bytes.

// depthMax bounds nesting; the deepest message of ours has 5 levels.
const depthMax = 32

type jsonKind string

const (
	jsonObject jsonKind = "object"
	jsonArray  jsonKind = "array"
	jsonString jsonKind = "string"
	jsonNumber jsonKind = "number"
	jsonBool   jsonKind = "boolean"
	jsonNull   jsonKind = "null"
)

type jsonValue struct {
	kind    jsonKind
	text    string // decoded string, or the literal of a number or boolean
	fault   string // what is wrong inside a string that is otherwise well formed
	members []jsonMember
	items   []jsonValue
	start   int // offsets of the value's own bytes
	end     int
}

type jsonMember struct {
	name  string
	fault string // what is wrong with the name: repeated, or not Unicode
	value jsonValue
}

type jsonParser struct {
	raw   []byte
	at    int
	depth int
	fault string // the first fault met, for readers that refuse all of them
}

// parseJSON reads one JSON text. Faults of strings and names are left in the tree for the caller.
// Errors wrap [ErrMalformed] and quote nothing of the input.
func parseJSON(raw []byte) (jsonValue, error) {
	p := &jsonParser{raw: raw}
	return p.text()
}

// parseSound reads one JSON text and refuses every fault.
func parseSound(raw []byte) (jsonValue, error) {
	p := &jsonParser{raw: raw}
	v, err := p.text()
	if err == nil && p.fault != "" {
		err = fmt.Errorf("%w: %s", ErrMalformed, p.fault)
	}
	return v, err
}

func (p *jsonParser) text() (jsonValue, error) {
	v, err := p.value()
	if err != nil {
		return jsonValue{}, err
	}
	if p.skip(); p.at < len(p.raw) {
		return jsonValue{}, p.wrong("the end of the text")
	}
	return v, nil
}

func (p *jsonParser) wrong(want string) error {
	return &SyntaxError{Want: want, raw: p.raw, at: min(p.at, len(p.raw))}
}

func (p *jsonParser) skip() {
	for p.at < len(p.raw) && strings.IndexByte(" \t\r\n", p.raw[p.at]) >= 0 {
		p.at++
	}
}

// peek gives the next byte after white space, and 0 at the end; a NUL is never valid here either.
func (p *jsonParser) peek() byte {
	p.skip()
	if p.at < len(p.raw) {
		return p.raw[p.at]
	}
	return 0
}

func (p *jsonParser) value() (jsonValue, error) {
	c := p.peek()
	v := jsonValue{start: p.at}
	var err error
	switch {
	case c == '{' || c == '[':
		if p.depth++; p.depth > depthMax {
			return v, fmt.Errorf("%w: JSON deeper than %d levels", ErrMalformed, depthMax)
		}
		if c == '{' {
			v.kind = jsonObject
			v.members, err = p.object()
		} else {
			v.kind = jsonArray
			v.items, err = p.array()
		}
		p.depth--
	case c == '"':
		v.kind = jsonString
		v.text, v.fault, err = p.str()
	case c == '-' || isDigit(c):
		v.kind = jsonNumber
		v.text, err = p.number()
	default:
		v.kind, v.text, err = p.literal()
	}
	v.end = p.at
	return v, err
}

func (p *jsonParser) object() ([]jsonMember, error) {
	p.at++
	if p.peek() == '}' {
		p.at++
		return nil, nil
	}
	members := make([]jsonMember, 0, 8) // As many as most have: growing copies them.
	seen := map[string]bool{}
	for {
		if p.peek() != '"' {
			return nil, p.wrong("a name in quotes")
		}
		name, fault, err := p.str()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			fault = "a name that stands there twice"
			p.fault = fault
		}
		seen[name] = true
		if p.peek() != ':' {
			return nil, p.wrong("a colon")
		}
		p.at++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		members = append(members, jsonMember{name: name, fault: fault, value: v})
		switch p.peek() {
		case ',':
			p.at++
		case '}':
			p.at++
			return members, nil
		default:
			return nil, p.wrong("a comma or }")
		}
	}
}

func (p *jsonParser) array() ([]jsonValue, error) {
	p.at++
	if p.peek() == ']' {
		p.at++
		return nil, nil
	}
	var items []jsonValue
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		switch p.peek() {
		case ',':
			p.at++
		case ']':
			p.at++
			return items, nil
		default:
			return nil, p.wrong("a comma or ]")
		}
	}
}

func (p *jsonParser) literal() (jsonKind, string, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(string(p.raw[p.at:min(len(p.raw), p.at+5)]), word) {
			p.at += len(word)
			if word == "null" {
				return jsonNull, word, nil
			}
			return jsonBool, word, nil
		}
	}
	return "", "", p.wrong("a value")
}

// number obeys RFC 8259 section 6 and keeps the spelling.
func (p *jsonParser) number() (string, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.raw) && isDigit(p.raw[p.at]) {
			p.at++
		}
		return p.at > from
	}
	next := func(set string) bool {
		if p.at < len(p.raw) && strings.IndexByte(set, p.raw[p.at]) >= 0 {
			p.at++
			return true
		}
		return false
	}
	next("-")
	if !next("0") && !digits() {
		return "", p.wrong("a digit")
	}
	if next(".") && !digits() {
		return "", p.wrong("a digit")
	}
	if next("eE") {
		next("+-")
		if !digits() {
			return "", p.wrong("a digit")
		}
	}
	return string(p.raw[start:p.at]), nil
}

// str reads a string. Text that JSON can spell but Unicode cannot is a fault, not an error.
func (p *jsonParser) str() (text, fault string, err error) {
	p.at++
	var b strings.Builder
	for {
		if p.at >= len(p.raw) {
			return "", "", p.wrong("a closing quote")
		}
		c := p.raw[p.at]
		switch {
		case c == '"':
			p.at++
			if fault != "" && p.fault == "" {
				p.fault = fault
			}
			return b.String(), fault, nil
		case c < 0x20:
			return "", "", p.wrong("an escape for a control character")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", "", err
			}
			if utf16.IsSurrogate(r) {
				fault = "a lone surrogate"
				r = utf8.RuneError
			}
			b.WriteRune(r)
		default:
			r, size := utf8.DecodeRune(p.raw[p.at:])
			if r == utf8.RuneError && size <= 1 {
				fault = "bytes that are not UTF-8"
			}
			b.WriteRune(r)
			p.at += size
		}
	}
}

// escape reads a backslash and what follows, both halves of a surrogate pair at once. A half
// without its other half comes back as itself.
func (p *jsonParser) escape() (rune, error) {
	if p.at+1 >= len(p.raw) {
		p.at = len(p.raw)
		return 0, p.wrong("an escape")
	}
	p.at++
	c := p.raw[p.at]
	if c == 'u' {
		first, ok := hex4(p.raw, p.at+1)
		if !ok {
			return 0, p.wrong("u and four hex digits")
		}
		p.at += 5
		if utf16.IsSurrogate(first) && p.at+1 < len(p.raw) && p.raw[p.at] == '\\' &&
			p.raw[p.at+1] == 'u' {
			if second, ok := hex4(p.raw, p.at+2); ok {
				if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
					p.at += 6
					return r, nil
				}
			}
		}
		return first, nil
	}
	const letters, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(letters, c)
	if i < 0 {
		return 0, p.wrong(`one of "\/bfnrtu`)
	}
	p.at++
	return rune(meanings[i]), nil
}

func hex4(raw []byte, at int) (rune, bool) {
	if at+4 > len(raw) {
		return 0, false
	}
	var r rune
	for _, c := range raw[at : at+4] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
