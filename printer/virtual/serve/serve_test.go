package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/profile"
	"chit/printer/virtual"
)

const (
	asbOn   = "\x1da\x0f"
	idA     = "\x1d(H\x06\x0000A001"
	answerA = "7\"A001\x00"
	cut     = "\x1dVB\x00"
)

func printer(faults ...string) virtual.Config {
	c := virtual.ConfigFor(profile.Safe80())
	for _, text := range faults {
		f, err := virtual.ParseFault(text)
		if err != nil {
			panic(err)
		}
		c.Faults = append(c.Faults, f)
	}
	return c
}

func start(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func dialTCP(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func write(t *testing.T, c io.Writer, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

// reads demands exactly these bytes next.
func reads(t *testing.T, c io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("read % X, %v, want % X", got[:n], err, want)
	}
}

func count(n int) func([]virtual.Sheet) bool {
	return func(sheets []virtual.Sheet) bool { return len(sheets) >= n }
}

func wait(t *testing.T, s *Server, n int) []virtual.Sheet {
	t.Helper()
	if err := s.Wait(t.Context(), count(n)); err != nil {
		t.Fatal(err)
	}
	return s.Sheets()
}

func raise(t *testing.T, s *Server, text string) {
	t.Helper()
	f, err := virtual.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Raise(f); err != nil {
		t.Fatal(err)
	}
}

func TestATicketOverTCPBecomesPaperInTheFolder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "paper")
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", Out: out})
	c := dialTCP(t, s)
	write(t, c, "\x1b@soup\n"+idA+cut)
	reads(t, c, answerA)
	sheets := wait(t, s, 1)
	if sheets[0].Text() != "soup\n" || sheets[0].Number != 1 {
		t.Fatalf("sheet %d reads %q", sheets[0].Number, sheets[0].Text())
	}
	text, err := os.ReadFile(filepath.Join(out, "0001.txt"))
	if err != nil || string(text) != "soup\n" {
		t.Fatalf("0001.txt: %q, %v", text, err)
	}
	records, err := ReadPaper(out)
	if err != nil || len(records) != 1 || records[0].PNG != "0001.png" || records[0].Text != "soup\n" {
		t.Fatalf("paper.jsonl: %+v, %v", records, err)
	}
	picture, err := os.ReadFile(filepath.Join(out, "0001.png"))
	if err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
		t.Fatalf("0001.png: %d bytes, %v", len(picture), err)
	}
	// Names and notes of guests are on paper: it is for its owner's eyes.
	for _, name := range []string{"", "0001.txt", "0001.png", journalName} {
		info, err := os.Stat(filepath.Join(out, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q: %v, %v; want it closed to others", name, info.Mode(), err)
		}
	}
}

func TestASecondRunGoesOnNumbering(t *testing.T) {
	out := t.TempDir()
	for n := 1; n <= 2; n++ {
		s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", Out: out})
		write(t, dialTCP(t, s), "soup\n"+cut)
		if sheets := wait(t, s, 1); sheets[0].Number != n {
			t.Fatalf("run %d: sheet is numbered %d", n, sheets[0].Number)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if records, err := ReadPaper(out); err != nil || len(records) != 2 {
		t.Fatalf("paper.jsonl: %+v, %v", records, err)
	}
}

func TestASecondClientIsRefused(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0"})
	first := dialTCP(t, s)
	write(t, first, "\x10\x04\x01")
	reads(t, first, "\x12")
	if _, err := dialTCP(t, s).Read(make([]byte, 1)); err == nil {
		t.Fatal("the second client was answered")
	}
	if _, err := s.Dialer().Dial(t.Context()); !errors.Is(err, ErrBusy) {
		t.Fatalf("inside the process: %v, want ErrBusy", err)
	}
	write(t, first, "\x10\x04\x01")
	reads(t, first, "\x12")
}

func TestAClientMayComeBackAtOnce(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0"})
	for range 20 {
		c, err := s.Dialer().Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		write(t, c, "\x10\x04\x01")
		reads(t, c, "\x12")
		c.Close()
	}
}

func TestASecondClientWaitsWhereTheBoardLetsIt(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", SecondWaits: true})
	first, second := dialTCP(t, s), dialTCP(t, s)
	write(t, first, "\x10\x04\x01")
	reads(t, first, "\x12")
	write(t, second, "\x10\x04\x02")
	first.Close()
	reads(t, second, "\x12")
}

func TestPaperOutIsPushedAndGoesOnAfterTheRollChange(t *testing.T) {
	s := start(t, Config{Printer: printer("paper-out:after=1"), Listen: "127.0.0.1:0"})
	c := dialTCP(t, s)
	write(t, c, asbOn+"a\nb\n"+idA+cut)
	reads(t, c, "\x10\x00\x00\x0f\x18\x00\x0c\x0f")
	if err := s.Clear(virtual.PaperOut); err != nil {
		t.Fatal(err)
	}
	reads(t, c, "\x10\x00\x00\x0f"+answerA)
	if text := wait(t, s, 1)[0].Text(); text != "a\nb\n" {
		t.Fatalf("came out %q", text)
	}
}

func TestDropEndsTheConnectionAndTheNextOneIsServed(t *testing.T) {
	s := start(t, Config{Printer: printer("drop:after-bytes=4"), Listen: "127.0.0.1:0"})
	c := dialTCP(t, s)
	write(t, c, "ab\ncd\n")
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("the connection stands")
	}
	next := dialTCP(t, s)
	write(t, next, "\n"+cut)
	if text := wait(t, s, 1)[0].Text(); text != "ab\nc\n" {
		t.Fatalf("came out %q", text)
	}
}

func TestWithoutPowerNobodySaysGoodbyeAndTheFirstBytesAfterwardsVanish(t *testing.T) {
	s := start(t, Config{Printer: printer("power-off:after-bytes=3"), Listen: "127.0.0.1:0"})
	old := dialTCP(t, s)
	write(t, old, "ab\n")
	waitState(t, s, func(st State) bool { return !st.On })
	if _, err := s.Dialer().Dial(t.Context()); !errors.Is(err, ErrOff) {
		t.Fatalf("dialling a printer without power: %v, want ErrOff", err)
	}
	write(t, old, "lost\n")
	if err := s.Clear(virtual.PowerCut); err != nil {
		t.Fatal(err)
	}
	next := dialTCP(t, s) // The old connection does not hold the place.
	write(t, next, "cd\n"+cut)
	if text := wait(t, s, 1)[0].Text(); text != "ab\ncd\n" {
		t.Fatalf("came out %q", text)
	}
	_, _ = io.WriteString(old, "lost too\n") // Accepted and gone, or reset already by "lost".
	if _, err := old.Read(make([]byte, 1)); err == nil {
		t.Fatal("the old connection was answered")
	}
}

// waitState asks until the state is as wanted; each answer is a round of the loop.
func waitState(t *testing.T, s *Server, done func(State) bool) {
	t.Helper()
	for t.Context().Err() == nil {
		st, err := s.State()
		if err != nil {
			t.Fatal(err)
		}
		if done(st) {
			return
		}
	}
}

func TestAnswersForAClientThatWentReachTheNextWhereTheBoardKeepsThem(t *testing.T) {
	p := printer()
	p.KeepAnswers = true
	s := start(t, Config{Printer: p, Listen: "127.0.0.1:0"})
	raise(t, s, "cover-open")
	c := dialTCP(t, s)
	write(t, c, "a\n"+idA)
	c.Close()
	waitState(t, s, func(st State) bool { return st.Buffered > 0 && !st.Connected })
	if err := s.Clear(virtual.CoverOpen); err != nil {
		t.Fatal(err)
	}
	next, err := s.Dialer().Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	reads(t, next, answerA)
}

func TestInsideTheProcessTimeIsTheMechanisms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := printer()
		p.LinesPerSecond = 10
		s := start(t, Config{Printer: p})
		c, err := s.Dialer().Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		write(t, c, strings.Repeat("line\n", 30)+idA)
		reads(t, c, answerA)
		if took := time.Since(began); took != 3*time.Second {
			t.Fatalf("30 lines at 10 a second took %v", took)
		}
		c.Close()
	})
}

func TestAWriteIntoAFullBufferWaitsAndHonoursItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := printer("paper-out")
		p.BufferBytes = 100
		s := start(t, Config{Printer: p})
		c, err := s.Dialer().Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err = c.Write(bytes.Repeat([]byte("x"), 10_000))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("writing into a full buffer: %v", err)
		}
	})
}

func TestAClientThatDoesNotReadLosesItsAnswersAndKeepsThePrinter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Printer: printer()})
		c, err := s.Dialer().Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		write(t, c, asbOn)
		<-time.After(2 * writeTimeout)
		write(t, c, "soup\n"+idA+cut)
		reads(t, c, answerA)
		wait(t, s, 1)
	})
}

func TestPaperWithoutACutterIsTornOffWhenItStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := virtual.ConfigFor(profile.Safe58())
		p.Can.Cutter = false
		s := start(t, Config{Printer: p})
		c, err := s.Dialer().Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		write(t, c, "soup\n\x1bd\x08")
		sheets := wait(t, s, 1)
		if took := time.Since(began); sheets[0].Cut != virtual.Torn || took != TearAfter {
			t.Fatalf("ended %q after %v", sheets[0].Cut, took)
		}
		c.Close()
	})
}

func TestAfterCloseEverythingSaysSo(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	c := dialTCP(t, s)
	write(t, c, "soup\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Logf("the client sees %v", err)
	}
	if err := s.Wait(context.Background(), count(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait: %v", err)
	}
	if err := s.Clear(virtual.Mute); !errors.Is(err, ErrClosed) {
		t.Errorf("Clear: %v", err)
	}
	if _, err := s.Dialer().Dial(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("Dial: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestTheEndOfTheContextIsTheEndOfThePrinter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, Config{Printer: printer(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Wait(t.Context(), count(1)); !errors.Is(err, ErrClosed) {
		t.Fatalf("Wait: %v", err)
	}
}
