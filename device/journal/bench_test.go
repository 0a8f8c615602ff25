package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
)

// BenchmarkLookup finds ids among 10^3 to 10^6, spread over the 30 days that a device remembers.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("ids=%d", n), func(b *testing.B) {
			j := remembering(b, n)
			b.Run("known", func(b *testing.B) {
				i := 0
				for b.Loop() {
					i = (i + 7919) % n
					if known, err := j.Lookup(benchID(i)); err != nil || !known.Found {
						b.Fatal(known, err)
					}
				}
			})
			b.Run("unknown", func(b *testing.B) {
				for b.Loop() {
					if known, err := j.Lookup("order-nobody/1@grill"); err != nil || known.Found {
						b.Fatal(known, err)
					}
				}
			})
		})
	}
}

func benchID(i int) string {
	return fmt.Sprintf("order-%016x/1@grill", uint64(i)*0x9E3779B97F4A7C15)
}

func remembering(b *testing.B, n int) *Journal {
	j := open(b, filepath.Join(b.TempDir(), "journal.db"), Options{NoSync: true, MaxSize: 1 << 30})
	digest := wire.Digest([]byte("x"))
	var batch []core.Change
	for i := range n {
		batch = append(batch, core.PutSeen{Day: uint32(i * 30 / n), ID: benchID(i), Record: core.Record{
			Digest: digest, Outcome: wire.OutcomePrinted, Evidence: wire.EvidenceConfirmed,
			Attempt: 1, Expires: 700 * time.Hour, Arrival: uint64(i),
		}})
		if len(batch) == 5000 || i == n-1 {
			if err := j.Apply(batch); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	return j
}

// BenchmarkTicket is a ticket's two commits on a file that is flushed.
func BenchmarkTicket(b *testing.B) {
	k := newKitchen(b, open(b, filepath.Join(b.TempDir(), "journal.db"), Options{}))
	before := written(b)
	i := 0
	for b.Loop() {
		i++
		k.arrives(benchID(i), 900)
		k.printed()
	}
	b.ReportMetric(float64(written(b)-before)/float64(i), "written-B/op")
}

// BenchmarkOpen is a start with this many remembered ids.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("ids=%d", n), func(b *testing.B) {
			j := remembering(b, n)
			path := j.Path()
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				again, err := Open(path, Options{NoSync: true, MaxSize: 1 << 30})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := again.Load(); err != nil {
					b.Fatal(err)
				}
				if err := again.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
