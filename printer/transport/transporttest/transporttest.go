// Package transporttest holds the exam that every transport passes, and a scripted printer to play
// dialogues with in tests.
package transporttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"chit/printer/transport"
)

// Patience bounds each wait of the exam; reaching it is a failure.
const Patience = 10 * time.Second

// Peer is the printer's end of the connection dialled last.
type Peer interface {
	// Receive waits until n bytes have arrived and returns them; fewer where the connection ended.
	Receive(n int) []byte
	// Say sends bytes to the host. One-way peers are never asked to.
	Say(p []byte)
	// HangUp ends the connection from the printer's side. One-way peers are never asked to.
	HangUp()
}

// Bench is one transport under examination.
type Bench struct {
	Dialer transport.Dialer
	// Peer waits for the far end of the connection dialled last.
	Peer func() Peer
}

// Exercise puts a transport through the exam. setup makes a fresh bench for each question.
func Exercise(t *testing.T, setup func(t *testing.T) Bench) {
	t.Helper()
	for _, question := range []struct {
		name   string
		twoWay bool // asked of two-way transports only
		ask    func(*testing.T, Bench)
	}{
		{"a name and a direction that stay", false, stays},
		{"an ended context dials nothing", false, endedContext},
		{"bytes arrive whole and in order", false, arrives},
		{"close drops nothing that was accepted", false, closesAfterDelivery},
		{"close may be called twice and ends writing", false, closesTwice},
		{"a second dial works after the first is closed", false, dialsAgain},
		{"answers arrive", true, answers},
		{"a read deadline passes and can be lifted", true, readDeadline},
		{"a write deadline passes", true, writeDeadline},
		{"close ends a read under way", true, closeEndsRead},
		{"a hang-up ends reading", true, hangUp},
	} {
		t.Run(question.name, func(t *testing.T) {
			bench := setup(t)
			if question.twoWay && !bench.Dialer.TwoWay() {
				oneWay(t, bench)
				return
			}
			question.ask(t, bench)
		})
	}
}

func dial(t *testing.T, b Bench) transport.Conn {
	t.Helper()
	conn, err := b.Dialer.Dial(t.Context())
	if err != nil {
		t.Fatalf("dialling %s: %v", b.Dialer.Name(), err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return conn
}

func send(t *testing.T, c transport.Conn, p []byte) {
	t.Helper()
	if n, err := c.Write(p); n != len(p) || err != nil {
		t.Fatalf("writing %d bytes: %d, %v", len(p), n, err)
	}
}

// ticket is n bytes in which every shift is seen.
func ticket(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i/251)
	}
	return p
}

func stays(t *testing.T, b Bench) {
	name, twoWay := b.Dialer.Name(), b.Dialer.TwoWay()
	dial(t, b)
	if name == "" || b.Dialer.Name() != name || b.Dialer.TwoWay() != twoWay {
		t.Errorf("name %q, two-way %v, became %q, %v after a dial",
			name, twoWay, b.Dialer.Name(), b.Dialer.TwoWay())
	}
}

func endedContext(t *testing.T, b Bench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	conn, err := b.Dialer.Dial(ctx)
	if err == nil {
		conn.Close()
		t.Fatal("dialled with an ended context")
	}
}

func arrives(t *testing.T, b Bench) {
	conn := dial(t, b)
	peer := b.Peer()
	want := ticket(64 << 10)
	done := make(chan []byte, 1)
	go func() { done <- peer.Receive(len(want)) }()
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 1+len(rest)/2)
		send(t, conn, rest[:n])
		rest = rest[n:]
	}
	if got := <-done; !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, not the %d sent", len(got), len(want))
	}
}

func closesAfterDelivery(t *testing.T, b Bench) {
	conn := dial(t, b)
	peer := b.Peer()
	want := ticket(16 << 10)
	send(t, conn, want)
	if err := conn.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	if got := peer.Receive(len(want)); !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived of %d accepted before the close", len(got), len(want))
	}
}

func closesTwice(t *testing.T, b Bench) {
	conn := dial(t, b)
	for range 2 {
		if err := conn.Close(); err != nil {
			t.Fatalf("closing: %v", err)
		}
	}
	if n, err := conn.Write([]byte("x")); err == nil {
		t.Errorf("wrote %d bytes after the close", n)
	}
}

func dialsAgain(t *testing.T, b Bench) {
	for range 2 {
		conn := dial(t, b)
		peer := b.Peer()
		send(t, conn, []byte("again"))
		if got := peer.Receive(5); string(got) != "again" {
			t.Errorf("got %q", got)
		}
		if err := conn.Close(); err != nil {
			t.Fatalf("closing: %v", err)
		}
	}
}

func read(t *testing.T, c transport.Conn, n int) []byte {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		t.Fatalf("setting a deadline: %v", err)
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(c, p); err != nil {
		t.Fatalf("reading: %v", err)
	}
	return p
}

func answers(t *testing.T, b Bench) {
	conn := dial(t, b)
	peer := b.Peer()
	send(t, conn, []byte{0x10, 0x04, 0x01})
	peer.Receive(3)
	peer.Say([]byte{0x16, 0x00})
	if got := read(t, conn, 2); !bytes.Equal(got, []byte{0x16, 0x00}) {
		t.Errorf("got % x", got)
	}
}

func readDeadline(t *testing.T, b Bench) {
	conn := dial(t, b)
	peer := b.Peer()
	if err := conn.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatalf("setting a deadline: %v", err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v, want os.ErrDeadlineExceeded", err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatalf("lifting the deadline: %v", err)
	}
	peer.Say([]byte{0x12})
	if got := read(t, conn, 1); got[0] != 0x12 {
		t.Errorf("got % x", got)
	}
}

func writeDeadline(t *testing.T, b Bench) {
	conn := dial(t, b)
	b.Peer()
	if err := conn.SetWriteDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatalf("setting a deadline: %v", err)
	}
	if _, err := conn.Write([]byte("late")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want os.ErrDeadlineExceeded", err)
	}
}

func closeEndsRead(t *testing.T, b Bench) {
	conn := dial(t, b)
	b.Peer()
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	if err := conn.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the read ended without an error")
		}
	case <-time.After(Patience):
		t.Error("the read did not end")
	}
}

func hangUp(t *testing.T, b Bench) {
	conn := dial(t, b)
	b.Peer().HangUp()
	if err := conn.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		t.Fatalf("setting a deadline: %v", err)
	}
	_, err := conn.Read(make([]byte, 1))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want the end of the connection", err)
	}
}

// oneWay is the only question about answers where nothing can come back.
func oneWay(t *testing.T, b Bench) {
	conn := dial(t, b)
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v, want io.EOF", n, err)
	}
}
