package intake

import (
	"fmt"
	"strings"
)

// UnknownError is a name that the tenant does not have, such as a station's. It wraps [ErrKitchen],
// [ErrStation] or [ErrReason].
type UnknownError struct {
	Kind  error
	Field string // as the request calls it
	Found string
	Known []string // what it may be
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%v: %s: found %q, expected %s", e.Kind, e.Field, e.Found, e.expected())
}

// Unwrap is the kind, for errors.Is.
func (e *UnknownError) Unwrap() error { return e.Kind }

func (e *UnknownError) expected() string {
	if len(e.Known) == 0 {
		return "nothing: this account has none"
	}
	return "one of " + strings.Join(e.Known, ", ")
}

func (e *UnknownError) problem() problem {
	return invalid(field{e.Field, shorten(e.Found), e.expected()})
}
