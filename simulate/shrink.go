package simulate

import (
	"slices"
	"strings"
	"time"
)

// Small is a story in which the same promise breaks with fewer parts.
type Small struct {
	Plan   Plan
	Result Result
	// Runs is how many stories were told to find it.
	Runs int
}

// runsMax bounds a shrinking.
const runsMax = 400

// Shrink leaves parts of a broken story out, faults first, for as long as the same promise breaks,
// and tells what is left.
func Shrink(o Options, broken Result) Small {
	s := shrinker{options: o, rule: ruleOf(broken)}
	s.options.Tell = false
	plan := NewPlan(o)
	if s.rule != "" {
		plan = s.until(plan, broken)
		plan.Faults = leave(plan.Faults, func(rest []Fault) bool {
			p := plan
			p.Faults = rest
			return s.breaks(p)
		})
		plan.Posts = leave(plan.Posts, func(rest []Post) bool {
			p := plan
			p.Posts = rest
			return s.breaks(p)
		})
		plan.Faults = leave(plan.Faults, func(rest []Fault) bool {
			p := plan
			p.Faults = rest
			return s.breaks(p)
		})
		plan.Pushes = leave(plan.Pushes, func(rest []Push) bool {
			p := plan
			p.Pushes = rest
			return s.breaks(p)
		})
	}
	s.options.Tell = true
	return Small{Plan: plan, Result: Tell(s.options, plan), Runs: s.runs}
}

type shrinker struct {
	options Options
	rule    string
	runs    int
}

// ruleOf is the promise that broke first.
func ruleOf(r Result) string {
	if len(r.Violations) == 0 {
		return ""
	}
	return r.Violations[0].Rule
}

func (s *shrinker) breaks(p Plan) bool {
	if s.runs >= runsMax {
		return false
	}
	s.runs++
	return ruleOf(Tell(s.options, p)) == s.rule
}

// until leaves out all that was planned for after the promise had broken.
func (s *shrinker) until(p Plan, broken Result) Plan {
	end := broken.Violations[0].At + time.Second
	short := p
	short.Faults = slices.DeleteFunc(slices.Clone(p.Faults), func(f Fault) bool { return f.At > end })
	short.Pushes = slices.DeleteFunc(slices.Clone(p.Pushes), func(q Push) bool { return q.At > end })
	short.Posts = slices.DeleteFunc(slices.Clone(p.Posts), func(q Post) bool { return q.At > end })
	if s.breaks(short) {
		return short
	}
	return p
}

// leave takes out of list as much as it can while holds is true of the rest: halves, then quarters,
// and so on down to single ones (delta debugging).
func leave[T any](list []T, holds func([]T) bool) []T {
	for size := max(1, len(list)/2); len(list) > 0; size /= 2 {
		for at := 0; at < len(list); {
			end := min(len(list), at+size)
			rest := slices.Concat(list[:at:at], list[end:])
			if holds(rest) {
				list = rest
				continue
			}
			at = end
		}
		if size <= 1 {
			break
		}
	}
	return list
}

// linesMax is how much of a story's end is told.
const linesMax = 60

// String tells the small story: what was done, and its last lines.
func (s Small) String() string {
	var b strings.Builder
	for _, v := range s.Result.Violations {
		b.WriteString(v.String() + "\n")
	}
	b.WriteString("What it takes:\n")
	for _, p := range s.Plan.Posts {
		b.WriteString("  " + p.String() + "\n")
	}
	for _, p := range s.Plan.Pushes {
		b.WriteString("  " + p.String() + "\n")
	}
	for _, f := range s.Plan.Faults {
		b.WriteString("  " + f.String() + "\n")
	}
	lines := s.Result.Story
	broke := func(line string) bool { return strings.Contains(line, "BROKEN") }
	if i := slices.IndexFunc(lines, broke); i >= 0 {
		lines = lines[:i+1]
	}
	b.WriteString("What happens:\n")
	for _, line := range lines[max(0, len(lines)-linesMax):] {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}
