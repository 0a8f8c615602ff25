package service

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"chit/device/wire"
	"chit/printer/transport"
)

// BenchmarkFirstByte takes apart what passes between the delivery of a signed ticket at an idle
// printer and the first question to that printer: the one commit that holds both the ticket and its
// intent, and what chitd adds to it, which may be 2 ms. What follows until the first byte of the
// document is the printer's answers.
func BenchmarkFirstByte(b *testing.B) {
	k := newKitchen(b)
	k.stop()
	watch := &stopwatch{Dialer: k.printer.Dialer(), asked: make(chan time.Time, 1),
		left: make(chan time.Time, 1)}
	k.conf.Virtual = func(string) (transport.Dialer, error) { return watch, nil }
	k.commits = make(chan time.Duration, 16)
	k.start()
	k.sends("warm", 1)
	k.phone.untilSaid("printed warm/1@grill")
	<-watch.left
	var commit, added, whole []time.Duration
	for b.Loop() {
		order := fmt.Sprint("b", len(commit))
		payload, err := k.ticket(order, 1)
		if err != nil {
			b.Fatal(err)
		}
		empty(watch.asked)
		empty(k.commits)
		start := time.Now()
		k.deliver(wire.LeafTicket, payload, nil)
		left := <-watch.left
		asked, took := <-watch.asked, <-k.commits
		commit, added = append(commit, took), append(added, asked.Sub(start)-took)
		whole = append(whole, left.Sub(start))
		k.phone.untilSaid("printed " + order + "/1@grill")
		k.phone.tell("", func() { k.phone.story = nil })
	}
	b.ReportMetric(0, "ns/op") // It is the mechanism's time.
	for name, all := range map[string][]time.Duration{"commit": commit, "added": added, "all": whole} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-"+name+"-p50")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs-"+name+"-p99")
	}
}

// empty takes what waits in a channel.
func empty[T any](c chan T) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}
