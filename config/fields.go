package config

import (
	"fmt"
	"reflect"
	"strings"
)

// field is one key that a struct knows.
type field struct {
	key                string
	index              []int
	comment, def, unit string
	hasDefault         bool
}

// fields lists the keys of a struct in the order of its fields. Embedded structs without a tag give
// their keys to the struct around them; unexported fields and `toml:"-"` are left out.
func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if key == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			for _, inner := range fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				list = append(list, inner)
			}
			continue
		}
		if key == "" {
			key = strings.ToLower(f.Name)
		}
		def, has := f.Tag.Lookup("default")
		list = append(list, field{
			key: key, index: []int{i}, def: def, hasDefault: has,
			comment: f.Tag.Get("comment"), unit: f.Tag.Get("unit"),
		})
	}
	return list
}

// setDefaults gives every zero field the value of its default tag. A default that does not fit its
// field is a mistake of the program, told like any other.
func setDefaults(target reflect.Value, path string) error {
	if target.Kind() != reflect.Struct || isText(target) {
		return nil
	}
	for _, f := range fields(target.Type()) {
		at := join(path, f.key)
		into := target.FieldByIndex(f.index)
		if into.Kind() == reflect.Struct && !isText(into) {
			if err := setDefaults(into, at); err != nil {
				return err
			}
			continue
		}
		if !f.hasDefault || !into.IsZero() {
			continue
		}
		if err := fromString(into, f.def); err != nil {
			return fmt.Errorf("config: default %q of %s: expected %w", f.def, at, err)
		}
	}
	return nil
}

// hint names the known key that is nearest to what was written, or all where there are few.
func hint(wrote string, known []field) string {
	best, nearest := "", len(wrote)/2+1
	for _, f := range known {
		if d := distance(wrote, f.key); d < nearest || d == nearest && best == "" {
			best, nearest = f.key, d
		}
	}
	if best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	keys := make([]string, 0, len(known))
	for _, f := range known {
		keys = append(keys, f.key)
	}
	if len(keys) == 0 {
		return ""
	}
	return ", expected one of " + strings.Join(keys, ", ")
}

// distance counts the letters to insert, delete, replace or swap with their neighbour that turn a
// into b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
