package relay

import (
	"cmp"
	"slices"
	"testing"
)

// place is a member of a queue.
type place struct{ n, at int }

func TestAWalkThroughAQueueVisitsEachMemberOnceAndEnds(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes func(n int) bool // whether the visit takes n out
		most  int
		want  []int // visited
		left  []int
	}{
		{"taken out", func(int) bool { return true }, 9, []int{1, 2, 3, 4}, nil},
		{"left in", func(int) bool { return false }, 9, []int{1, 2, 3, 4}, []int{1, 2, 3, 4}},
		{"some of both", func(n int) bool { return n%2 == 0 }, 9, []int{1, 2, 3, 4}, []int{1, 3}},
		{"no room", func(int) bool { return false }, 2, []int{1, 2}, []int{1, 2, 3, 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := queue[*place]{compare: func(a, b *place) int { return cmp.Compare(a.n, b.n) },
				place: func(p *place) *int { return &p.at }}
			for _, n := range []int{3, 1, 4, 2} {
				q.put(&place{n: n})
			}
			var visited []int
			q.each(func(p *place) bool {
				if test.takes(p.n) {
					q.drop(p)
				}
				visited = append(visited, p.n)
				return len(visited) < test.most
			})
			var left []int
			for p, ok := q.first(); ok; p, ok = q.first() {
				q.drop(p)
				left = append(left, p.n)
			}
			if !slices.Equal(visited, test.want) || !slices.Equal(left, test.left) {
				t.Errorf("visited %v, left %v, want %v and %v", visited, left, test.want, test.left)
			}
		})
	}
}
