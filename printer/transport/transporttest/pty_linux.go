package transporttest

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenPTY makes a pseudo-terminal: the printer's end, raw and in Go's poller, and the path of the
// host's end, which is a serial port without a wire.
func OpenPTY(t *testing.T) (printer *os.File, path string) {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	var failed error
	err = raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); failed != nil {
			return
		}
		failed = makeRaw(int(fd))
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	path = fmt.Sprintf("/dev/pts/%d", number)
	// The port outlives the programs that have it open, as a real one does: without this, reading
	// the printer's end would fail while nobody has it.
	port, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	return f, path
}

// makeRaw turns off all that a terminal does to bytes. Both ends have one setting.
func makeRaw(fd int) error {
	settings, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	settings.Iflag, settings.Oflag, settings.Lflag = 0, 0, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, settings)
}
