package session

import (
	"bytes"
	"testing"
	"time"

	"chit/printer/virtual"
)

// long is a ticket of lines whose ends are told, far larger than the buffer of the printers below.
func long(n uint64) Job {
	j := job(n, "A", 300)
	for at := range j.Paper.Body {
		if j.Paper.Body[at] == '\n' {
			j.Paper.Breaks = append(j.Paper.Breaks, at+1)
		}
	}
	return j
}

// lossy is a printer that cannot hold the host back.
func lossy(c virtual.Config) func() *machine {
	return func() *machine {
		m := newMachine(c)
		m.loses = true
		return m
	}
}

func (m *machine) dropped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// Row 19: stops before the cut, the next job prints garbage: bytes the printer's buffer dropped.
func TestRow19ACableThatCannotHoldBackIsPaced(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []string
		want   Evidence
	}{
		{"answers everything", nil, Confirmed},
		{"no odometer", []string{"no-odometer"}, Confirmed},
		{"paper out on the way", []string{"paper-out:after=40"}, Confirmed},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := with(t, c.faults...)
			config.BufferBytes = 768
			tellOf(t, lossy(config), Unit{}, func(st *story) {
				st.untilReady()
				done := st.begun(st.t.Context(), long(1))
				if c.faults != nil && c.faults[0] != "no-odometer" {
					st.untilHold(HoldPaper)
					st.m.do(func(p *virtual.Printer, now time.Time) { p.Clear(now, virtual.PaperOut) })
				}
				wantResult(t, <-done, c.want)
				st.wantPapers(ticket("A", 300))
				if lost := st.m.dropped(); lost > 0 {
					t.Errorf("%d bytes were lost", lost)
				}
			})
		})
	}
}

// Without places to pause the same ticket loses bytes, and no evidence is claimed for it.
func TestAnUnpacedTicketIsNotCalledPrinted(t *testing.T) {
	config := good()
	config.BufferBytes = 768
	tellOf(t, lossy(config), Unit{}, func(st *story) {
		st.untilReady()
		j := long(1)
		j.Paper.Breaks = nil
		if r, lost := st.print(j), st.m.dropped(); r.Evidence == Confirmed || lost == 0 {
			t.Errorf("got %+v with %d bytes lost", r, lost)
		}
	})
}

func TestPortionsEndAtBreaks(t *testing.T) {
	b := []byte("0123456789abcdef")
	for _, c := range []struct {
		breaks []int
		most   int
		want   string
	}{
		{nil, 4, "0123456789abcdef"},
		{[]int{4, 8, 12}, 4, "0123|4567|89ab|cdef"},
		{[]int{4, 8, 12}, 9, "01234567|89abcdef"},
		{[]int{2, 11, 12}, 4, "01|23456789a|b|cdef"},
		{[]int{16}, 4, "0123456789abcdef"},
		{[]int{3}, 100, "0123456789abcdef"},
	} {
		got := string(bytes.Join(portions(b, c.breaks, c.most), []byte("|")))
		if got != c.want {
			t.Errorf("breaks %v, at most %d: %s, expected %s", c.breaks, c.most, got, c.want)
		}
	}
}
