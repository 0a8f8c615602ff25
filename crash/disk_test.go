package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chit/device/wire"
	"chit/printer/virtual"
)

// diskBytes is the size of a disk that can be filled in a moment.
const diskBytes = 8 << 20

// disk is a small file system of its own.
type disk struct {
	*testing.T
	dir string
}

// newDisk mounts one at dir. Where mounting is not allowed it says so and ok is false: only
// root, on a machine that lets it, can have a disk that is really full.
func newDisk(t *testing.T, dir string) (d *disk, ok bool) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", diskBytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Log("NOT SHOWN HERE: this user may not mount a file system to fill it:", err)
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error("unmounting:", err)
		}
	})
	return &disk{T: t, dir: dir}, true
}

func (d *disk) filler() string { return filepath.Join(d.dir, "filler") }

// fill writes until nothing fits any more.
func (d *disk) fill() {
	d.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.Fatal(err)
	}
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err = f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.Fatal("filling the disk:", err)
	}
	if err := f.Close(); err != nil {
		d.Fatal(err)
	}
}

// free gives all of it back.
func (d *disk) free() {
	d.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.Fatal(err)
	}
}

func TestADeviceWithAFullDiskRefusesForNowAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, ok := newDisk(t, filepath.Join(dir, "device"))
	if !ok {
		return
	}
	k := newKillerIn(t, dir, func(*virtual.Config) {})
	posts := k.post()
	posts.Wait()
	k.over("a disk with room")
	d.fill()
	posts = k.post()
	posts.Wait()
	err := k.rig.Until(k.ctx, "a refusal for want of storage", func(ctx context.Context) bool {
		d.fill() // The journal's reserve is freed by the first failure; this disk stays full.
		for _, c := range k.round {
			_, raw, err := k.rig.Call(ctx, "GET", "/v1/tickets/"+c.ID, nil)
			if err == nil && strings.Contains(string(raw), "refused:storage") {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := counter(k.ctx, t, k.rig, bad("signature")); n != 0 {
		t.Errorf("%v answers did not verify", n)
	}
	// A device that starts on a full disk is no worse than one that met it.
	if err := k.rig.Device.Kill(); err != nil {
		t.Fatal(err)
	}
	k.restart()
	if err := k.rig.Connected(k.ctx); err != nil {
		t.Fatal(err)
	}
	d.free()
	k.over("a full disk")
	posts = k.post()
	posts.Wait()
	k.over("a disk with room again")
	v := k.judge(true)
	if v.Dead > 0 {
		t.Errorf("%d dead letters for want of storage, want none", v.Dead)
	}
}

func TestABrokerWithAFullDiskPromisesNothingItCannotKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, ok := newDisk(t, filepath.Join(dir, "broker"))
	if !ok {
		return
	}
	k := newKillerIn(t, dir, func(*virtual.Config) {})
	posts := k.post()
	posts.Wait()
	k.over("a disk with room")
	d.fill()
	// What is answered with a promise meanwhile counts: there may be room for a last one.
	failed := k.fillStore()
	if failed == nil {
		t.Fatal("the store never ran out of room: the disk was not full")
	}
	// Nobody knows what of a failed commit is on the disk, so the program stops (DESIGN section 7).
	die(k.ctx, t, k.rig.Broker, "a full disk")
	k.revive()
	d.free()
	k.revive()
	if err := k.rig.Until(k.ctx, "the broker to be ready", k.ready); err != nil {
		t.Fatal(err)
	}
	status, err := k.rig.Post(k.ctx, *failed)
	if err != nil || status != http.StatusAccepted && status != http.StatusOK {
		t.Fatalf("the refused ticket sent again: status %d, %v", status, err)
	}
	posts = k.post()
	posts.Wait()
	k.over("a full disk")
	k.judge(true)
}

// revive starts the broker where it has ended, as systemd does.
func (k *killer) revive() {
	k.Helper()
	if isClosed(k.rig.Broker.Ended()) {
		if err := k.rig.Broker.Start(); err != nil {
			k.Fatal(err)
		}
	}
}

// ready asks the broker, and starts it again where it has ended meanwhile.
func (k *killer) ready(ctx context.Context) bool {
	k.revive()
	status, _, err := k.rig.Call(ctx, "GET", "/readyz", nil)
	return err == nil && status == http.StatusOK
}

// fillStore posts until the broker does not promise, and returns the ticket that it did not take.
func (k *killer) fillStore() *wire.Content {
	k.Helper()
	const most = 2000
	for i := range most {
		c := order(fmt.Sprintf("full%d", i), 1, "grill", wire.KindNew)
		c.Note = strings.Repeat("a long note ", 40)
		status, err := k.rig.Try(k.ctx, c)
		if err != nil || status >= http.StatusInternalServerError {
			return &c
		}
	}
	return nil
}
