package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
)

// decode reads a small request strictly, and says what is wrong with it in the request's words.
func decode(raw []byte, into any) *problem {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		p := invalid(misread(err, into))
		return &p
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		p := invalid(field{"", "more behind it", "one JSON object"})
		return &p
	}
	return nil
}

// misread is an error of package json without its words about Go.
func misread(err error, into any) field {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var instant *time.ParseError
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case unknown:
		return field{shorten(strings.Trim(name, `"`)), "an unknown field",
			"one of " + strings.Join(fieldsOf(into), ", ")}
	case errors.As(err, &kind):
		return field{kind.Field, "a JSON " + kind.Value, called(kind.Type)}
	case errors.As(err, &syntax):
		return field{"", fmt.Sprintf("no JSON at byte %d", syntax.Offset), "a JSON object"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return field{"", "JSON that ends early", "a JSON object"}
	case errors.As(err, &instant):
		return field{"", shorten(instant.Value), "an instant such as 2026-03-14T18:30:00Z"}
	}
	return field{"", "", "a JSON object as GET /openapi.json describes it"}
}

// fieldsOf are the names that a request knows.
func fieldsOf(into any) (names []string) {
	t := reflect.TypeOf(into).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// called is a type as JSON calls it.
func called(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a JSON string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	case reflect.Slice:
		return "a JSON array"
	default:
		return "a JSON object"
	}
}
