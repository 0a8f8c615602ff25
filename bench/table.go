package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// row is one line of a table. Empty fields show as nothing.
type row struct {
	What   string
	Unit   string
	Median float64 // of the passes' medians
	Best   float64 // the best pass's median
	P99    float64 // of all values
	N      int     // values, or passes where a pass gives one
	Target string
	Met    string // yes, no, or nothing where there is no target
}

// timed makes a row of passes in milliseconds.
func timed(what string, p passes) row {
	f := p.figures()
	return row{What: what, Unit: "ms", Median: f.Median, Best: f.Best, P99: f.P99, N: f.N}
}

// rated makes a row of rates, one a pass: the best is the highest, and there is no percentile.
func rated(what, unit string, rates sample) row {
	return row{What: what, Unit: unit, Median: rates.median(), Best: rates.at(1), N: len(rates)}
}

// against gives the row a target: value must not exceed limit.
func (r row) against(target string, value, limit float64) row {
	r.Target, r.Met = target, "yes"
	if value > limit {
		r.Met = "no"
	}
	return r
}

func table(title string, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n| measured | unit | median | best | p99 | n | target | met |\n"+
		"| --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n", title)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.What, r.Unit, show(r.Median),
			show(r.Best), show(r.P99), show(float64(r.N)), r.Target, r.Met)
	}
	return b.String()
}

// show is a number with three digits that say something; nothing for 0.
func show(v float64) string {
	switch {
	case v == 0:
		return ""
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}

// The lines between which BENCHMARKS.md holds what this program measured.
const (
	tablesBegin = "<!-- tables of go run ./bench -write begin -->\n"
	tablesEnd   = "<!-- tables end -->\n"
)

// writeInto replaces the tables in a file and leaves what people wrote around them.
func writeInto(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, begins := bytes.Cut(old, []byte(tablesBegin))
	_, tail, ends := bytes.Cut(rest, []byte(tablesEnd))
	if !begins || !ends {
		return fmt.Errorf("%s: found no place for the tables, expected the lines %q and %q", path,
			tablesBegin, tablesEnd)
	}
	young := string(head) + tablesBegin + text + tablesEnd + string(tail)
	return os.WriteFile(path, []byte(young), 0o644)
}
