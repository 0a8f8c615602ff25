// Package config reads the programs' TOML files, strictly.
//
// A program's configuration is one struct with `toml` tags. Load fills it from three sources, later
// ones winning: the `default` tags, the file, and environment variables. Everything that a person
// can get wrong is an error that says where and what was expected: an unknown key names its line
// and the nearest known key, a wrong type names the field, what was found and what belongs there.
// The package reads no secrets: they come as files whose paths are configured.
//
//	type Device struct {
//		State string        `toml:"state" default:"/var/lib/chitd" comment:"Keys and journal."`
//		Lease time.Duration `toml:"lease" default:"30s" unit:"duration" comment:"How long …"`
//	}
//	var d Device
//	err := config.Load("/etc/chit/device.toml", &d, "CHIT")   // CHIT_STATE, CHIT_LEASE
//
// Fields may be bool, string, integers, floats, [time.Duration] ("30s", "1h30m"), slices of these,
// structs (tables), slices of structs (arrays of tables), maps from string to any of these, and
// types with UnmarshalText. A slice element that is a struct gets its defaults too. A struct with
// Validate() error is asked last; where it answers a [FieldError] the message names file and line.
//
// Files: TOML 1.0, "tables", "array of tables". Rules: DESIGN section 8.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ErrConfig is wrapped by every error about what a file or a variable says.
var ErrConfig = errors.New("configuration is not valid")

// SizeMax is the largest file that is read, in bytes.
const SizeMax = 1 << 20

// Error is one mistake in a configuration.
type Error struct {
	// Where is "file:line", "file" where no line is known, or "environment variable NAME".
	Where string
	// Key is the dotted key, such as "printers[0].url"; "" for a syntax error.
	Key string
	// Problem says what was found and what was expected.
	Problem string
}

// Error reads as `/etc/chit/device.toml:3: lease: found "soon", expected a duration such as "30s"`.
func (e *Error) Error() string {
	if e.Key == "" {
		return e.Where + ": " + e.Problem
	}
	return e.Where + ": " + e.Key + ": " + e.Problem
}

// Unwrap makes every Error an [ErrConfig].
func (e *Error) Unwrap() error { return ErrConfig }

// FieldError is how a struct's Validate names the field it complains about.
type FieldError struct {
	// Key is the dotted key as in the file, such as "mqtt.listen" or "printers[1].url".
	Key string
	// Problem says what was found and what was expected.
	Problem string
}

// Error is the key and the problem.
func (e *FieldError) Error() string { return e.Key + ": " + e.Problem }

// Field builds a [FieldError].
func Field(key, format string, args ...any) error {
	return &FieldError{Key: key, Problem: fmt.Sprintf(format, args...)}
}

// Load fills the struct that into points to from its default tags, from the file at path, and from
// environment variables named envPrefix_KEY (dots become underscores, letters upper case).
//
// Fields that are not zero when Load is called count as defaults. With an empty path no file is
// read. All mistakes of a file are reported together, each wrapping [ErrConfig].
func Load(path string, into any, envPrefix string) error {
	var text []byte
	if path != "" {
		var err error
		if text, err = read(path); err != nil {
			return err
		}
	}
	return load(path, text, into, envPrefix, os.LookupEnv)
}

// Parse is Load for text that is in memory already; name stands for the file in messages and no
// environment is looked at.
func Parse(name string, text []byte, into any) error {
	return load(name, text, into, "", func(string) (string, bool) { return "", false })
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("config: opening: %w", err)
	}
	if info.Size() > SizeMax {
		return nil, &Error{Where: path,
			Problem: fmt.Sprintf("found %d bytes, expected at most %d", info.Size(), SizeMax)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: reading: %w", err)
	}
	return text, nil
}

type lookup func(name string) (string, bool)

// byteOrderMark is what some editors of Windows put before a text in UTF-8.
const byteOrderMark = "\uFEFF"

func load(name string, text []byte, into any, envPrefix string, env lookup) error {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() ||
		target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("config: load wants a pointer to a struct, got %T", into)
	}
	target = target.Elem()
	if err := setDefaults(target, ""); err != nil {
		return err
	}
	l := loader{name: name, lines: map[string]int{}}
	tree, err := parse(name, text)
	if err != nil {
		return err
	}
	l.lines = keyLines(text)
	l.table(target, tree, "")
	if envPrefix != "" {
		l.environment(target, "", envPrefix, env)
	}
	if len(l.errs) > 0 {
		return errors.Join(l.errs...)
	}
	return l.validate(into)
}

// parse turns text into a tree. go-toml finds what breaks the syntax and keys that are given twice.
func parse(name string, text []byte) (map[string]any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal(text, &tree)
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		line, column := broken.Position()
		return nil, &Error{
			Where:   fmt.Sprintf("%s:%d:%d", name, line, column),
			Problem: strings.TrimPrefix(broken.Error(), "toml: "),
		}
	}
	if err != nil {
		return nil, &Error{Where: name, Problem: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return tree, nil
}

// validate asks into's own Validate and adds the line where it names a key.
func (l *loader) validate(into any) error {
	v, ok := into.(interface{ Validate() error })
	if !ok {
		return nil
	}
	err := v.Validate()
	var field *FieldError
	if errors.As(err, &field) {
		return &Error{Where: l.where(field.Key), Key: field.Key, Problem: field.Problem}
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %w", l.name, ErrConfig, err)
	}
	return nil
}
