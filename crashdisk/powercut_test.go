package crashdisk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"chit/crashdisk"
)

// exam is a workload, and what is wrong on purpose.
type exam struct {
	workload string
	// cutsPerLife is how many cuts are made of one recording.
	cutsPerLife int
	wrong       string // a fault of the workload
	deaf        bool   // the disk does not flush
	noBirths    bool
}

// broken is a state that broke a promise.
type broken struct {
	life  string
	cut   crashdisk.Cut
	of    int // entries of the log
	err   error
	image string // where it was kept
}

func (b broken) String() string {
	return fmt.Sprintf("life %s, cut at %d of %d (%s, seed %d): %v; image %s", b.life, b.cut.At, b.of,
		b.cut.Survival, b.cut.Seed, b.err, b.image)
}

const (
	lifeMax    = time.Minute // of one recording
	birthEvery = 4           // lives: so many begin on a fresh disk and end soon
	keptMax    = 3           // images kept of one exam
)

func TestTheJournalSurvivesPowerCuts(t *testing.T) {
	t.Parallel()
	sit(t, exam{workload: journalName, cutsPerLife: 40}, *states/2)
}

func TestTheStoreSurvivesPowerCuts(t *testing.T) {
	t.Parallel()
	sit(t, exam{workload: storeName, cutsPerLife: 40}, *states-*states/2)
}

func sit(t *testing.T, e exam, states int) {
	t.Helper()
	r := newRun(t, e)
	for r.states < states {
		r.life(min(e.cutsPerLife, states-r.states))
	}
	t.Logf("%d states, %d of them with unflushed writes, in %d lives of %d log entries, up to %d "+
		"facts held to, %d superblocks torn, seed %d: %d broken", r.states, r.unflushed, r.lives,
		r.entries, r.facts, r.repaired, *seed, len(r.broken))
	for _, b := range r.broken[:min(len(r.broken), 5)] {
		t.Error(b)
	}
}

// run is one exam under way.
type run struct {
	t      *testing.T
	exam   exam
	dir    string
	random *rand.Rand
	fresh  [][]byte // disks of each kind
	image  *crashdisk.Image
	bench  *bench

	base []byte // of the next life, with what was said before it
	past []fact

	lives, states, entries, facts int
	unflushed                     int // states in which writes were lost or torn, or could be
	repaired                      int // file systems whose superblock was torn
	broken                        []broken
}

func newRun(t *testing.T, e exam) *run {
	t.Helper()
	dir := t.TempDir()
	var fresh [][]byte
	for _, kind := range [][]string{crashdisk.Small, crashdisk.Large} {
		content, err := crashdisk.Format(dir, kind)
		if err != nil {
			t.Fatal(err)
		}
		fresh = append(fresh, content)
	}
	image, err := crashdisk.NewImage()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{workload: e.workload}
	t.Cleanup(func() {
		if err := errors.Join(b.stop(), image.Close()); err != nil {
			t.Error(err)
		}
	})
	stream := uint64(len(t.Name()))<<8 | uint64(t.Name()[4])
	return &run{t: t, exam: e, dir: dir, fresh: fresh, image: image, bench: b,
		random: rand.New(rand.NewPCG(*seed, stream))}
}

// life is one recording and its cuts. The next life begins on the disk that one of them left, so a
// file sees many power cuts, also while it recovers from the one before.
func (r *run) life(cuts int) {
	r.t.Helper()
	r.lives++
	entries := 100 + r.random.IntN(1500)
	if birth := r.lives%birthEvery == 1 && !r.exam.noBirths; birth || r.base == nil {
		r.base, r.past = r.fresh[r.lives/birthEvery%len(r.fresh)], nil
		if birth {
			entries = 10 + r.random.IntN(150)
		}
	}
	name := fmt.Sprintf("l%d", r.lives)
	log := r.record(name, entries)
	r.entries += len(log)
	drawn := make([]crashdisk.Cut, cuts)
	for i := range drawn {
		drawn[i] = crashdisk.DrawCut(r.random, len(log))
	}
	slices.SortStableFunc(drawn, func(a, b crashdisk.Cut) int { return a.At - b.At })
	replay := crashdisk.NewReplay(slices.Clone(r.base), log)
	replay.Deaf = r.exam.deaf
	next := cuts/2 + r.random.IntN(cuts-cuts/2)
	for i, cut := range drawn {
		facts, err := readFacts(replay.Cut(cut, r.image.Content))
		if err != nil {
			r.t.Fatal(err)
		}
		facts = slices.Concat(r.past, facts)
		r.facts = max(r.facts, len(facts))
		var left []byte
		if i == next {
			left = slices.Clone(r.image.Content)
		}
		r.states++
		if replay.Pending() > 0 {
			r.unflushed++
		}
		err = r.judge(facts, cut)
		if err == nil && i == next {
			defer func() { r.base, r.past = left, facts }() // Nobody lives on a broken disk.
		}
		if err != nil {
			b := broken{life: name, cut: cut, of: len(log), err: err}
			if len(r.broken) < keptMax && !r.exam.noBirths {
				replay.Cut(cut, r.image.Content)
				b.image = r.keep(name, facts)
			}
			r.broken = append(r.broken, b)
		}
	}
}

func (r *run) record(name string, entries int) crashdisk.Log {
	r.t.Helper()
	raw, err := json.Marshal(r.past)
	if err != nil {
		r.t.Fatal(err)
	}
	past := filepath.Join(r.dir, "past.json")
	if err := os.WriteFile(past, raw, 0o600); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), lifeMax)
	defer cancel()
	log, err := crashdisk.Record(ctx, r.dir, crashdisk.Workload{
		Base: r.base, Entries: entries,
		Command: func(folder, word string) *exec.Cmd {
			c := exec.Command("/proc/self/exe")
			c.Env = append(os.Environ(), childOf+"="+r.exam.workload, childFolder+"="+folder,
				childWord+"="+word, childPast+"="+past, childLife+"="+name,
				childSeed+"="+strconv.FormatUint(uint64(r.lives)<<60>>1|r.random.Uint64()>>8, 10))
			c.Env = append(c.Env, childWrong+"="+r.exam.wrong)
			return c
		},
	})
	if err != nil {
		r.t.Fatalf("life %s, seed %d: %v", name, *seed, err)
	}
	return log
}

// judge mounts the image and asks the judge. A file system that does not mount is a broken
// promise, too, unless a write was torn and a boot repairs it; one that stays mounted ends the
// test.
func (r *run) judge(facts []fact, cut crashdisk.Cut) error {
	r.t.Helper()
	folder := filepath.Join(r.dir, "ext4")
	err := r.image.Mount(folder)
	if errors.Is(err, syscall.EBADMSG) && cut.Survival.Tears() {
		r.repaired++
		if err = r.image.Repair(); err == nil {
			err = r.image.Mount(folder)
		}
	}
	if err != nil {
		return err
	}
	err = r.bench.ask(question{Folder: folder, Facts: facts, Seed: cut.Seed})
	if err := crashdisk.Unmount(folder); err != nil {
		r.t.Fatalf("after %v: %v", err, err)
	}
	return err
}

// keep writes a broken image, and what was promised, to where a person can look at it.
func (r *run) keep(name string, facts []fact) string {
	raw, err := json.MarshalIndent(facts, "", "\t")
	if err != nil {
		return err.Error()
	}
	dir, err := os.MkdirTemp("", "chit-powercut-"+strings.TrimSuffix(r.exam.workload, ".db")+"-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".json"), raw, 0o600)
	}
	path := filepath.Join(dir, name+".img")
	if err == nil {
		err = os.WriteFile(path, r.image.Content, 0o600)
	}
	if err != nil {
		return err.Error()
	}
	return path
}
