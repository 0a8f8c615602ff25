package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// Sample writes the commented sample file of a configuration struct: every key with its comment,
// unit and default, commented out, so that an untouched sample means all defaults. conf is the
// struct or a pointer to it; fields that are not zero show their value in place of the tag's
// default.
//
// A slice of structs appears as one commented element, a map of structs as one named "NAME".
func Sample(conf any) []byte {
	v := reflect.ValueOf(conf)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	var out bytes.Buffer
	writeSample(&out, copied, "")
	return bytes.TrimLeft(out.Bytes(), "\n")
}

func writeSample(out *bytes.Buffer, v reflect.Value, path string) {
	var tables []field
	for _, f := range fields(v.Type()) {
		if inner, _ := elementTable(v.FieldByIndex(f.index)); inner.IsValid() {
			tables = append(tables, f) // TOML: a table's own keys come before its sub-tables.
			continue
		}
		writeKey(out, f, v.FieldByIndex(f.index))
	}
	for _, f := range tables {
		inner, header := elementTable(v.FieldByIndex(f.index))
		at := join(path, f.key)
		out.WriteByte('\n')
		writeComment(out, f.comment)
		fmt.Fprintf(out, header+"\n", at)
		if strings.Contains(header, "NAME") {
			at += ".NAME"
		}
		writeSample(out, inner, at)
	}
}

// elementTable is the struct that a field shows as a table, and its header.
func elementTable(v reflect.Value) (reflect.Value, string) {
	switch {
	case v.Kind() == reflect.Struct && !isText(v):
		return v, "[%s]"
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return reflect.New(v.Type().Elem()).Elem(), "#[[%s]]"
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct:
		return reflect.New(v.Type().Elem()).Elem(), "#[%s.NAME]"
	}
	return reflect.Value{}, ""
}

func writeKey(out *bytes.Buffer, f field, v reflect.Value) {
	comment := f.comment
	if f.unit != "" {
		comment = strings.TrimSpace(comment + " Unit: " + f.unit + ".")
	}
	out.WriteByte('\n')
	writeComment(out, comment)
	if v.IsZero() && f.hasDefault {
		// A default that does not fit is reported by Load; here it is shown as written.
		if fromString(v, f.def) != nil {
			fmt.Fprintf(out, "#%s = %s\n", f.key, quote(f.def))
			return
		}
	}
	fmt.Fprintf(out, "#%s = %s\n", f.key, literal(v))
}

// literal writes a value as TOML.
func literal(v reflect.Value) string {
	if text, ok := v.Interface().(fmt.Stringer); ok && (isText(v) || v.Type() == durationType) {
		return quote(text.String())
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map, reflect.Struct:
		return "{}"
	case reflect.Pointer:
		return literal(reflect.New(v.Type().Elem()).Elem())
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("%g", v.Float())
	}
	return fmt.Sprint(v.Interface())
}

// quote writes a TOML basic string. Go's quoting differs only in control characters.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, "\\u%04X", r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// commentColumns is where comment lines of a sample are broken.
const commentColumns = 78

func writeComment(out *bytes.Buffer, text string) {
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentColumns {
			out.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	if line != "#" {
		out.WriteString(line + "\n")
	}
}
