package intake

import (
	"strings"
	"testing"
)

func TestProblemsAreWrittenForPeopleToo(t *testing.T) {
	d, _ := newDoor(t)
	w := call(d, "POST", "/v1/tickets", `{}`)
	if body := w.Body.String(); !strings.Contains(body, `"<order>/<seq>: `) {
		t.Errorf("got %s, want what an id looks like as it is written", body)
	}
}
