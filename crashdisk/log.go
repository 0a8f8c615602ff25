package crashdisk

import (
	"cmp"
	"math/rand/v2"
)

// Sector is the unit that a disk writes whole, in bytes.
const Sector = 512

// Kind is what happened to a disk.
type Kind uint8

// The kinds.
const (
	// Wrote: bytes reached the disk's cache.
	Wrote Kind = iota + 1
	// Flushed: everything written before is durable.
	Flushed
	// Said: a program made a promise.
	Said
)

// Entry is one line of a log.
type Entry struct {
	Kind   Kind
	Offset int64  // of Wrote, in bytes
	Data   []byte // of Wrote and Said
}

// Log is what happened to a disk, in order.
type Log []Entry

// Survival is what a power cut leaves of the writes that were not flushed.
type Survival uint8

// The ways to survive.
const (
	// Nothing is left of them.
	Nothing Survival = iota
	// Some are whole, the others gone, in any combination.
	Some
	// Torn: of each, any of its sectors.
	Torn
	// Prefix: the cache was written out in order, and the last write is torn.
	Prefix
	survivals
)

// String is the word for messages.
func (s Survival) String() string {
	return cmp.Or(map[Survival]string{
		Nothing: "nothing", Some: "some", Torn: "torn", Prefix: "prefix",
	}[s], "unknown")
}

// Tears is true where a write may survive in part.
func (s Survival) Tears() bool { return s == Torn || s == Prefix }

// Cut is one power cut: before entry At of a log.
type Cut struct {
	At       int
	Survival Survival
	Seed     uint64 // decides which of the unflushed writes survive
}

// DrawCut draws a cut among the first limit entries of a log.
func DrawCut(random *rand.Rand, limit int) Cut {
	return Cut{At: random.IntN(limit + 1), Survival: Survival(random.IntN(int(survivals))),
		Seed: random.Uint64()}
}

// Replay goes through a log once, forward, and makes the images of its cuts.
type Replay struct {
	log     Log
	at      int
	durable []byte
	pending []Entry
	said    [][]byte
	// Deaf makes the disk one that says that it flushed and did not: the control that shows what a
	// test can see.
	Deaf bool
}

// NewReplay begins at the disk's content before the log. It changes base.
func NewReplay(base []byte, log Log) *Replay { return &Replay{log: log, durable: base} }

// Cut makes what the disk holds after c into image, and returns what was promised before it.
// Cuts come in the order of their At.
func (r *Replay) Cut(c Cut, image []byte) (said [][]byte) {
	for ; r.at < c.At; r.at++ {
		switch e := r.log[r.at]; e.Kind {
		case Wrote:
			r.pending = append(r.pending, e)
		case Said:
			r.said = append(r.said, e.Data)
		case Flushed:
			if r.Deaf {
				continue
			}
			for _, w := range r.pending {
				copy(r.durable[w.Offset:], w.Data)
			}
			r.pending = r.pending[:0]
		}
	}
	assign(image, r.durable)
	survive(c, r.pending, image)
	return r.said
}

// Pending is how many writes were not flushed at the last cut.
func (r *Replay) Pending() int { return len(r.pending) }

// survive writes to image what c leaves of the unflushed writes. A later write over an earlier one
// may survive without it, and the other way round.
func survive(c Cut, pending []Entry, image []byte) {
	random := rand.New(rand.NewPCG(c.Seed, 0))
	switch c.Survival {
	case Nothing:
	case Some:
		for _, w := range pending {
			if random.IntN(2) == 0 {
				copy(image[w.Offset:], w.Data)
			}
		}
	case Torn:
		for _, w := range pending {
			tear(random, w, image)
		}
	case Prefix:
		if len(pending) == 0 {
			return
		}
		last := random.IntN(len(pending))
		for _, w := range pending[:last] {
			copy(image[w.Offset:], w.Data)
		}
		tear(random, pending[last], image)
	}
}

func tear(random *rand.Rand, w Entry, image []byte) {
	for from := 0; from < len(w.Data); from += Sector {
		if random.IntN(2) == 0 {
			copy(image[w.Offset+int64(from):], w.Data[from:min(from+Sector, len(w.Data))])
		}
	}
}

// assign makes image equal to content and leaves pages alone that are equal already: most are, and
// a page that was never touched costs no memory.
func assign(image, content []byte) {
	const page = 4096
	for from := 0; from < len(content); from += page {
		to := min(from+page, len(content))
		if string(image[from:to]) != string(content[from:to]) {
			copy(image[from:to], content[from:to])
		}
	}
}
