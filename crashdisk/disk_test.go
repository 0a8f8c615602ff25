package crashdisk_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"chit/crashdisk"
)

// mounted is how many mounts of this process's namespace are below dir.
func mounted(t *testing.T, dir string) (n int) {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, dir) {
			n++
		}
	}
	return n
}

func formatted(t *testing.T, dir string, kind []string) []byte {
	t.Helper()
	content, err := crashdisk.Format(dir, kind)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTheLogHoldsWritesFlushesAndWordsInOrder writes a file durably and says so, again and again:
// between two words there are writes and then a flush.
func TestTheLogHoldsWritesFlushesAndWordsInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := crashdisk.Record(t.Context(), dir, crashdisk.Workload{
		Base: formatted(t, dir, crashdisk.Small), Entries: 200,
		Command: func(folder, word string) *exec.Cmd {
			return exec.Command("/bin/sh", "-c", `i=0; while :; do
				i=$((i+1)); echo $i >"$0/file"; sync; printf $i >>"$1"; done`, folder, word)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := mounted(t, dir); n > 0 {
		t.Errorf("%d mounts are left", n)
	}
	kinds := map[crashdisk.Kind]int{}
	since := map[crashdisk.Kind]int{}
	for i, e := range log {
		kinds[e.Kind]++
		if since[e.Kind]++; e.Kind != crashdisk.Said {
			continue
		}
		if kinds[crashdisk.Said] > 1 && (since[crashdisk.Wrote] == 0 || since[crashdisk.Flushed] == 0) {
			t.Errorf("entry %d: said %s after %v", i, e.Data, since)
		}
		clear(since)
	}
	if kinds[crashdisk.Said] < 5 {
		t.Errorf("the log holds %v", kinds)
	}
}

// TestAWorkloadThatEndsByItselfIsAnErrorAndLeavesNothingMounted also has one that is interrupted.
func TestAWorkloadThatEndsByItselfIsAnErrorAndLeavesNothingMounted(t *testing.T) {
	t.Parallel()
	base := formatted(t, t.TempDir(), crashdisk.Small)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name, script, want string
		ctx                context.Context
	}{
		{"ends", "echo no room >&2; exit 3", "no room", t.Context()},
		{"interrupted", "exec sleep 1000", "context canceled", cancelled},
	} {
		dir := t.TempDir()
		_, err := crashdisk.Record(test.ctx, dir, crashdisk.Workload{
			Base: base, Entries: 1 << 30,
			Command: func(string, string) *exec.Cmd { return exec.Command("/bin/sh", "-c", test.script) },
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if n := mounted(t, dir); n > 0 {
			t.Errorf("%s: %d mounts are left", test.name, n)
		}
	}
}

// TestATornSuperblockIsRepairedByTheBoot keeps the case that the rig found: a mount's own write of
// the superblock, torn between its two sectors, makes a file system that the kernel refuses.
func TestATornSuperblockIsRepairedByTheBoot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		kind    []string
		refused bool
	}{{"small", crashdisk.Small, true}, {"large", crashdisk.Large, false}} {
		dir := t.TempDir()
		base := formatted(t, dir, test.kind)
		log, err := crashdisk.Record(t.Context(), dir, crashdisk.Workload{
			Base: base, Entries: 1,
			Command: func(folder, _ string) *exec.Cmd {
				return exec.Command("/bin/sh", "-c", `echo kept >"$0/file"; sync; exec sleep 1000`, folder)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		image, err := crashdisk.NewImage()
		if err != nil {
			t.Fatal(err)
		}
		tearSuperblock(t, image.Content, base, log)
		folder := filepath.Join(dir, "ext4")
		err = image.Mount(folder)
		if errors.Is(err, syscall.EBADMSG) != test.refused {
			t.Errorf("%s: torn: %v", test.name, err)
		}
		if err != nil {
			if err := errors.Join(image.Repair(), image.Mount(folder)); err != nil {
				t.Fatalf("%s: repaired: %v", test.name, err)
			}
		}
		if err := errors.Join(crashdisk.Unmount(folder), image.Close()); err != nil {
			t.Error(err)
		}
	}
}

// tearSuperblock lets only the first sector survive of the first write over the superblock, which
// begins at 1 KiB.
func tearSuperblock(t *testing.T, image, base []byte, log crashdisk.Log) {
	t.Helper()
	const first = 1024
	copy(image, base)
	i := slices.IndexFunc(log, func(e crashdisk.Entry) bool {
		return e.Kind == crashdisk.Wrote && e.Offset <= first && e.Offset+int64(len(e.Data)) > first
	})
	if i < 0 {
		t.Fatal("the mount wrote no superblock")
	}
	at := first - log[i].Offset
	copy(image[first:], log[i].Data[at:at+crashdisk.Sector])
	if bytes.Equal(image, base) {
		t.Fatal("the mount changed nothing in the superblock's first sector")
	}
}
