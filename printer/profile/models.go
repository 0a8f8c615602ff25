package profile

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Errors of [ByName] and [Find].
var (
	// ErrUnknown says that no profile has the name asked for; the error around it names near ones.
	ErrUnknown = errors.New("unknown printer profile")
	// ErrRefused says that tickets must not be sent to such a printer; the error around it says
	// why, and what to do.
	ErrRefused = errors.New("tickets cannot be printed there")
)

// Model is a profile and where its facts come from.
type Model struct {
	Profile
	// DB is the model's name in escpos-printer-db, empty where it is not from there.
	DB string
	// Facts are all of the model's lines, in their order.
	Facts []Fact
	// Doubted are pages that one source has and another contradicts. Nothing is printed with them.
	Doubted []Page

	answers answers // of models that [Auto] may take a unit for
}

// Fact is one line about a model.
type Fact struct {
	Name, Value string
	// Source is db, rpe, epson, research or default, or several of them, with a remark where sources
	// differ.
	Source string
}

//go:embed models/*.txt
var files embed.FS

// models are parsed once. The files are a part of the program: a fault in them is a defect.
var models = sync.OnceValue(func() []Model {
	var all []Model
	entries, err := files.ReadDir("models")
	for _, entry := range entries {
		var text []byte
		if text, err = files.ReadFile("models/" + entry.Name()); err != nil {
			break
		}
		var some []Model
		if some, err = parse(string(text)); err != nil {
			err = fmt.Errorf("%s: %w", entry.Name(), err)
			break
		}
		all = append(all, some...)
	}
	if err != nil {
		panic("profile: models: " + err.Error())
	}
	slices.SortFunc(all, func(a, b Model) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return all
})

// safe are the profiles of unknown printers, the usual paper first.
var safe = []string{"safe-80", "safe-58", "safe-76"}

// rank puts the safe profiles first.
func rank(name string) int {
	if i := slices.Index(safe, name); i >= 0 {
		return i
	}
	return len(safe)
}

// Safe80 suits most receipt printers for 80 mm paper: only pages that are the same nearly
// everywhere, a small buffer, no second colour. Its distance to the blade is on the long side. GS v
// 0 is known to every thermal printer in the sources; GS ( k is not, so codes are drawn.
func Safe80() Profile { return must("safe-80") }

// Safe58 is [Safe80] for 58 mm paper. Such printers have no cutter: the feed brings the last line
// past the tear bar.
func Safe58() Profile { return must("safe-58") }

// Safe76 is for needle printers and their 76 mm paper.
func Safe76() Profile { return must("safe-76") }

func must(name string) Profile {
	p, err := ByName(name)
	if err != nil {
		panic(err.Error()) // TestEveryProfileIsUsable looks for the three.
	}
	return p
}

// clone makes the model anew, so that no caller can change another's.
func (m Model) clone() Model {
	m.Pages, m.Doubted = slices.Clone(m.Pages), slices.Clone(m.Doubted)
	m.Facts = slices.Clone(m.Facts)
	return m
}

// All returns every model, the safe ones first and then by name, refused ones too.
func All() []Model {
	var all []Model
	for _, m := range models() {
		all = append(all, m.clone())
	}
	return all
}

// Names lists the profiles that can be printed with, the safe ones first and then by name.
func Names() []string {
	var names []string
	for _, m := range models() {
		if m.Refused == "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Find returns the model of that name, also a refused one. The error wraps [ErrUnknown] and names
// near ones.
func Find(name string) (Model, error) {
	for _, m := range models() {
		if m.Name == name {
			return m.clone(), nil
		}
	}
	near := "such as " + strings.Join(safe, ", ") + " or epson-tm-t20iii"
	if names := nearest(name); len(names) > 0 {
		near = "did you mean " + strings.Join(names, " or ") + "?"
	}
	return Model{}, fmt.Errorf("profile: %q: %w, %s (chit printer profiles lists all)", name,
		ErrUnknown, near)
}

// ByName returns the profile of that name. The error wraps [ErrUnknown] and names near ones, or it
// wraps [ErrRefused] and says what to do.
func ByName(name string) (Profile, error) {
	m, err := Find(name)
	if err != nil {
		return Profile{}, err
	}
	if m.Refused != "" {
		return Profile{}, fmt.Errorf("profile: %q: %w: %s", name, ErrRefused, m.Refused)
	}
	return m.Profile, nil
}
