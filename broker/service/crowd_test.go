package service

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// idle asks once over a new connection and leaves it open.
func idle(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := request(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

func request(conn net.Conn) error {
	if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Whoever keeps connections open without a word loses them to those who come to say something.
func TestIdleConnectionsGiveWayToNewcomers(t *testing.T) {
	c := newCrowd(3)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	states := make(chan http.ConnState, 100)
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		c.changed(conn, state)
		states <- state
	}
	s.Start()
	defer s.Close()
	settled := func(want http.ConnState) {
		for got := range states {
			if got == want {
				return
			}
		}
	}
	address := s.Listener.Addr().String()
	first := idle(t, address)
	settled(http.StateIdle)
	var others []net.Conn
	for range 4 {
		others = append(others, idle(t, address))
		settled(http.StateIdle)
	}
	if err := request(first); err == nil {
		t.Error("the connection that was idle longest is still served")
	}
	if err := request(others[3]); err != nil {
		t.Errorf("the newest: %v", err)
	}
	count := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.open)
	}
	for count() > 3 {
		<-states // Until the server has told of the end of what was cut.
	}
}

// Nor do those who connect and then say nothing at all keep others out.
func TestSilentNewcomersGiveWayToLaterOnes(t *testing.T) {
	c := newCrowd(1)
	silent, peer := net.Pipe()
	c.changed(silent, http.StateNew)
	later, _ := net.Pipe()
	c.changed(later, http.StateNew)
	c.changed(later, http.StateActive)
	if _, err := peer.Read(make([]byte, 1)); err == nil {
		t.Error("the silent one was kept")
	}
}

// Where all are at work, the newcomer is turned away.
func TestConnectionsAtWorkAreNotCut(t *testing.T) {
	c := newCrowd(1)
	at, _ := net.Pipe()
	work, peer := net.Pipe()
	c.changed(at, http.StateNew)
	c.changed(at, http.StateActive)
	c.changed(work, http.StateNew)
	if _, err := peer.Read(make([]byte, 1)); err == nil {
		t.Error("the newcomer was let in")
	}
	c.changed(work, http.StateClosed)
	c.changed(at, http.StateIdle)
	c.changed(at, http.StateClosed)
	if len(c.open) != 0 || c.idle.Len() != 0 {
		t.Errorf("%d open, %d idle after all have gone", len(c.open), c.idle.Len())
	}
}
