package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// loader carries a tree into a struct and collects what is wrong on the way.
type loader struct {
	name  string
	lines map[string]int
	errs  []error
}

// where is "file:line" of key, or of the nearest table around it that has a line.
func (l *loader) where(key string) string {
	for at := key; at != ""; at = parent(at) {
		if line, ok := l.lines[at]; ok {
			return fmt.Sprintf("%s:%d", l.name, line)
		}
	}
	return l.name
}

func parent(key string) string {
	cut := strings.LastIndexAny(key, ".[")
	return key[:max(cut, 0)]
}

func (l *loader) problem(key, format string, args ...any) {
	l.errs = append(l.errs, &Error{
		Where: l.where(key), Key: key, Problem: fmt.Sprintf(format, args...),
	})
}

// table fills the fields of a struct and refuses keys that it has no field for.
func (l *loader) table(target reflect.Value, tree map[string]any, path string) {
	known := fields(target.Type())
	for _, key := range sortedKeys(tree) {
		at := join(path, key)
		i := slices.IndexFunc(known, func(f field) bool { return f.key == key })
		if i < 0 {
			l.problem(at, "unknown key%s", hint(key, known))
			continue
		}
		l.value(target.FieldByIndex(known[i].index), tree[key], at)
	}
}

func (l *loader) value(target reflect.Value, found any, path string) {
	switch {
	case isText(target):
		l.text(target, found, path)
	case target.Kind() == reflect.Pointer:
		fresh := reflect.New(target.Type().Elem())
		if err := setDefaults(fresh.Elem(), path); err != nil {
			l.errs = append(l.errs, err)
		}
		l.value(fresh.Elem(), found, path)
		target.Set(fresh)
	case target.Kind() == reflect.Struct:
		tree, ok := found.(map[string]any)
		if !ok {
			l.problem(path, "found %s, expected a table", describe(found))
			return
		}
		l.table(target, tree, path)
	case target.Kind() == reflect.Slice:
		l.slice(target, found, path)
	case target.Kind() == reflect.Map:
		l.dictionary(target, found, path)
	default:
		if err := scalar(target, found); err != nil {
			l.problem(path, "found %s, expected %s", describe(found), err)
		}
	}
}

func (l *loader) text(target reflect.Value, found any, path string) {
	s, ok := found.(string)
	if !ok {
		l.problem(path, "found %s, expected a string", describe(found))
		return
	}
	err := target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	if err != nil {
		l.problem(path, "found %q: %v", s, err)
	}
}

func (l *loader) slice(target reflect.Value, found any, path string) {
	list, ok := found.([]any)
	if !ok {
		l.problem(path, "found %s, expected a list", describe(found))
		return
	}
	made := reflect.MakeSlice(target.Type(), len(list), len(list))
	for i, element := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := setDefaults(made.Index(i), at); err != nil {
			l.errs = append(l.errs, err)
		}
		l.value(made.Index(i), element, at)
	}
	target.Set(made)
}

func (l *loader) dictionary(target reflect.Value, found any, path string) {
	tree, ok := found.(map[string]any)
	if !ok {
		l.problem(path, "found %s, expected a table", describe(found))
		return
	}
	made := reflect.MakeMap(target.Type())
	for _, key := range sortedKeys(tree) {
		at := join(path, key)
		element := reflect.New(target.Type().Elem()).Elem()
		if err := setDefaults(element, at); err != nil {
			l.errs = append(l.errs, err)
		}
		l.value(element, tree[key], at)
		made.SetMapIndex(reflect.ValueOf(key).Convert(target.Type().Key()), element)
	}
	target.Set(made)
}

// environment sets scalar fields and lists of scalars from variables; lists are split at commas.
func (l *loader) environment(target reflect.Value, path, prefix string, env lookup) {
	for _, f := range fields(target.Type()) {
		at := join(path, f.key)
		into := target.FieldByIndex(f.index)
		if into.Kind() == reflect.Struct && !isText(into) {
			l.environment(into, at, prefix, env)
			continue
		}
		name := Variable(prefix, at)
		said, ok := env(name)
		if !ok || into.Kind() == reflect.Map {
			continue
		}
		if err := fromString(into, said); err != nil {
			l.errs = append(l.errs, &Error{
				Where: "environment variable " + name, Key: at,
				Problem: fmt.Sprintf("found %q, expected %s", said, err),
			})
		}
	}
}

// Variable is the name of the environment variable that overrides key.
func Variable(prefix, key string) string {
	return prefix + "_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// fromString is how default tags and environment variables are read.
func fromString(target reflect.Value, s string) error {
	switch {
	case isText(target):
		return target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	case target.Kind() == reflect.String || target.Type() == durationType:
		return scalar(target, s)
	case target.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("true or false")
		}
		return scalar(target, b)
	case target.CanInt() || target.CanUint():
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return errors.New("a whole number")
		}
		return scalar(target, n)
	case target.CanFloat():
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return errors.New("a number")
		}
		return scalar(target, x)
	case target.Kind() == reflect.Slice:
		return listFromString(target, s)
	}
	return fmt.Errorf("a value in the file: %s cannot be one string", target.Type())
}

func listFromString(target reflect.Value, s string) error {
	var parts []string
	if s != "" {
		parts = strings.Split(s, ",")
	}
	made := reflect.MakeSlice(target.Type(), len(parts), len(parts))
	for i, part := range parts {
		if err := fromString(made.Index(i), strings.TrimSpace(part)); err != nil {
			return fmt.Errorf("%w at item %d", err, i+1)
		}
	}
	target.Set(made)
	return nil
}

var durationType = reflect.TypeFor[time.Duration]()

// scalar sets target to found. Its error says what was expected, to follow "expected".
func scalar(target reflect.Value, found any) error {
	if target.Type() == durationType {
		s, ok := found.(string)
		d, err := time.ParseDuration(s)
		if !ok || err != nil {
			return errors.New(`a duration such as "30s"`)
		}
		target.SetInt(int64(d))
		return nil
	}
	switch {
	case target.Kind() == reflect.String:
		s, ok := found.(string)
		if !ok {
			return errors.New("a string")
		}
		target.SetString(s)
	case target.Kind() == reflect.Bool:
		b, ok := found.(bool)
		if !ok {
			return errors.New("true or false")
		}
		target.SetBool(b)
	case target.CanInt():
		n, ok := found.(int64)
		if !ok || target.OverflowInt(n) {
			return fmt.Errorf("a whole number of at most %d bits", target.Type().Bits())
		}
		target.SetInt(n)
	case target.CanUint():
		n, ok := found.(int64)
		if !ok || n < 0 || target.OverflowUint(uint64(n)) {
			return fmt.Errorf("a whole number from 0, of at most %d bits", target.Type().Bits())
		}
		target.SetUint(uint64(n))
	case target.CanFloat():
		x, ok := found.(float64)
		if n, whole := found.(int64); whole {
			x, ok = float64(n), true
		}
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("a number")
		}
		target.SetFloat(x)
	default:
		return fmt.Errorf("nothing here: fields of type %s are not supported", target.Type())
	}
	return nil
}

func isText(target reflect.Value) bool {
	if !target.CanAddr() || target.Kind() == reflect.Pointer {
		return false
	}
	_, ok := target.Addr().Interface().(encoding.TextUnmarshaler)
	return ok
}

func describe(found any) string {
	switch v := found.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	case time.Time:
		return "the time " + v.Format(time.RFC3339)
	}
	return fmt.Sprint(found)
}

func sortedKeys(tree map[string]any) []string {
	keys := make([]string, 0, len(tree))
	for key := range tree {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
