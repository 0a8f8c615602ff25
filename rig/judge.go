package rig

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"chit/printer/virtual"
)

// Verdict is the demo's result: what was promised, and what the paper says. The counts of paper
// come from the virtual printers alone.
type Verdict struct {
	Accepted           int `json:"accepted"`
	Printed            int `json:"printed"` // accepted tickets with at least one paper
	MarkedDuplicates   int `json:"marked_duplicates"`
	UnmarkedDuplicates int `json:"unmarked_duplicates"`
	Lost               int `json:"lost"` // accepted, no paper, and nobody was told
	Dead               int `json:"dead"`
	// Cancelled are those that were voided or replaced before they came out.
	Cancelled   int            `json:"cancelled,omitempty"`
	Refused     int            `json:"refused"` // by the door
	Faults      map[string]int `json:"faults"`
	TimeToPaper Percentiles    `json:"time_to_paper_ms"`

	// Broken says, in words, which promises did not hold; empty when all did.
	Broken []string `json:"broken,omitempty"`
}

// Percentiles of the time from posting a ticket to the cut of its first paper, in milliseconds,
// faults included.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Held reports whether every promise held.
func (v Verdict) Held() bool { return len(v.Broken) == 0 }

// ticketID finds the id that every ticket carries at its foot.
var ticketID = regexp.MustCompile(`[A-Za-z0-9._~-]+/[0-9]+@[a-z0-9-]+`)

// Paper is one sheet as the judge reads it.
type Paper struct {
	ID     string // ticket id at its foot, empty on slips
	Marked bool   // it says POSSIBLE DUPLICATE
	Moved  bool   // it names the printer that had the ticket before
	At     time.Time
	Errors []string // what the printer objected to
	Text   string
}

// Read finds the id and the mark of a sheet.
func Read(s virtual.Sheet) Paper {
	p := Paper{Text: s.Text(), At: s.CutAt, Errors: s.Errors()}
	words := strings.Join(strings.Fields(p.Text), " ")
	p.Marked = strings.Contains(words, "POSSIBLE DUPLICATE")
	p.Moved = strings.Contains(words, "MOVED FROM ") || strings.Contains(words, "MOVED, ASK ")
	if found := ticketID.FindAllString(words, -1); len(found) > 0 {
		p.ID = found[len(found)-1]
	}
	return p
}

// judge compares what was accepted with what came out. ended holds the tickets that ended as
// dead or cancelled.
func judge(accepted map[string]time.Time, ended map[string]string, sheets []virtual.Sheet) Verdict {
	v := Verdict{Accepted: len(accepted), Faults: map[string]int{}}
	for _, state := range ended {
		if state == "dead" {
			v.Dead++
		} else {
			v.Cancelled++
		}
	}
	first := map[string]time.Time{}
	asks := map[string]bool{} // all papers of it so far say POSSIBLE DUPLICATE and whom to ask
	for _, s := range sheets {
		p := Read(s)
		for _, e := range p.Errors {
			v.Broken = append(v.Broken, "the printer objected to "+p.ID+": "+e)
		}
		if p.ID == "" {
			continue
		}
		if _, ok := accepted[p.ID]; !ok {
			v.Broken = append(v.Broken, "paper for "+p.ID+", which was never accepted")
			continue
		}
		at, again := first[p.ID]
		if !again || p.At.Before(at) {
			first[p.ID] = p.At
		}
		if !again {
			asks[p.ID] = p.Marked && p.Moved
			continue
		}
		// A backup's paper that says whom to ask is the mark of both: the printer that is asked had
		// the ticket first, and may print it later.
		if p.Marked || asks[p.ID] {
			v.MarkedDuplicates++
			asks[p.ID] = asks[p.ID] && p.Marked && p.Moved
		} else {
			v.UnmarkedDuplicates++
			v.Broken = append(v.Broken, p.ID+" has a second paper without a mark")
		}
	}
	var waits []float64
	for id, posted := range accepted {
		at, ok := first[id]
		switch {
		case ok:
			v.Printed++
			waits = append(waits, float64(at.Sub(posted))/float64(time.Millisecond))
		case ended[id] == "":
			v.Lost++
			v.Broken = append(v.Broken, id+" was accepted and has no paper")
		}
	}
	v.TimeToPaper = percentiles(waits)
	slices.Sort(v.Broken)
	return v
}

func percentiles(values []float64) Percentiles {
	if len(values) == 0 {
		return Percentiles{}
	}
	slices.Sort(values)
	at := func(q float64) float64 {
		i := int(q*float64(len(values))+0.5) - 1
		v := values[min(max(i, 0), len(values)-1)]
		return float64(int(v*10+0.5)) / 10
	}
	return Percentiles{P50: at(0.50), P99: at(0.99)}
}
