package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"chit/printer/escpos"
	"chit/printer/status"
	"chit/printer/transport"
)

// errElapsed is pump's answer when its deadline came first.
var errElapsed = errors.New("nothing happened in time")

// link is one open connection. Run's goroutine owns it; a reader and a writer of its own carry
// bytes for it, so that the owner can listen while a printer without paper takes no more.
type link struct {
	conn   transport.Conn
	stream status.Stream

	input  chan []byte
	ends   chan error // the reader's error
	output chan []byte
	wrote  chan error
	stop   chan struct{}
	wait   sync.WaitGroup

	writing  bool
	progress atomic.Int64 // when the write under way began or last went on, Unix nanoseconds
	err      error        // why the link is over; wraps ErrLink
	heard    time.Time    // when the last byte came
	asked    time.Time    // when the last byte was sent
	inbox    []status.Event
	fences   []proof // what the outstanding GS r 1 prove, oldest first
	proofs   *proofs
	health   health

	afresh       bool // the printer forgot what it was asked
	touched      bool // paper may have been moved by hand since the odometer was read
	chain        byte // n of the DLE EOT asked last in the poll under way, 0 if none
	holdAnswered bool // since the hold began a poll was answered: the printer still takes bytes
	holdPolls    int  // polls since the hold began
	patient      bool
	missed       int  // DLE EOT in a row that were not answered
	stalled      bool // the write under way makes no progress

	document escpos.Token // the last one that was written to it
	cleared  escpos.Token // the document whose rest the printer confirmed to have dropped
}

// inboxMax bounds what is kept for askers; each starts with an empty one.
const inboxMax = 256

func newLink(conn transport.Conn, twoWay bool, heard *proofs) *link {
	l := &link{
		conn: conn, proofs: heard, heard: time.Now(), asked: time.Now(),
		input: make(chan []byte), ends: make(chan error),
		output: make(chan []byte), wrote: make(chan error), stop: make(chan struct{}),
	}
	l.wait.Go(l.writer)
	if twoWay {
		l.wait.Go(l.reader)
	}
	return l
}

// close ends the connection and waits for reader and writer.
func (l *link) close() error {
	close(l.stop)
	err := l.conn.Close()
	l.wait.Wait()
	return err
}

func (l *link) reader() {
	const chunk = 512 // answers are a few bytes
	for {
		p := make([]byte, chunk)
		n, err := l.conn.Read(p)
		if n > 0 {
			select {
			case l.input <- p[:n]:
			case <-l.stop:
				return
			}
		}
		if err != nil {
			select {
			case l.ends <- err:
			case <-l.stop:
			}
			return
		}
	}
}

func (l *link) writer() {
	for {
		select {
		case p := <-l.output:
			err := l.send(p)
			select {
			case l.wrote <- err:
			case <-l.stop:
				return
			}
		case <-l.stop:
			return
		}
	}
}

// send writes p and notes each step forward.
func (l *link) send(p []byte) error {
	for len(p) > 0 {
		n, err := l.conn.Write(p[:min(len(p), chunkBytes)])
		if err != nil {
			return err
		}
		l.progress.Store(time.Now().UnixNano())
		p = p[n:]
	}
	return nil
}

// start begins one write; pump tells of its end. One write at a time.
func (l *link) start(p []byte) {
	if l.writing {
		panic("session: a write began while another was under way")
	}
	l.writing, l.asked = true, time.Now()
	l.progress.Store(l.asked.UnixNano())
	l.output <- p // The writer is idle, so this is at once.
}

// pump waits for the next thing to happen and notes it. It answers an order or a question that
// came, errElapsed at the deadline, or ctx's cause. A lost link is noted in l.err.
func (l *link) pump(
	ctx context.Context, deadline time.Time, orders, questions <-chan *order,
) (*order, error) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case p := <-l.input:
		l.receive(p)
	case err := <-l.ends:
		l.err = fmt.Errorf("%w: %w", ErrLink, err)
	case err := <-l.wrote:
		l.writing, l.stalled = false, false
		if err != nil {
			l.drain()
			l.err = fmt.Errorf("%w: %w", ErrLink, err)
		}
	case o := <-orders:
		return o, nil
	case o := <-questions:
		return o, nil
	case <-timer.C:
		return nil, errElapsed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return nil, nil
}

// drain takes what the reader already holds: an answer may have come before the end.
func (l *link) drain() {
	for {
		select {
		case p := <-l.input:
			l.receive(p)
		default:
			return
		}
	}
}

// receive notes what the printer said. The stream gets one byte at a time, so that what it still
// awaits is true at each event.
func (l *link) receive(p []byte) {
	l.heard = time.Now()
	for i := range p {
		for _, e := range l.stream.Write(p[i : i+1]) {
			l.note(e)
		}
	}
}

func (l *link) note(e status.Event) {
	held := l.health.hold() != HoldNone
	l.health = l.health.after(e)
	l.touched = l.touched || touches(e)
	switch e.(type) {
	case status.Unknown, status.Flow:
	default:
		l.missed = 0 // Noise is no answer.
	}
	switch e := e.(type) {
	case status.ProcessID:
		l.proofs.answered(e.Token)
	case status.Fence:
		// The stream may have given up older ones that a later answer overtook.
		for len(l.fences) > l.stream.Awaits(status.ExpectFence)+1 {
			l.fences = l.fences[1:]
		}
		if len(l.fences) > 0 {
			l.proofs.add(l.fences[0])
			l.fences = l.fences[1:]
		}
	case status.Printer, status.Offline, status.Error, status.Paper:
		l.holdAnswered = l.holdAnswered || held
	}
	if l.health.hold() == HoldNone {
		l.holdAnswered, l.holdPolls = false, 0
	}
	if len(l.inbox) < inboxMax {
		l.inbox = append(l.inbox, e)
	}
}

// expectFence announces a GS r 1 and what its answer will prove.
func (l *link) expectFence(p proof) {
	l.stream.Expect(status.ExpectFence)
	l.fences = append(l.fences, p)
}

// forgetFences gives up the GS r 1 that a later queued answer has overtaken.
func (l *link) forgetFences() {
	for l.stream.Cancel(status.ExpectFence) {
	}
	l.fences = nil
}

// realtimePending is true while an answer to DLE EOT is outstanding. Their bytes are alike, so that
// only their order tells them apart and one is asked at a time.
func (l *link) realtimePending() bool {
	for _, k := range realtimeKinds[1:] {
		if l.stream.Awaits(k) > 0 {
			return true
		}
	}
	return false
}

// realtimeKinds is indexed by the n of DLE EOT n.
var realtimeKinds = [...]status.Kind{
	1: status.ExpectPrinter, 2: status.ExpectOffline, 3: status.ExpectError, 4: status.ExpectPaper,
}

// setPatient keeps the cable from giving up on a printer that says it must wait, for as long as it
// takes no bytes. One that still answers polls is watched as usual.
func (l *link) setPatient() error {
	p, ok := l.conn.(transport.Patient)
	want := l.health.hold() != HoldNone && (l.writing || !l.holdAnswered)
	if !ok || want == l.patient {
		return nil
	}
	l.patient = want
	return p.SetPatient(want)
}

// fail ends the link for this reason, unless it has one already.
func (l *link) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}
