package service

import (
	"path/filepath"
	"testing"

	"chit/broker/store/bolt"
)

// A path can hold what no id does, a NUL for instance: there is no such ticket, and nothing is
// wrong with the broker.
func TestTicketsOfImpossibleNamesAreNone(t *testing.T) {
	s, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	door := &tickets{store: s}
	for _, order := range []string{"", "a\x00b", "\x00", "../../etc", "\xff"} {
		if found, err := door.Tickets(t.Context(), "main", order, 1, ""); err != nil || found != nil {
			t.Errorf("%q: %v, %v; want none", order, found, err)
		}
	}
}
