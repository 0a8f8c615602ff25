package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// benchmark is a Go benchmark of a package, as go test names them.
type benchmark struct {
	pkg, pattern string
	benchtime    string // where it differs from that of the others
}

// goBenchmarks are those that say something about the whole; go test -bench . ./... runs all.
var goBenchmarks = []benchmark{
	{"chit/device/service", "FirstByte", "30x"}, // Its printer has a mechanism, 200 ms a ticket.
	{"chit/device/service", "TicketOfFortyLines", ""},
	{"chit/device/journal", "Ticket$|Open$", ""},
	{"chit/device/wire", ".", ""},
	{"chit/broker/desk", "Accept", ""},
	{"chit/broker/relay", "Settle", ""},
	{"chit/broker/link", "PublishDeliver/embedded", ""},
}

// parts runs Go benchmarks and shows what they report, one row for each unit.
func (b *bench) parts(ctx context.Context) ([]row, error) {
	var rows []row
	var disk probed
	for _, x := range b.size.benchmarks {
		if err := disk.take(b.dir); err != nil {
			return nil, err
		}
		benchtime := cmp.Or(x.benchtime, b.size.benchtime)
		test := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", x.pattern,
			"-benchtime", benchtime, "-count", strconv.Itoa(b.size.passes), x.pkg)
		out, err := test.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", x.pkg, err, out)
		}
		found := parse(x.pkg, string(out))
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: %w that match %q", x.pkg, errNoBenchmarks, x.pattern)
		}
		for _, r := range found {
			if strings.HasPrefix(r.Unit, addedUnit) {
				r = r.against("2 ms beside the commit", r.Median, 1000*ownTargetMs)
			}
			rows = append(rows, r)
		}
	}
	return append(rows, disk.row()), nil
}

// addedUnit begins the units in which BenchmarkFirstByte tells what chitd adds to the commit.
const addedUnit = "µs-added-"

var errNoBenchmarks = errors.New("found no benchmarks")

// cores is the suffix that go test gives to a name where there are several.
var cores = regexp.MustCompile(`-\d+$`)

// parse reads the output of go test -bench, several counts of each benchmark.
func parse(pkg, out string) []row {
	type key struct{ name, unit string }
	values := map[key]sample{}
	var order []key
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := cores.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			k := key{name, fields[i+1]}
			if values[k] == nil {
				order = append(order, k)
			}
			values[k] = append(values[k], v)
		}
	}
	var rows []row
	for _, k := range order {
		if k.unit == "B/op" || k.unit == "allocs/op" {
			continue // They are for whoever works on the package.
		}
		s := values[k]
		r := row{What: strings.TrimPrefix(pkg, "chit/") + " " + k.name, Unit: k.unit,
			Median: s.median(), Best: s.at(0), N: len(s)}
		if strings.HasSuffix(k.unit, "/s") || strings.HasSuffix(k.unit, "/commit") {
			r.Best = s.at(1)
		}
		rows = append(rows, r)
	}
	return rows
}
