package intake

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// strict refuses what a path's query does not know: a field that is misspelt would be taken for one
// that is absent, and choose too much. Every route goes through it.
func strict(known []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := checkQuery(r.URL.RawQuery, known); p != nil {
			p.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkQuery(raw string, known []string) *problem {
	query, err := url.ParseQuery(raw)
	if err != nil {
		p := invalid(field{"query", shorten(raw), "name=value pairs with & between, escaped as in a URL"})
		return &p
	}
	expected := "no query field"
	if len(known) > 0 {
		expected = "one of " + strings.Join(known, ", ")
	}
	var wrong []field
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			wrong = append(wrong, field{shorten(name), "an unknown query field", expected})
		case len(values) > 1:
			wrong = append(wrong, field{name, fmt.Sprintf("%d values", len(values)), "one"})
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.SortFunc(wrong, func(a, b field) int { return strings.Compare(a.Field, b.Field) })
	p := invalid(wrong...)
	return &p
}

// number reads a whole number of the query; absent it is otherwise.
func number(query url.Values, name string, otherwise, least, most uint64) (uint64, *field) {
	s := query.Get(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < least || n > most {
		return 0, &field{name, shorten(s), fmt.Sprintf("a whole number from %d to %d", least, most)}
	}
	return n, nil
}
