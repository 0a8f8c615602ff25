package service

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/journal"
	"chit/device/wire"
	"chit/printer/transport"
)

// stopwatch is a dialer that tells when the printer is first asked how it is, and when the first
// bytes of a document leave.
type stopwatch struct {
	transport.Dialer
	asked, left chan time.Time
}

func (s *stopwatch) Dial(ctx context.Context) (transport.Conn, error) {
	c, err := s.Dialer.Dial(ctx)
	return timedConn{c, s}, err
}

type timedConn struct {
	transport.Conn
	watch *stopwatch
}

func (c timedConn) Write(b []byte) (int, error) {
	at := c.watch.asked
	if len(b) >= documentMin {
		at = c.watch.left
	}
	select {
	case at <- time.Now():
	default: // Only the first since the last look counts.
	}
	return c.Conn.Write(b)
}

// BenchmarkArrival measures from the delivery of a signed ticket, on a journal that is flushed,
// to the question how the printer is (what chitd adds), to the first byte of the document (the
// printer's answer is in it) and to the first answer to the broker.
func BenchmarkArrival(b *testing.B) {
	k := newKitchen(b)
	k.stop()
	watch := &stopwatch{
		Dialer: k.printer.Dialer(), asked: make(chan time.Time, 1), left: make(chan time.Time, 1),
	}
	k.conf.Virtual = func(string) (transport.Dialer, error) { return watch, nil }
	k.start()
	k.sends("warm", 1)
	k.phone.untilSaid("printed warm/1@grill")
	<-watch.left
	var toQuestion, toByte, toAnswer time.Duration
	n := 0
	for b.Loop() {
		n++
		order := fmt.Sprint("b", n)
		payload, err := k.ticket(order, 1)
		if err != nil {
			b.Fatal(err)
		}
		select {
		case <-watch.asked: // Of the last ticket.
		default:
		}
		start := time.Now()
		k.deliver(wire.LeafTicket, payload, nil)
		toByte += (<-watch.left).Sub(start)
		toQuestion += (<-watch.asked).Sub(start)
		k.phone.untilSaid("stored " + order + "/1@grill")
		toAnswer += time.Since(start)
		k.phone.untilSaid("printed " + order + "/1@grill")
		k.phone.tell("", func() { k.phone.story = nil })
	}
	b.ReportMetric(float64(toQuestion.Microseconds())/float64(n), "µs-to-question")
	b.ReportMetric(float64(toByte.Microseconds())/float64(n), "µs-to-byte")
	b.ReportMetric(float64(toAnswer.Microseconds())/float64(n), "µs-to-answer")
}

// TestTenThousandIdsCostLittleMemory holds what lives on the heap to the daemon's budget on a
// small Pi (RssAnon under 25 MB with 10^4 remembered ids), the virtual printer and the test
// included. The process's own RssAnon is measured by make bench: here the race detector would be
// in it.
func TestTenThousandIdsCostLittleMemory(t *testing.T) {
	k := newKitchen(t)
	k.stop()
	j, err := journal.Open(k.conf.JournalPath(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	changes := []core.Change{}
	for i := range 10_000 {
		changes = append(changes, core.PutSeen{
			Day: uint32(i / 400), ID: fmt.Sprintf("order-%d/1@grill", i),
			Record: core.Record{Digest: wire.Digest(nil), Outcome: wire.OutcomePrinted},
		})
	}
	state, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 / 400 {
		state.Meta.Days[uint32(i)] = 60
	}
	changes = append(changes, core.PutMeta{Meta: state.Meta})
	if err := j.Apply(changes); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	k.start()
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	took := time.Since(began)
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("first ticket printed %v after the start, %d KiB live", took, m.HeapAlloc>>10)
	if m.HeapAlloc > 15<<20 {
		t.Errorf("%d KiB live, want at most 15 MiB", m.HeapAlloc>>10)
	}
}
