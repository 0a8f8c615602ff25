package wire

import (
	"fmt"
	"strings"
)

// gapsMax bounds what one ticket explains; the day's slip lists the rest.
const gapsMax = 32

// PreviousUnknown is the previous of the first number after the broker's store was restored: which
// numbers were given in the lost time is not known. A device that does not know the word prints
// "previous unknown".
const PreviousUnknown = "unknown"

// GapEarlier is what became of a number whose ticket turned out to be on paper already, under the
// number that it had before the broker's store was restored.
const GapEarlier = "earlier"

// Gap is an earlier number of the station that has no paper there, told on the next ticket.
type Gap struct {
	Number string // "40"
	What   string // moved, cancelled, dead or earlier
	To     string // where it went, "" unless moved
}

// ParseGaps reads "40:moved:bar,39:cancelled"; "" is none. Errors wrap [ErrClaims].
func ParseGaps(s string) ([]Gap, error) {
	if s == "" {
		return nil, nil
	}
	var gaps []Gap
	for one := range strings.SplitSeq(s, ",") {
		parts := strings.Split(one, ":")
		if len(parts) < 2 || len(parts) > 3 || !isToken(parts[0]) || !isToken(parts[1]) ||
			len(parts) == 3 && !isToken(parts[2]) || len(gaps) == gapsMax {
			return nil, fmt.Errorf("%w: gaps: want at most %d of <number>:<what>[:<where>]",
				ErrClaims, gapsMax)
		}
		g := Gap{Number: parts[0], What: parts[1]}
		if len(parts) == 3 {
			g.To = parts[2]
		}
		gaps = append(gaps, g)
	}
	return gaps, nil
}

// FormatGaps writes what [ParseGaps] reads. Where there are more than 32 it keeps the first 32.
func FormatGaps(gaps []Gap) string {
	var b strings.Builder
	for i, g := range gaps[:min(len(gaps), gapsMax)] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(g.Number + ":" + g.What)
		if g.To != "" {
			b.WriteString(":" + g.To)
		}
	}
	return b.String()
}

// Known tells whether m is one of the marks of wire version 1. A device prints an unknown one as
// its word: a mark left out could make a duplicate look like an order.
func (m Mark) Known() bool {
	return m == MarkReprint || m == MarkPossibleDuplicate || m == MarkMoved || m == MarkLate
}

func parseMarks(s string) []Mark {
	if s == "" {
		return nil
	}
	var marks []Mark
	for one := range strings.SplitSeq(s, ",") {
		marks = append(marks, Mark(one))
	}
	return marks
}

func formatMarks(marks []Mark) string {
	words := make([]string, len(marks))
	for i, m := range marks {
		words[i] = string(m)
	}
	return strings.Join(words, ",")
}

// isToken tells whether s is 1-64 of [A-Za-z0-9._-]: numbers, words and names inside attributes.
func isToken(s string) bool { return checkChars("token", s, "._-") == nil }

func areMarks(s string) bool {
	marks := parseMarks(s)
	if len(marks) > 16 {
		return false
	}
	for _, m := range marks {
		if !isToken(string(m)) {
			return false
		}
	}
	return true
}

func areGaps(s string) bool {
	_, err := ParseGaps(s)
	return err == nil
}

// stationsMax bounds what alsoat names.
const stationsMax = 32

func areStations(s string) bool {
	if s == "" {
		return true
	}
	stations := strings.Split(s, ",")
	for _, one := range stations {
		if CheckID(one) != nil {
			return false
		}
	}
	return len(stations) <= stationsMax
}
