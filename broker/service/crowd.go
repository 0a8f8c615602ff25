package service

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// connsMax is how many connections one door has at once. Each costs some 40 KB with TLS, and a
// stranger pays nothing for one that says nothing.
const connsMax = 1024

// crowd bounds a door's connections. Past the bound the one that has said nothing for longest, new
// or between requests, gives way; where all others are at work the newcomer does.
type crowd struct {
	most int

	mu   sync.Mutex
	open map[net.Conn]*list.Element // nil while it is at work
	idle list.List                  // of net.Conn, longest first
}

func newCrowd(most int) *crowd { return &crowd{most: most, open: map[net.Conn]*list.Element{}} }

// changed is an http.Server's ConnState.
func (c *crowd) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.open[conn]; e != nil {
		c.idle.Remove(e)
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.idle.PushBack(conn)
		if len(c.open) > c.most {
			c.makeRoom()
		}
	default:
		c.open[conn] = nil
	}
}

// makeRoom cuts a connection below TLS, whose goodbye can wait for a peer that does not read. The
// server tells of its end by itself.
func (c *crowd) makeRoom() {
	gone := c.idle.Remove(c.idle.Front()).(net.Conn) // There is one: who has just come.
	c.open[gone] = nil
	if t, ok := gone.(*tls.Conn); ok {
		gone = t.NetConn()
	}
	_ = gone.Close() // Whatever it says, the connection is of no use any more.
}
