package transporttest

import (
	"io"
	"sync"
)

// Attach makes conn the printer's end, such as a connection to a virtual printer: what the host
// writes goes there, no faster than it is taken, and what comes from there is said to the host. The
// returned function ends that and waits for its end.
func (l *LP) Attach(conn io.ReadWriteCloser) (detach func()) {
	const buffer = 4096 // as a small board has
	l.Takes(buffer)
	over := make(chan struct{})
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			p := l.next(buffer, over)
			if p == nil {
				return
			}
			if _, err := conn.Write(p); err != nil {
				return
			}
			l.do(func() {
				if l.room >= 0 {
					l.room += len(p)
				}
				l.carry()
			})
		}
	})
	tasks.Go(func() {
		p := make([]byte, lpReadBlock)
		for {
			n, err := conn.Read(p)
			if n > 0 {
				l.Say(p[:n])
			}
			if err != nil {
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(over)
		conn.Close()
		tasks.Wait()
	})
}

// next waits for bytes that the printer took, n at most; nil where it is over.
func (l *LP) next(n int, over <-chan struct{}) []byte {
	for {
		l.mu.Lock()
		if got := l.took[:min(n, len(l.took))]; len(got) > 0 {
			l.took = l.took[len(got):]
			l.mu.Unlock()
			return got
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-over:
			return nil
		}
	}
}
