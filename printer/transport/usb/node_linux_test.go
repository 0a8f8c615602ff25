package usb

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chit/printer/transport/transporttest"
)

// The kernel's own node cannot be had without usblp, but a pseudo-terminal is a character device
// with the same system calls, poll and deadlines; only its ioctls are others.
func TestTheKernelsNodeWaitsInThePoller(t *testing.T) {
	master, path := transporttest.OpenPTY(t)
	k := newKitchen(t)
	k.conf.Open = nil
	if err := os.Symlink(path, k.Plug(grill, "lp0")); err != nil {
		t.Fatal(err)
	}
	c := k.dial(t, "usb:04b8:0e15:A1")
	if _, err := master.Write([]byte{0x16}); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 8)
	if n, err := c.Read(p); n != 1 || err != nil || p[0] != 0x16 {
		t.Errorf("read % x, %v", p[:n], err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(p); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	// Nobody reads the other end, so that it is full at some time.
	if err := c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Write(make([]byte, 1<<20)); n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v, want the deadline", n, err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, master) // Or Close waits for what the printer has not taken.
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(p)
		ended <- err
	}()
	go c.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the read ended with %v", err)
	}
}

func TestTheKernelsErrorsKeepTheirMeaning(t *testing.T) {
	_, path := transporttest.OpenPTY(t)
	node, err := openNode(path)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if n, err := node.Read(make([]byte, 1)); n != 0 || err != unix.EAGAIN {
		t.Errorf("an empty read: %d, %v, want EAGAIN", n, err)
	}
	if _, err := node.Ioctl(lpGetStatus, 0); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("LPGETSTATUS of a terminal: %v, want ENOTTY", err)
	}
	if _, err := openNode(filepath.Join(t.TempDir(), "lp0")); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("no node: %v", err)
	}
}
