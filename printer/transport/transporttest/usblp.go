package transporttest

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// LP is a printer on USB behind Linux's usblp driver, with the driver's read, write, poll and ioctl
// as drivers/usb/class/usblp.c has them (research/escpos.md 2.10). The zero value is no printer;
// make it with [NewLP]. It is plugged in at first, takes everything and answers LPGETSTATUS
// healthy.
type LP struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change

	// The cable and the printer.
	oneWay  bool
	present bool
	status  byte
	prods   int           // how often the port status was asked for
	pace    time.Duration // that a block takes on the bus
	room    int           // bytes that the printer takes before it refuses more; below 0: all
	took    []byte        // what it took and the test has not received yet
	said    [][]byte      // packets that the driver has not fetched

	// The driver; its names.
	file      *LPFile
	inflight  []byte // the rest of the block on its way
	block     int    // bytes of it
	wcomplete bool
	wstatus   int
	noPaper   bool
	abort     bool
	rcomplete bool
	readbuf   []byte
}

// The numbers of usblp and of the printer class.
const (
	lpBlock     = 8192 // USBLP_BUF_SIZE
	lpReadBlock = 1024 // USBLP_BUF_SIZE_IN
	lpWait      = 1500 * time.Millisecond
	lpHealthy   = 0x18
	lpNoPaper   = 0x20
	lpGetStatus = 0x060b
	lpAbort     = 0x0604
	lpPace      = 200 * time.Microsecond
)

// NewLP makes a printer. A one-way one has an interface of protocol 1: reading gives EINVAL.
func NewLP(oneWay bool) *LP {
	return &LP{changed: make(chan struct{}), oneWay: oneWay, present: true, status: lpHealthy,
		pace: lpPace, room: -1}
}

// change wakes all that wait; the caller holds the lock.
func (l *LP) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// do changes the printer under the lock and wakes all that wait.
func (l *LP) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.change()
}

// Takes lets the printer take n more bytes and refuse what follows; below 0 it takes all.
func (l *LP) Takes(n int) {
	l.do(func() {
		l.room = n
		l.carry()
	})
}

// Paper puts a roll in or takes it away, as far as the port status tells.
func (l *LP) Paper(in bool) {
	l.do(func() {
		if l.status = lpHealthy; !in {
			l.status |= lpNoPaper
		}
	})
}

// Prods is how often the port status was asked for.
func (l *LP) Prods() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.prods
}

// Say sends one packet to the host; an empty one too.
func (l *LP) Say(p []byte) {
	l.do(func() {
		l.said = append(l.said, append([]byte{}, p...))
		l.fetch()
	})
}

// Receive waits until the printer has taken n bytes and returns them; fewer where it was unplugged
// or Patience is over.
func (l *LP) Receive(n int) []byte {
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		l.mu.Lock()
		if len(l.took) >= n || !l.present {
			got := l.took[:min(n, len(l.took))]
			l.took = l.took[len(got):]
			l.mu.Unlock()
			return got
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			l.mu.Lock()
			got := l.took
			l.took = nil
			l.mu.Unlock()
			return got
		}
	}
}

// Underway is how many bytes of a block the printer has not taken.
func (l *LP) Underway() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.inflight)
}

// HangUp is Unplug, for the exam.
func (l *LP) HangUp() { l.Unplug() }

// Unplug pulls the cable: what was on its way is lost, and so is what the printer would have said.
func (l *LP) Unplug() {
	l.do(func() {
		l.present, l.said = false, nil
		if !l.wcomplete {
			l.complete(-int(syscall.ESHUTDOWN))
		}
	})
}

// Plug puts the cable in again. A program that still holds the old node keeps that.
func (l *LP) Plug() {
	l.do(func() {
		l.present, l.file = true, nil
		l.inflight, l.wcomplete, l.rcomplete = nil, true, false
	})
}

// Open opens the node without waiting (O_NONBLOCK): EBUSY where another has it, ENODEV where it is
// unplugged.
func (l *LP) Open() (*LPFile, error) { return l.open(true) }

// OpenWaiting opens the node so that writes wait in the driver.
func (l *LP) OpenWaiting() (*LPFile, error) { return l.open(false) }

func (l *LP) open(nonblock bool) (*LPFile, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.present:
		return nil, &os.PathError{Op: "open", Path: "lp", Err: syscall.ENODEV}
	case l.file != nil:
		return nil, &os.PathError{Op: "open", Path: "lp", Err: syscall.EBUSY}
	}
	l.file = &LPFile{lp: l, nonblock: nonblock, closed: make(chan struct{})}
	l.wcomplete, l.wstatus, l.rcomplete, l.noPaper, l.abort = true, 0, false, false, false
	l.fetch()
	return l.file, nil
}

// fetch is the driver's read request meeting what the printer has to say.
func (l *LP) fetch() {
	if l.file == nil || l.oneWay || l.rcomplete || len(l.said) == 0 {
		return
	}
	n := min(len(l.said[0]), lpReadBlock)
	l.readbuf, l.rcomplete = l.said[0][:n], true
	if l.said[0] = l.said[0][n:]; len(l.said[0]) == 0 {
		l.said = l.said[1:]
	}
}

// submit puts a block on its way; the bus carries it a moment later.
func (l *LP) submit(p []byte) {
	l.inflight, l.block, l.wcomplete = append([]byte{}, p...), len(p), false
	owner := l.file
	time.AfterFunc(l.pace, func() {
		l.do(func() {
			if l.file == owner {
				l.carry()
			}
		})
	})
}

// carry moves as much of the block as the printer takes.
func (l *LP) carry() {
	n := len(l.inflight)
	if l.room >= 0 {
		n = min(n, l.room)
		l.room -= n
	}
	l.took = append(l.took, l.inflight[:n]...)
	l.inflight = l.inflight[n:]
	if !l.wcomplete && l.file != nil && len(l.inflight) == 0 {
		l.complete(l.block)
	}
}

// complete is usblp_bulk_write: the block is over.
func (l *LP) complete(status int) {
	l.inflight, l.wstatus, l.noPaper, l.wcomplete = nil, status, false, true
}
