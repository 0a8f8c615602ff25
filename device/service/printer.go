package service

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"chit/device/core"
	"chit/failpoint"
	"chit/printer/session"
	"chit/printer/transport"
)

// ordersMax bounds what waits for one printer: the core keeps one document in flight, and a
// question or a slip may stand beside it.
const ordersMax = 16

// worker owns the calls to one printer's session; they block for as long as the printer does.
type worker struct {
	name    string
	session *session.Session
	orders  chan core.Effect
	clears  chan core.ClearPrinter // done beside the orders, whose document they take back
	in      chan<- item
	busy    atomic.Int32 // documents and questions under way
	marker  *marker
	log     *slog.Logger
}

// order hands over work without waiting; false means that the printer's line is full, which only a
// fault of ours can cause.
func (w *worker) order(e core.Effect) bool {
	w.busy.Add(1)
	taken := false
	if c, ok := e.(core.ClearPrinter); ok {
		select {
		case w.clears <- c:
			taken = true
		default:
		}
	} else {
		select {
		case w.orders <- e:
			taken = true
		default:
		}
	}
	if !taken {
		w.busy.Add(-1)
	}
	return taken
}

// run carries out orders, one after the other, until ctx ends, and clears beside them.
func (w *worker) run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case c := <-w.clears:
				w.clear(ctx, c)
				w.busy.Add(-1)
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.orders:
			switch e := e.(type) {
			case core.Print:
				w.print(ctx, e)
			case core.Resolve:
				w.resolve(ctx, e)
			}
			w.busy.Add(-1)
		}
	}
}

func (w *worker) print(ctx context.Context, e core.Print) {
	failpoint.Here("device.print.before-first-byte")
	w.marker.printing.Store(true)
	r := w.session.Print(ctx, e.Job)
	w.marker.printing.Store(false)
	failpoint.Here("device.print.after-paper")
	if r.Err != nil {
		w.log.Warn("document did not print for sure", "printer", w.name, "ticket", e.Ticket,
			"started", r.Started, "err", r.Err)
	} else {
		w.log.Info("document printed", "printer", w.name, "ticket", e.Ticket,
			"evidence", r.Evidence.String())
	}
	// The state that led to the result comes before it.
	w.send(ctx, core.PrinterState{Printer: w.name, State: w.session.State()})
	w.send(ctx, core.PrintDone{Printer: w.name, Token: e.Job.Token, Result: r})
}

func (w *worker) resolve(ctx context.Context, e core.Resolve) {
	failpoint.Here("device.resolve.before-question")
	r := w.session.Resolve(ctx, e.Intent)
	failpoint.Here("device.resolve.after-answer")
	w.log.Info("interrupted document resolved", "printer", w.name, "evidence", r.Evidence.String(),
		"torn", r.Torn, "err", r.Err)
	w.send(ctx, core.PrinterState{Printer: w.name, State: w.session.State()})
	w.send(ctx, core.Resolved{Printer: w.name, Token: e.Token, Resolution: r, Err: r.Err})
}

// clear takes a document back. The answer follows at once: the session bounds each of its waits.
func (w *worker) clear(ctx context.Context, e core.ClearPrinter) {
	failpoint.Here("device.clear.before-command")
	err := w.session.Withdraw(ctx, e.Token)
	failpoint.Here("device.clear.after-answer")
	w.log.Info("recalled document taken back", "printer", w.name, "cleared", err == nil, "err", err)
	w.send(ctx, core.Cleared{Printer: w.name, Token: e.Token, Err: err})
}

func (w *worker) send(ctx context.Context, e core.Event) {
	select {
	case w.in <- item{event: e}:
	case <-ctx.Done():
	}
}

// marker is a dialer that tells the failpoints when the first bytes of a document are out.
type marker struct {
	transport.Dialer
	printing atomic.Bool
}

// Dial wraps the connection where failpoints are built in.
func (m *marker) Dial(ctx context.Context) (transport.Conn, error) {
	c, err := m.Dialer.Dial(ctx)
	if err != nil || !failpoint.Enabled {
		return c, err
	}
	return markedConn{c, m}, nil
}

type markedConn struct {
	transport.Conn
	marker *marker
}

// documentMin tells a document from the questions before it, in bytes.
const documentMin = 64

// Write passes the failpoint after a document's first bytes.
func (c markedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n >= documentMin && c.marker.printing.Load() {
		failpoint.Here("device.print.after-first-byte")
	}
	return n, err
}
