// Package serve runs a virtual printer in real time: behind a TCP port, in this process, or both.
//
// One goroutine owns the printer; connections, timers and callers send it messages. Paper that was
// cut is kept in memory and, where a folder is given, as 0001.png, 0001.txt and a line in
// paper.jsonl.
//
//	c := serve.Config{Printer: virtual.ConfigFor(facts), Listen: "127.0.0.1:0"}
//	s, err := serve.Start(ctx, c)
//	defer s.Close()
//	err = s.Wait(ctx, func(sheets []virtual.Sheet) bool { return len(sheets) == 1 })
//
// It copies what network boards do to their hosts: one client at a time; a client that is gone
// keeps its place until what it sent has fitted into the buffer; a printer that loses power says no
// goodbye, so that the next bytes vanish and only then the connection is reset (research/escpos.md
// 2.11).
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"chit/printer/virtual"
)

// Errors of a server.
var (
	// ErrClosed says that the server has ended.
	ErrClosed = errors.New("virtual printer is closed")
	// ErrBusy says that another client has the printer.
	ErrBusy = errors.New("virtual printer has a client already")
	// ErrOff says that the printer's power is off.
	ErrOff = errors.New("virtual printer is off")
)

// Limits.
const (
	// TearAfter is the default of Config.TearAfter.
	TearAfter = 3 * time.Second
	// WaitingMax is how many clients wait where SecondWaits is true; Epson's UB-E02 has the same.
	WaitingMax = 3
	// grace is how long a newcomer may stand at the door while the client before it is leaving.
	grace = 20 * time.Millisecond
	// writeTimeout is how long answers wait for a client to read them; then they are lost.
	writeTimeout = 5 * time.Second
	// sheetsQueued are finished sheets that may wait to be drawn and saved.
	sheetsQueued = 256
)

// Config says how to run one virtual printer.
type Config struct {
	Printer virtual.Config
	// Listen is the address of the raw port, such as "127.0.0.1:9100"; empty means no port, and
	// then only [Server.Dialer] reaches the printer.
	Listen string
	// HTTP is the address of the live page and the control; empty means none. It must be on
	// loopback unless Anywhere is true: whoever reaches it can cut the power.
	HTTP     string
	Anywhere bool
	// Out is the folder for 0001.png, 0001.txt and paper.jsonl; empty keeps paper in memory only.
	Out string
	// SecondWaits lets a second client wait for the first to leave; false refuses it, as cheap
	// boards do.
	SecondWaits bool
	// TearAfter is when a person tears off the paper of a printer without cutter that stands still;
	// 0 means 3 s.
	TearAfter time.Duration
	Log       *slog.Logger
}

// Server is a running virtual printer.
type Server struct {
	conf     Config
	log      *slog.Logger
	listener net.Listener
	control  net.Listener
	web      *http.Server
	store    *store
	watchers atomic.Int32 // open streams of events

	calls     chan call
	newcomers chan newcomer
	saving    chan virtual.Sheet
	ended     chan struct{} // closed when the loop has returned
	cancel    context.CancelFunc
	tasks     sync.WaitGroup
	closing   sync.Once
	closed    chan struct{} // closed when everything has returned

	mu      sync.Mutex
	sheets  []virtual.Sheet
	records []Record
	changed chan struct{} // closed and replaced when sheets grows
	moved   chan struct{} // closed and replaced when anything changes that the page shows
	err     error         // the first failure to save
}

type call struct {
	do   func(p *virtual.Printer, now time.Time)
	done chan struct{}
}

type newcomer struct {
	conn   net.Conn
	answer chan error // nil where nobody waits for the verdict
	until  time.Time  // when it is refused if the client is still there; zero: it may wait
}

// Start runs a virtual printer until ctx ends or [Server.Close] is called.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.TearAfter <= 0 {
		c.TearAfter = TearAfter
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		conf: c, log: c.Log,
		calls: make(chan call), newcomers: make(chan newcomer),
		saving: make(chan virtual.Sheet, sheetsQueued),
		ended:  make(chan struct{}), closed: make(chan struct{}), changed: make(chan struct{}),
		moved: make(chan struct{}),
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.run(ctx)
	return s, nil
}

// open takes the folder and the ports.
func (s *Server) open(ctx context.Context) (err error) {
	if s.store, err = openStore(s.conf.Out); err != nil {
		return err
	}
	var listen net.ListenConfig
	if s.conf.Listen != "" {
		if s.listener, err = listen.Listen(ctx, "tcp", s.conf.Listen); err != nil {
			return fmt.Errorf("serve: raw port %s: %w", s.conf.Listen, err)
		}
	}
	if s.conf.HTTP != "" {
		if err := loopback(s.conf.HTTP); err != nil && !s.conf.Anywhere {
			return err
		}
		if s.control, err = listen.Listen(ctx, "tcp", s.conf.HTTP); err != nil {
			return fmt.Errorf("serve: control port %s: %w", s.conf.HTTP, err)
		}
	}
	return nil
}

// run starts everything; Close waits for it.
func (s *Server) run(ctx context.Context) {
	s.tasks.Go(func() {
		defer close(s.ended)
		defer close(s.saving)
		newLoop(s).run(ctx)
	})
	s.tasks.Go(s.save)
	if s.listener != nil {
		s.tasks.Go(s.accept)
	}
	if s.control != nil {
		s.web = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second,
			BaseContext: func(net.Listener) context.Context { return ctx }}
		s.tasks.Go(func() { _ = s.web.Serve(s.control) }) // Ends with ErrServerClosed by shut.
	}
	// Close returns the same error to whoever asks for it.
	context.AfterFunc(ctx, func() { _ = s.Close() })
}

// Close stops the printer and waits for all it started. It may be called twice. The error is the
// first failure to save paper.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.cancel()
		err := s.shut()
		s.tasks.Wait()
		s.mu.Lock()
		s.err = errors.Join(s.err, err)
		s.mu.Unlock()
		close(s.closed)
	})
	<-s.closed
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// shut closes the ports. The web server closes its own too, so that one of the two comes second.
func (s *Server) shut() error {
	var closers []io.Closer
	if s.web != nil {
		closers = append(closers, s.web)
	}
	for _, l := range []net.Listener{s.listener, s.control} {
		if l != nil {
			closers = append(closers, l)
		}
	}
	var errs []error
	for _, c := range closers {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Addr is the address of the raw port, host:port; empty without one.
func (s *Server) Addr() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// HTTPAddr is the address of the live page and the control; empty without them.
func (s *Server) HTTPAddr() string {
	if s.control == nil {
		return ""
	}
	return s.control.Addr().String()
}

// Sheets is all paper that was cut so far, oldest first, numbered as the files are.
func (s *Server) Sheets() []virtual.Sheet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sheets)
}

// Wait blocks until done is true of the cut sheets; they are saved by then. The error is ctx's, or
// [ErrClosed].
func (s *Server) Wait(ctx context.Context, done func([]virtual.Sheet) bool) error {
	for {
		s.mu.Lock()
		sheets, changed := slices.Clone(s.sheets), s.changed
		s.mu.Unlock()
		if done(sheets) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closed:
			return ErrClosed
		}
	}
}

// Do runs f on the printer, between two moves of the mechanism. f must not block or keep p.
func (s *Server) Do(f func(p *virtual.Printer, now time.Time)) error {
	c := call{f, make(chan struct{})}
	select {
	case s.calls <- c:
		<-c.done
		return nil
	case <-s.ended:
		return ErrClosed
	}
}

// Raise makes a fault happen, at once or when its count is reached.
func (s *Server) Raise(f virtual.Fault) error {
	return s.Do(func(p *virtual.Printer, now time.Time) { p.Raise(now, f) })
}

// Clear undoes a fault: paper is loaded, the cover closed, power switched on.
func (s *Server) Clear(name virtual.FaultName) error {
	return s.Do(func(p *virtual.Printer, now time.Time) { p.Clear(now, name) })
}

// Pending is the paper that hangs in the machine.
func (s *Server) Pending() (sheet virtual.Sheet, err error) {
	err = s.Do(func(p *virtual.Printer, now time.Time) { sheet = p.Pending() })
	return sheet, err
}

// tell wakes the streams of events. s.mu is held.
func (s *Server) tell() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// save draws and keeps finished sheets, and only then lets them be seen.
func (s *Server) save() {
	for sheet := range s.saving {
		sheet, record, err := s.store.keep(sheet)
		if err != nil {
			s.log.Error("paper was not saved", "sheet", sheet.Number, "err", err)
		}
		s.mu.Lock()
		s.sheets = append(s.sheets, sheet)
		s.records = append(s.records, record)
		if s.err == nil {
			s.err = err
		}
		close(s.changed)
		s.changed = make(chan struct{})
		s.tell()
		s.mu.Unlock()
	}
}
