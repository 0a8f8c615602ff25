package main

import (
	"slices"
	"time"
)

// sample is a set of measured values of one kind, in the order they were taken.
type sample []float64

// add appends a duration in milliseconds.
func (s *sample) add(d time.Duration) { *s = append(*s, float64(d)/float64(time.Millisecond)) }

// at is the smallest value that the share q (0 to 1) of all values does not exceed; 0 of none.
func (s sample) at(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	i := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func (s sample) median() float64 { return s.at(0.5) }

// passes are several samples of the same thing, taken at different times: other programs on the
// machine disturb each of them differently.
type passes []sample

// medians is the median of each pass.
func (p passes) medians() sample {
	var out sample
	for _, s := range p {
		out = append(out, s.median())
	}
	return out
}

// all joins the passes.
func (p passes) all() sample { return slices.Concat(p...) }

// figures are what a table shows of passes.
type figures struct {
	Median float64 // of the passes' medians
	Best   float64 // the lowest median of a pass
	P99    float64 // of all values together
	N      int
}

func (p passes) figures() figures {
	m := p.medians()
	return figures{Median: m.median(), Best: m.at(0), P99: p.all().at(0.99), N: len(p.all())}
}
