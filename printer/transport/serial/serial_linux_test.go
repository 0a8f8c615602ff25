package serial

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"chit/printer/transport"
	"chit/printer/transport/transporttest"
)

// wire is the printer's end of a pseudo-terminal. It takes all that comes, as a pseudo-terminal
// holds little.
type wire struct {
	t    *testing.T
	f    *os.File
	took chan byte
}

func newWire(t *testing.T, f *os.File) wire {
	const tickets = 1 << 18
	w := wire{t, f, make(chan byte, tickets)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(w.took)
		p := make([]byte, 1024)
		for {
			n, err := f.Read(p)
			for _, b := range p[:n] {
				w.took <- b
			}
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		f.Close()
		reading.Wait()
	})
	return w
}

func (w wire) Receive(n int) []byte {
	late := time.After(transporttest.Patience)
	var got []byte
	for len(got) < n {
		select {
		case b, more := <-w.took:
			if !more {
				return got
			}
			got = append(got, b)
		case <-late:
			w.t.Errorf("%d bytes came of %d", len(got), n)
			return got
		}
	}
	return got
}

func (w wire) Say(p []byte) {
	if _, err := w.f.Write(p); err != nil {
		w.t.Errorf("saying: %v", err)
	}
}

func (w wire) HangUp() {
	if err := w.f.Close(); err != nil {
		w.t.Errorf("hanging up: %v", err)
	}
}

// dial opens a port for a printer.
func dial(t *testing.T, path string, s Settings) *conn {
	t.Helper()
	c, err := New(path, s).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*conn)
}

func TestSerialPassesTheExam(t *testing.T) {
	for _, flow := range []Flow{FlowLines, FlowBytes, FlowNone} {
		t.Run(string(flow), func(t *testing.T) {
			transporttest.Exercise(t, func(t *testing.T) transporttest.Bench {
				printer, path := transporttest.OpenPTY(t)
				settings := Default()
				settings.Flow = flow
				far := newWire(t, printer)
				return transporttest.Bench{
					Dialer: New(path, settings),
					Peer:   func() transporttest.Peer { return far },
				}
			})
		})
	}
}

func TestTheLineIsSetAsTheURLSays(t *testing.T) {
	_, path := transporttest.OpenPTY(t)
	for _, c := range []struct {
		s           Settings
		speed       uint32
		cflag, noC  uint32
		iflag, noI  uint32
		description string
	}{
		{Default(), unix.B9600, unix.CS8 | unix.CREAD | unix.CLOCAL | unix.CRTSCTS,
			unix.PARENB | unix.CSTOPB | unix.HUPCL, 0, unix.IXON | unix.IXOFF | unix.IXANY, "default"},
		{Settings{115200, ParityEven, 2, FlowBytes}, unix.B115200, unix.PARENB | unix.CSTOPB,
			unix.PARODD | unix.CRTSCTS | unix.HUPCL, unix.IXON | unix.INPCK, unix.IXOFF | unix.IXANY,
			"XON"},
		{Settings{1200, ParityOdd, 1, FlowNone}, unix.B1200, unix.PARENB | unix.PARODD,
			unix.CRTSCTS | unix.CSTOPB, unix.INPCK, unix.IXON | unix.IXOFF, "none"},
	} {
		got := termios(c.s)
		if got.Cflag&unix.CBAUD != c.speed || got.Cflag&c.cflag != c.cflag || got.Cflag&c.noC != 0 ||
			got.Iflag&c.iflag != c.iflag || got.Iflag&c.noI != 0 || got.Lflag|got.Oflag != 0 {
			t.Errorf("%s: %+v", c.description, got)
		}
	}
	opened := dial(t, path, Settings{19200, ParityNone, 2, FlowBytes})
	err := opened.raw.Control(func(fd uintptr) {
		got, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		if err != nil || got.Cflag&unix.CBAUD != unix.B19200 || got.Cflag&unix.CSTOPB == 0 ||
			got.Iflag&unix.IXON == 0 {
			t.Errorf("the port has %+v, %v", got, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOneProgramHasThePort(t *testing.T) {
	_, path := transporttest.OpenPTY(t)
	first := dial(t, path, Default())
	_, err := New(path, Default()).Dial(t.Context())
	if !errors.Is(err, transport.ErrBusy) || !strings.Contains(err.Error(), "fuser") {
		t.Errorf("got %v, want ErrBusy and where to look", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	dial(t, path, Default())
}

// A printer that answers must not be answered by an echo, nor be sent XON and XOFF.
func TestNothingIsAddedToTheStream(t *testing.T) {
	printer, path := transporttest.OpenPTY(t)
	settings := Default()
	settings.Flow = FlowNone
	c := dial(t, path, settings)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	far := newWire(t, printer)
	far.Say(all)
	got := make([]byte, len(all))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, all) {
		t.Errorf("read % x, %v", got, err)
	}
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
	if got := far.Receive(len(all)); !bytes.Equal(got, all) {
		t.Errorf("the printer got % x", got)
	}
	far.Say([]byte("x"))
	if _, err := c.Read(got); err != nil {
		t.Fatal(err)
	}
	if n := len(far.took); n != 0 {
		t.Errorf("the printer got %d bytes more", n)
	}
}

// Row 19: bytes that find the printer's buffer full are gone.
func TestXOFFHoldsTheHostBackAndIsNotRead(t *testing.T) {
	printer, path := transporttest.OpenPTY(t)
	settings := Default()
	settings.Flow = FlowBytes
	c := dial(t, path, settings)
	far := newWire(t, printer)
	far.Say([]byte{0x13, 0x16}) // XOFF, and a status byte behind it
	got := make([]byte, 1)
	if _, err := c.Read(got); err != nil || got[0] != 0x16 {
		t.Fatalf("read % x, %v, want the status alone", got, err)
	}
	if err := c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Write([]byte("held")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v while held back", n, err)
	}
	far.Say([]byte{0x11})
	if err := c.SetWriteDeadline(time.Now().Add(transporttest.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("goes on")); err != nil {
		t.Fatal(err)
	}
	if got := far.Receive(7); string(got) != "goes on" {
		t.Errorf("the printer got %q", got)
	}
}

func TestAnAdapterThatIsGoneIsAbsentAndAFileIsNoPort(t *testing.T) {
	folder := t.TempDir()
	_, err := New(filepath.Join(folder, "ttyUSB7"), Default()).Dial(t.Context())
	if !errors.Is(err, transport.ErrAbsent) {
		t.Errorf("no node: %v", err)
	}
	plain := filepath.Join(folder, "file")
	if err := os.WriteFile(plain, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = New(plain, Default()).Dial(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is no serial port") {
		t.Errorf("a file: %v", err)
	}
}

func TestSettingsAreReadAsTheyAreWritten(t *testing.T) {
	for _, baud := range Bauds() {
		if rates[baud] == 0 {
			t.Errorf("%d baud has no rate in termios", baud)
		}
		for _, flow := range []Flow{FlowLines, FlowBytes, FlowNone} {
			want := Settings{Baud: baud, Parity: ParityOdd, Stop: 2, Flow: flow}
			name := New("/dev/ttyS0", want).Name()
			_, query, _ := strings.Cut(name, "?")
			values := map[string][]string{}
			for part := range strings.SplitSeq(query, "&") {
				key, value, _ := strings.Cut(part, "=")
				values[key] = []string{value}
			}
			if got, err := Parse(values); err != nil || got != want {
				t.Errorf("%s: %s, %v", name, fmt.Sprint(got), err)
			}
		}
	}
}
