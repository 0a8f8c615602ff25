package layout

import (
	"errors"
	"fmt"
	"strings"

	"chit/printer/document"
)

// Size is how large the body of a ticket is printed.
type Size uint8

// The sizes. Large and Huge are for tired eyes and printers far away; they cost paper.
const (
	Normal Size = iota
	Large
	Huge
)

var sizeNames = []string{"normal", "large", "huge"}

// ErrSize says that a size has another name than normal, large or huge.
var ErrSize = errors.New("unknown size")

// ParseSize reads the name of a size; "" is Normal. The error wraps [ErrSize].
func ParseSize(name string) (Size, error) {
	for i, known := range sizeNames {
		if name == known || name == "" {
			return Size(i), nil
		}
	}
	return Normal, fmt.Errorf("%w: found %q, expected %s", ErrSize, name,
		strings.Join(sizeNames, ", "))
}

func (s Size) String() string { return sizeNames[min(int(s), len(sizeNames)-1)] }

// body is how the parts of a ticket's body look.
type body struct {
	quantity, name, detail, fact document.Style
	// notes and allergens, of the item and of the order.
	note, allergen document.Style
}

func style(width, height document.Size) document.Style {
	return document.Style{Width: width, Height: height, Bold: true}
}

// bodies are ordered by [Size].
var bodies = []body{
	{quantity: style(2, 2), name: tall, detail: bold, fact: plain, note: tall, allergen: tall},
	{quantity: style(2, 2), name: style(2, 2), detail: tall, fact: tall, note: tall,
		allergen: style(2, 2)},
	{quantity: style(3, 3), name: style(2, 3), detail: style(2, 2), fact: tall, note: style(2, 2),
		allergen: style(2, 3)},
}

// compact is the body of a ticket that must be short.
var compact = body{
	quantity: style(2, 1), name: bold, detail: bold, fact: plain, note: bold, allergen: tall,
}

// Smaller is o in the normal size, whatever the kitchen and the template want.
func (o Options) Smaller() Options {
	o.Size, o.Template.ItemSize = Normal, nil
	return o
}

// body chooses by the options; a size of the template's own counts for the items alone.
func (o Options) body() body {
	if o.Compact {
		return compact
	}
	return bodies[min(int(o.Size), len(bodies)-1)]
}
