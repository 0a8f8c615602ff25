package transporttest

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// LPFile is an open node of an [LP]. Its calls are the system calls of a program.
type LPFile struct {
	lp       *LP
	nonblock bool
	once     sync.Once
	closed   chan struct{}
	readBy   deadline
	writeBy  deadline
}

// deadline is a point in time that may be changed under a wait.
type deadline struct {
	mu      sync.Mutex
	at      time.Time
	changed chan struct{}
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = t
	if d.changed != nil {
		close(d.changed)
	}
	d.changed = make(chan struct{})
}

func (d *deadline) get() (time.Time, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changed == nil {
		d.changed = make(chan struct{})
	}
	return d.at, d.changed
}

// check is what Go's poller says before a call.
func (f *LPFile) check(d *deadline) error {
	select {
	case <-f.closed:
		return os.ErrClosed
	default:
	}
	if at, _ := d.get(); !at.IsZero() && !time.Now().Before(at) {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Read is usblp_read without waiting.
func (f *LPFile) Read(p []byte) (int, error) {
	if err := f.check(&f.readBy); err != nil {
		return 0, err
	}
	l := f.lp
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.oneWay:
		return 0, syscall.EINVAL
	case !f.here():
		return 0, syscall.ENODEV
	case !l.rcomplete:
		return 0, syscall.EAGAIN
	}
	n := copy(p, l.readbuf)
	if l.readbuf = l.readbuf[n:]; len(l.readbuf) == 0 {
		l.rcomplete = false
		l.fetch()
	}
	return n, nil
}

// here is true while the printer that was opened is plugged in; the caller holds the lock.
func (f *LPFile) here() bool { return f.lp.present && f.lp.file == f }

// Write is usblp_write, branch by branch.
func (f *LPFile) Write(p []byte) (int, error) {
	if err := f.check(&f.writeBy); err != nil {
		return 0, err
	}
	l := f.lp
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := f.wwait(); err != nil {
		return 0, err
	}
	written := 0
	for written < len(p) {
		block := p[written:min(len(p), written+lpBlock)]
		l.submit(block)
		switch err := f.wwait(); {
		case err == syscall.EAGAIN:
			return written + len(block), nil // Presumed to complete well.
		case err == syscall.ENOSPC:
			l.noPaper = true
			return written + len(block), nil // Counted, although it only dangles.
		case err != nil:
			return some(written, err)
		case l.wstatus < 0:
			return some(written, syscall.EIO)
		}
		written += l.wstatus
	}
	return written, nil
}

// some tells an error only where nothing was counted before it.
func some(written int, err error) (int, error) {
	if written > 0 {
		return written, nil
	}
	return 0, err
}

// wwait is usblp_wwait: it waits for the end of the block under way. The caller holds the lock.
func (f *LPFile) wwait() error {
	l := f.lp
	for {
		switch {
		case !f.here():
			return syscall.ENODEV
		case l.wcomplete:
			return nil
		case f.nonblock:
			return syscall.EAGAIN
		}
		changed := l.changed
		l.mu.Unlock()
		timer := time.NewTimer(lpWait)
		elapsed := false
		select {
		case <-changed:
		case <-f.closed:
		case <-timer.C:
			elapsed = true
		}
		timer.Stop()
		l.mu.Lock()
		if !elapsed {
			continue
		}
		l.prods++
		if l.abort && l.status&lpNoPaper != 0 {
			return syscall.ENOSPC
		}
	}
}

// Readable waits until usblp_poll reports input, or an end.
func (f *LPFile) Readable() error {
	return f.poll(&f.readBy, func() bool { return !f.lp.oneWay && f.lp.rcomplete })
}

// Writable waits until usblp_poll reports room, or an end.
func (f *LPFile) Writable() error {
	return f.poll(&f.writeBy, func() bool { return f.lp.noPaper || f.lp.wcomplete })
}

func (f *LPFile) poll(d *deadline, ready func() bool) error {
	for {
		if err := f.check(d); err != nil {
			return err
		}
		f.lp.mu.Lock()
		over, changed := !f.here() || ready(), f.lp.changed
		f.lp.mu.Unlock()
		if over {
			return nil
		}
		at, moved := d.get()
		var late <-chan time.Time
		if !at.IsZero() {
			late = time.After(time.Until(at))
		}
		select {
		case <-changed:
		case <-moved:
		case <-late:
		case <-f.closed:
		}
	}
}

// Ioctl knows LPGETSTATUS and LPABORT.
func (f *LPFile) Ioctl(request uint, value int) (int, error) {
	f.lp.mu.Lock()
	defer f.lp.mu.Unlock()
	if !f.here() {
		return 0, syscall.ENODEV
	}
	switch request {
	case lpGetStatus:
		f.lp.prods++
		f.lp.change()
		return int(f.lp.status), nil
	case lpAbort:
		f.lp.abort = value != 0
		return 0, nil
	}
	return 0, syscall.ENOTTY
}

// SetReadDeadline bounds Read and Readable.
func (f *LPFile) SetReadDeadline(t time.Time) error {
	f.readBy.set(t)
	return nil
}

// SetWriteDeadline bounds Write and Writable.
func (f *LPFile) SetWriteDeadline(t time.Time) error {
	f.writeBy.set(t)
	return nil
}

// Close is usblp_release: a block on its way is cancelled, and nobody is told.
func (f *LPFile) Close() error {
	f.once.Do(func() {
		close(f.closed)
		f.lp.do(func() {
			if f.lp.file == f {
				f.lp.file, f.lp.inflight, f.lp.wcomplete = nil, nil, true
				f.lp.rcomplete = false
			}
		})
	})
	return nil
}
