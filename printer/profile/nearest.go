package profile

import (
	"slices"
	"strings"
)

const (
	// nearMax is how many near names an error shows, editsMax how many slips a near name may have.
	nearMax  = 4
	editsMax = 2
)

// nearest returns names that a person may have meant, the nearest first.
func nearest(name string) []string {
	type candidate struct {
		name  string
		edits int
	}
	asked := letters(name)
	if asked == "" {
		return nil
	}
	var found []candidate
	for _, m := range models() {
		known := letters(m.Name)
		n := edits(asked, known)
		for _, other := range []string{letters(m.Model), letters(m.Vendor + m.Model)} {
			n = min(n, edits(asked, other))
		}
		if n > editsMax && len(asked) >= 3 && strings.Contains(known, asked) {
			n = editsMax + 1 // A part of a name, after all slips.
		}
		if n <= editsMax+1 && n < len(asked) {
			found = append(found, candidate{m.Name, n})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.edits - b.edits })
	var names []string
	for _, c := range found[:min(len(found), nearMax)] {
		names = append(names, c.name)
	}
	return names
}

// letters leaves what people do not get wrong.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// edits counts the letters to add, drop or change (Levenshtein).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
