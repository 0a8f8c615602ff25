package delivery

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn reads the drawing in the comment of State.
func drawn(t *testing.T) map[string]bool {
	t.Helper()
	source, err := os.ReadFile("state.go")
	if err != nil {
		t.Fatal(err)
	}
	arrows := map[string]bool{}
	line := regexp.MustCompile(`(?m)^//\t(\w+) +--([\w,-]+?)--> +(\w+)`)
	for _, m := range line.FindAllStringSubmatch(string(source), -1) {
		for word := range strings.SplitSeq(m[2], ",") {
			arrows[fmt.Sprintf("%s --%s--> %s", strings.ToLower(m[1]), word, strings.ToLower(m[3]))] = true
		}
	}
	return arrows
}

func TestDrawingAndCodeAgree(t *testing.T) {
	coded := map[string]bool{}
	for word, arc := range arcs {
		for _, from := range arc.from {
			coded[fmt.Sprintf("%s --%s--> %s", from, word, arc.end(from))] = true
		}
	}
	pictured := drawn(t)
	for arrow := range coded {
		if !pictured[arrow] {
			t.Errorf("coded and not drawn: %s", arrow)
		}
	}
	for arrow := range pictured {
		if !coded[arrow] {
			t.Errorf("drawn and not coded: %s", arrow)
		}
	}
	// And every arrow is taken in some life.
	taken := map[string]bool{}
	recalledWhileStale(t, taken) // Which chance seldom tells.
	missing := func() (arrows []string) {
		for arrow := range coded {
			if !taken[arrow] {
				arrows = append(arrows, arrow)
			}
		}
		return arrows
	}
	for range 50 {
		rapid.Check(t, func(rt *rapid.T) { liveStale(rt, taken) })
		if rapid.Check(t, func(rt *rapid.T) { live(rt, taken) }); len(missing()) == 0 {
			return
		}
	}
	t.Errorf("never taken: %v", missing())
}
