package network

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"chit/printer/transport"
	"chit/printer/transport/transporttest"
)

// board is the printer's end of a connection.
type board struct {
	t *testing.T
	net.Conn
}

func (b board) Receive(n int) []byte {
	var got bytes.Buffer
	if err := b.SetReadDeadline(time.Now().Add(transporttest.Patience)); err != nil {
		b.t.Error(err)
	}
	if _, err := io.CopyN(&got, b, int64(n)); err != nil {
		b.t.Errorf("receiving: %v", err)
	}
	return got.Bytes()
}

func (b board) Say(p []byte) {
	if _, err := b.Write(p); err != nil {
		b.t.Errorf("saying: %v", err)
	}
}

func (b board) HangUp() {
	if err := b.Close(); err != nil {
		b.t.Errorf("hanging up: %v", err)
	}
}

// listen starts a board and returns a dialer for it and its accepted connections.
func listen(t *testing.T) (*Dialer, func() board) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	return New("127.0.0.1", port), func() board {
		t.Helper()
		if err := listener.(*net.TCPListener).SetDeadline(
			time.Now().Add(transporttest.Patience)); err != nil {
			t.Fatal(err)
		}
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return board{t, conn}
	}
}

func TestTCPPassesTheExam(t *testing.T) {
	transporttest.Exercise(t, func(t *testing.T) transporttest.Bench {
		dialer, accept := listen(t)
		return transporttest.Bench{
			Dialer: dialer,
			Peer:   func() transporttest.Peer { return accept() },
		}
	})
}

// Row 27 of research/escpos.md section 6: a dial to a switched-off printer hung for over 40 s.
func TestAConnectHasItsOwnTimeOut(t *testing.T) {
	if ConnectTimeout > 10*time.Second {
		t.Errorf("connect time-out is %v", ConnectTimeout)
	}
	// 192.0.2.0/24 is for documentation (RFC 5737): nothing answers, or the route is refused.
	dialer := New("192.0.2.1", 9100)
	dialer.timeout = 50 * time.Millisecond
	begin := time.Now()
	if conn, err := dialer.Dial(t.Context()); err == nil {
		conn.Close()
		t.Fatal("somebody answered")
	}
	if took := time.Since(begin); took > ConnectTimeout {
		t.Errorf("the dial took %v", took)
	}
}

func TestARefusedConnectionSaysWhereItWentTo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dialer := New("127.0.0.1", address.Port)
	_, err = dialer.Dial(t.Context())
	var op *net.OpError
	if !errors.As(err, &op) {
		t.Errorf("the cause is lost: %v", err)
	}
	if want := "tcp://" + address.String(); dialer.Name() != want {
		t.Errorf("name %q, want %q", dialer.Name(), want)
	}
}

// Rows 23, 24 and 28: a board has one slot and drops a tail that is followed by a reset.
func TestACloseIsAFinAndNotAReset(t *testing.T) {
	dialer, accept := listen(t)
	conn, err := dialer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	peer := accept()
	if _, err := conn.Write([]byte("last line")); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := peer.SetReadDeadline(time.Now().Add(transporttest.Patience)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(peer); err != nil || string(got) != "last line" {
		t.Errorf("got %q, %v, want the line and a clean end", got, err)
	}
}

var _ transport.Patient = (*conn)(nil)
