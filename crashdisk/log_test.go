package crashdisk_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/crashdisk"
)

// wrote is a write of one letter over whole sectors.
func wrote(sector, count int, letter string) crashdisk.Entry {
	return crashdisk.Entry{Kind: crashdisk.Wrote, Offset: int64(sector * crashdisk.Sector),
		Data: bytes.Repeat([]byte(letter), count*crashdisk.Sector)}
}

// letters reads one letter a sector; a sector of two letters is torn inside, which no cut may do.
func letters(t *rapid.T, content []byte) string {
	var all strings.Builder
	for at := 0; at < len(content); at += crashdisk.Sector {
		sector := content[at : at+crashdisk.Sector]
		if bytes.Count(sector, sector[:1]) != crashdisk.Sector {
			t.Fatalf("sector %d is torn inside", at/crashdisk.Sector)
		}
		all.WriteByte(sector[0])
	}
	return all.String()
}

// TestWhatWasFlushedSurvivesEveryCut draws logs and cuts: before the last flush all is there; of
// what came later every sector is one of those that were ever written to that place since, or the
// one before.
func TestWhatWasFlushedSurvivesEveryCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const sectors = 8
		var log crashdisk.Log
		for i := range rapid.IntRange(0, 30).Draw(rt, "entries") {
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				log = append(log, crashdisk.Entry{Kind: crashdisk.Flushed})
			case 1:
				log = append(log, crashdisk.Entry{Kind: crashdisk.Said, Data: []byte{byte(i)}})
			default:
				from := rapid.IntRange(0, sectors-1).Draw(rt, "from")
				count := rapid.IntRange(1, sectors-from).Draw(rt, "count")
				log = append(log, wrote(from, count, string(rune('A'+i))))
			}
		}
		replay := crashdisk.NewReplay(bytes.Repeat([]byte("0"), sectors*crashdisk.Sector), log)
		image := make([]byte, sectors*crashdisk.Sector)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for at := range len(log) + 1 {
			cut := crashdisk.DrawCut(random, len(log))
			cut.At = at
			said := replay.Cut(cut, image)
			got := letters(rt, image)
			may, promises := possible(log[:at], sectors)
			if len(said) != promises {
				rt.Fatalf("cut %+v: %d promises, want %d", cut, len(said), promises)
			}
			for i := range sectors {
				if !strings.Contains(may[i], got[i:i+1]) {
					rt.Fatalf("cut %+v: sector %d is %c, want one of %s", cut, i, got[i], may[i])
				}
				if newest := may[i][:1]; cut.Survival == crashdisk.Nothing && got[i:i+1] != newest {
					rt.Fatalf("cut %+v: sector %d is %c, was flushed as %s", cut, i, got[i], newest)
				}
			}
			again := make([]byte, len(image))
			if replay.Cut(cut, again); !bytes.Equal(image, again) {
				rt.Fatalf("cut %+v made two images", cut)
			}
		}
	})
}

// possible is the dumb judge: per sector the flushed letter, then all written since.
func possible(log crashdisk.Log, sectors int) (may []string, promises int) {
	now := strings.Split(strings.Repeat("0", sectors), "")
	may = strings.Split(strings.Repeat("0", sectors), "")
	for _, e := range log {
		switch e.Kind {
		case crashdisk.Said:
			promises++
		case crashdisk.Flushed:
			copy(may, now)
		case crashdisk.Wrote:
			from := int(e.Offset) / crashdisk.Sector
			for i := range len(e.Data) / crashdisk.Sector {
				now[from+i] = string(e.Data[:1])
				may[from+i] += now[from+i]
			}
		}
	}
	return may, promises
}

func TestEveryKindOfSurvivalHappens(t *testing.T) {
	log := crashdisk.Log{wrote(0, 2, "a"), wrote(2, 2, "b")}
	replay := crashdisk.NewReplay(bytes.Repeat([]byte("0"), 4*crashdisk.Sector), log)
	image := make([]byte, 4*crashdisk.Sector)
	seen := map[string]bool{}
	random := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		cut := crashdisk.DrawCut(random, len(log))
		cut.At = len(log)
		replay.Cut(cut, image)
		var got string
		for at := 0; at < len(image); at += crashdisk.Sector {
			got += string(image[at])
		}
		seen[cut.Survival.String()+" "+got] = true
	}
	for _, want := range []string{"nothing 0000", "some 00bb", "some aabb", "some aa00", "torn a0b0",
		"torn 0a0b", "prefix aa0b", "prefix 0a00"} {
		if !seen[want] {
			t.Errorf("never: %s", want)
		}
	}
	for _, never := range []string{"some a000", "prefix 00bb", "nothing aabb"} {
		if seen[never] {
			t.Errorf("cannot be: %s", never)
		}
	}
	if replay.Pending() != 2 {
		t.Errorf("%d writes are pending, want 2", replay.Pending())
	}
}

func TestADeafDiskForgetsWhatItSaidItFlushed(t *testing.T) {
	log := crashdisk.Log{wrote(0, 1, "a"), {Kind: crashdisk.Flushed}}
	for _, deaf := range []bool{false, true} {
		replay := crashdisk.NewReplay(bytes.Repeat([]byte("0"), crashdisk.Sector), log)
		replay.Deaf = deaf
		image := make([]byte, crashdisk.Sector)
		replay.Cut(crashdisk.Cut{At: len(log), Survival: crashdisk.Nothing}, image)
		if got := image[0] == '0'; got != deaf {
			t.Errorf("deaf %v: the sector is %c", deaf, image[0])
		}
	}
}
