package wire

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// IntMax is the largest integer on the wire, 2^53: beyond it, RFC 8785 numbers lose digits.
const IntMax = 1 << 53

// errorsMax bounds what one answer lists; a body can hold thousands of wrong values.
const errorsMax = 64

// FieldError is one thing wrong with a request or a message.
type FieldError struct {
	// Field is a path such as "items[2].quantity"; "" is the whole body.
	Field string
	// Found quotes what was there, at most 40 characters of it. It can hold a guest's words: answer
	// with it, never log it.
	Found string
	Want  string
}

// ContentError is everything that is wrong with a request, at most 64 fields of it.
type ContentError struct{ Fields []FieldError }

// Error names the fields and what was expected, not what was found, so that it may be logged.
func (e *ContentError) Error() string {
	var b strings.Builder
	b.WriteString("invalid ticket")
	for i, f := range e.Fields {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		if f.Field != "" {
			b.WriteString(f.Field + ": ")
		}
		b.WriteString("want " + f.Want)
	}
	return b.String()
}

// Unwrap makes it an [ErrClaims] for those who only count.
func (e *ContentError) Unwrap() error { return ErrClaims }

// report gathers field errors. A lenient one lets unknown fields pass: within a major version they
// come from a newer minor one.
type report struct {
	errs    []FieldError
	lenient bool
}

func (r *report) add(field, found, want string) {
	if len(r.errs) < errorsMax {
		r.errs = append(r.errs, FieldError{Field: field, Found: found, Want: want})
	}
}

// claims is the report as one error of a signed message or hint.
func (r *report) claims() error {
	if len(r.errs) == 0 {
		return nil
	}
	f := r.errs[0]
	if f.Field == "" {
		f.Field = "message"
	}
	return fmt.Errorf("%w: %s: want %s", ErrClaims, f.Field, f.Want)
}

// content is the report as the error of a request.
func (r *report) content() error {
	if len(r.errs) == 0 {
		return nil
	}
	return &ContentError{Fields: r.errs}
}

// object is a JSON object that is being read; the zero value of a broken one answers nothing.
type object struct {
	r       *report
	path    string
	members []jsonMember
	broken  bool
}

// object starts reading v and reports unknown and repeated names.
func (r *report) object(v jsonValue, path string, known ...string) object {
	if v.kind != jsonObject {
		r.add(path, found(v), "an object")
		return object{r: r, path: path, broken: true}
	}
	o := object{r: r, path: path, members: v.members}
	for _, m := range v.members {
		at := o.at(cut(m.name))
		switch {
		case m.fault != "":
			r.add(at, m.fault, "each name once, in valid Unicode")
		case !r.lenient && !contains(known, m.name):
			r.add(at, "an unknown field", "one of "+strings.Join(known, ", "))
		}
	}
	return o
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

func (o object) get(name string) (jsonValue, bool) {
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return jsonValue{}, false
}

// need reports a required field that is absent.
func (o object) need(name, want string) {
	if !o.broken {
		o.r.add(o.at(name), "nothing", want)
	}
}

// rule says what a text may be.
type rule struct {
	required bool
	max      int    // Unicode code points; 0 leaves the length to ok
	want     string // ok's rule in words
	ok       func(string) bool
}

func (u rule) words() string {
	if u.want != "" {
		return u.want
	}
	return fmt.Sprintf("a text of at most %d characters", u.max)
}

// text reads a string under a rule.
func (o object) text(name string, u rule) string {
	v, ok := o.get(name)
	if !ok {
		if u.required {
			o.need(name, u.words())
		}
		return ""
	}
	return o.r.text(v, o.at(name), u)
}

func (r *report) text(v jsonValue, path string, u rule) string {
	switch {
	case v.kind != jsonString:
		r.add(path, found(v), u.words())
	case v.fault != "":
		r.add(path, v.fault, "valid Unicode")
	case u.max > 0 && utf8.RuneCountInString(v.text) > u.max:
		r.add(path, fmt.Sprintf("%d characters", utf8.RuneCountInString(v.text)),
			fmt.Sprintf("at most %d characters", u.max))
	case u.ok != nil && !u.ok(v.text):
		r.add(path, found(v), u.words())
	default:
		return v.text
	}
	return ""
}

// integer reads a whole number from lo to hi. A required one that is absent is reported.
func (o object) integer(name string, required bool, lo, hi int64) int64 {
	want := fmt.Sprintf("an integer from %d to %d", lo, hi)
	v, ok := o.get(name)
	if !ok {
		if required {
			o.need(name, want)
		}
		return 0
	}
	if v.kind == jsonNumber {
		if n, ok := wholeNumber(v.text); ok && lo <= n && n <= hi {
			return n
		}
	}
	o.r.add(o.at(name), found(v), want)
	return 0
}

// count reads a number that only grows, from lo to 2^53.
func (o object) count(name string, required bool, lo int64) uint64 {
	return uint64(o.integer(name, required, lo, IntMax))
}

// wholeNumber gives the exact value of a JSON number if it is an integer of at most 2^53 either
// way. 1.0 and 1e2 are integers, as JSON Schema and RFC 8785 have it.
func wholeNumber(literal string) (int64, bool) {
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return n, -IntMax <= n && n <= IntMax
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.Abs(f) > IntMax || f != math.Trunc(f) || len(literal) > 40 {
		return 0, false
	}
	if f == 0 {
		// A literal that underflows is not zero. With it gone, no exponent is left that would make
		// big.Rat compute a number of a million digits for a dozen bytes of input.
		mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
		return 0, strings.Trim(mantissa, "-0.") == ""
	}
	exact, ok := new(big.Rat).SetString(literal)
	if !ok || !exact.IsInt() || !exact.Num().IsInt64() {
		return 0, false
	}
	return exact.Num().Int64(), true
}

func (o object) boolean(name string, required bool) bool {
	v, ok := o.get(name)
	if !ok {
		if required {
			o.need(name, "true or false")
		}
		return false
	}
	if v.kind != jsonBool {
		o.r.add(o.at(name), found(v), "true or false")
	}
	return v.text == "true"
}

// list reads an array of at most max values.
func (o object) list(name string, max int) []jsonValue {
	v, ok := o.get(name)
	switch {
	case !ok:
		return nil
	case v.kind != jsonArray:
		o.r.add(o.at(name), found(v), "an array")
		return nil
	case len(v.items) > max:
		o.r.add(o.at(name), fmt.Sprintf("%d entries", len(v.items)),
			fmt.Sprintf("at most %d entries", max))
		return nil
	}
	return v.items
}

// texts reads an array of strings.
func (o object) texts(name string, max int, u rule) []string {
	var out []string
	for i, v := range o.list(name, max) {
		out = append(out, o.r.text(v, fmt.Sprintf("%s[%d]", o.at(name), i), u))
	}
	return out
}

// words reads an object whose values are strings.
func (o object) words(name string) map[string]string {
	v, ok := o.get(name)
	if !ok {
		return nil
	}
	if v.kind != jsonObject {
		o.r.add(o.at(name), found(v), "an object of texts")
		return nil
	}
	if len(v.members) == 0 {
		return nil
	}
	out := make(map[string]string, len(v.members))
	for _, m := range v.members {
		out[m.name] = o.r.text(m.value, o.at(name)+"."+cut(m.name), rule{want: "a text"})
	}
	return out
}

// found describes a value in a few words.
func found(v jsonValue) string {
	switch v.kind {
	case jsonString:
		return strconv.Quote(cut(v.text))
	case jsonNumber, jsonBool, jsonNull:
		return cut(v.text)
	default:
		return "an " + string(v.kind)
	}
}

func cut(s string) string {
	const max = 40
	n := 0
	for i := range s {
		if n++; n > max {
			return s[:i] + "…"
		}
	}
	return s
}
