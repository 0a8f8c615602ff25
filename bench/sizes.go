package main

import "time"

// sizes say how much is measured.
type sizes struct {
	passes        int
	tickets       int // of a pass of latency or of written bytes
	burst         int // tickets posted at once
	starts        int // of chitd, in a pass
	remembered    int // ids in the journal of a started chitd
	ids           []int
	looked        int // look-ups of a pass
	producers     []int
	accept        time.Duration // of taking tickets in, for each number of producers
	settle        []int         // tickets end to end, for each number of producers
	stations      int
	benchtime     string
	benchmarks    []benchmark
	memoryTickets int // printed before the memory is read
}

// full is what BENCHMARKS.md shows. It takes about five minutes on two cores.
var full = sizes{
	passes: 5, tickets: 60, burst: 200,
	starts: 5, remembered: 10_000, memoryTickets: 200,
	ids: []int{1_000, 10_000, 100_000, 1_000_000}, looked: 50_000,
	producers: []int{1, 16, 256}, accept: 2 * time.Second, settle: []int{300, 1500, 1500},
	stations:  16,
	benchtime: "500ms", benchmarks: goBenchmarks,
}
