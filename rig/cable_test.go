package rig

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"
)

// echo is a server that sends back what it hears, line by line.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func lay(t *testing.T) *Cable {
	t.Helper()
	c, err := LayCable(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func dial(t *testing.T, c *Cable) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// answers sends a line and reports whether it came back; limit is for lines that must not.
func answers(t *testing.T, conn net.Conn, limit time.Duration) bool {
	t.Helper()
	if _, err := io.WriteString(conn, "ping\n"); err != nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && line == "ping\n"
}

// Limits of answers: for lines that come, and for lines that do not.
const (
	soon  = 10 * time.Second
	never = 100 * time.Millisecond
)

func TestACableCarriesUntilItIsCutAndAgainWhenItIsMended(t *testing.T) {
	c := lay(t)
	conn := dial(t, c)
	if !answers(t, conn, soon) {
		t.Fatal("a new cable does not carry")
	}
	c.Cut()
	if answers(t, conn, soon) {
		t.Error("a cut cable carries")
	}
	if answers(t, dial(t, c), soon) {
		t.Error("a cut cable takes new connections")
	}
	c.Mend()
	if !answers(t, dial(t, c), soon) {
		t.Error("a mended cable does not carry")
	}
}

func TestAFrozenCableStandsAndCarriesNothing(t *testing.T) {
	c := lay(t)
	conn := dial(t, c)
	if !answers(t, conn, soon) {
		t.Fatal("a new cable does not carry")
	}
	c.Freeze()
	for _, conn := range []net.Conn{conn, dial(t, c)} {
		if answers(t, conn, never) {
			t.Error("a frozen cable carries")
		}
		if _, err := io.WriteString(conn, "still there\n"); err != nil {
			t.Error("a frozen cable ended a connection:", err)
		}
	}
	c.Thaw()
	// What was swallowed is missing from the middle, so the connection must not go on.
	if err := conn.SetReadDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes behind a gap, want the connection's end", n)
	}
	if !answers(t, dial(t, c), soon) {
		t.Error("a thawed cable does not carry")
	}
}
