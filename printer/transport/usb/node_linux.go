package usb

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernelNode is a descriptor in Go's poller, so that no goroutine is stuck in a system call.
type kernelNode struct {
	f      *os.File
	raw    syscall.RawConn
	closed atomic.Bool
}

// openNode opens a device node of usblp.
func openNode(path string) (Node, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("usb: %s cannot be polled: %w", path, err)
	}
	return &kernelNode{f: f, raw: raw}, nil
}

// once makes one system call under the poller's deadline check.
func (k *kernelNode) once(
	enter func(func(uintptr) bool) error, call func(fd int) (int, error),
) (int, error) {
	var n int
	var failed error
	err := enter(func(fd uintptr) bool {
		n, failed = call(int(fd))
		return true
	})
	if err != nil {
		return 0, k.ended(err)
	}
	return max(n, 0), failed
}

// ended gives the poller's own error of a closed file its public name.
func (k *kernelNode) ended(err error) error {
	if err != nil && k.closed.Load() {
		return os.ErrClosed
	}
	return err
}

func (k *kernelNode) Read(p []byte) (int, error) {
	return k.once(k.raw.Read, func(fd int) (int, error) { return unix.Read(fd, p) })
}

func (k *kernelNode) Write(p []byte) (int, error) {
	return k.once(k.raw.Write, func(fd int) (int, error) { return unix.Write(fd, p) })
}

// ready is true where poll(2) has one of these events, or an end, to tell now.
func ready(fd uintptr, events int16) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	n, err := unix.Poll(fds, 0)
	return n > 0 || err != nil && err != unix.EINTR
}

func (k *kernelNode) Readable() error {
	return k.ended(k.raw.Read(func(fd uintptr) bool { return ready(fd, unix.POLLIN) }))
}

func (k *kernelNode) Writable() error {
	return k.ended(k.raw.Write(func(fd uintptr) bool { return ready(fd, unix.POLLOUT) }))
}

func (k *kernelNode) Ioctl(request uint, value int) (int, error) {
	var answer int
	var failed error
	err := k.raw.Control(func(fd uintptr) {
		if request == lpGetStatus {
			answer, failed = unix.IoctlGetInt(int(fd), request)
		} else {
			failed = unix.IoctlSetInt(int(fd), request, value)
		}
	})
	return answer, errors.Join(k.ended(err), failed)
}

func (k *kernelNode) SetReadDeadline(t time.Time) error  { return k.f.SetReadDeadline(t) }
func (k *kernelNode) SetWriteDeadline(t time.Time) error { return k.f.SetWriteDeadline(t) }

// Close ends what waits.
func (k *kernelNode) Close() error {
	k.closed.Store(true)
	return k.f.Close()
}
