package intake

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of one page of dead letters or of stale tickets.
const (
	PageDefault = 100
	PageMax     = 1000
)

// Place is where a list of tickets goes on: behind the ticket of this instant and id. The zero
// Place is its beginning, or its end where there is no more.
type Place struct {
	At     time.Time
	Ticket string
}

// String is the place as programs hand it back: they need not know what is in it.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.At.UnixNano(), 10) + " " +
		p.Ticket))
}

// parsePlace reads what String wrote; ok is false for anything else.
func parsePlace(s string) (p Place, ok bool) {
	if s == "" {
		return Place{}, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return Place{}, false
	}
	at, ticket, _ := strings.Cut(string(raw), " ")
	nanos, err := strconv.ParseInt(at, 10, 64)
	if err != nil || ticket == "" || strings.ContainsRune(ticket, 0) {
		return Place{}, false
	}
	return Place{At: time.Unix(0, nanos).UTC(), Ticket: ticket}, true
}

// pageOf reads limit and after; where they are wrong, that is answered and ok false.
func pageOf(w http.ResponseWriter, r *http.Request) (after Place, limit int, ok bool) {
	query := r.URL.Query()
	var wrong []field
	n, bad := number(query, "limit", PageDefault, 1, PageMax)
	if bad != nil {
		wrong = append(wrong, *bad)
	}
	if after, ok = parsePlace(query.Get("after")); !ok {
		wrong = append(wrong, field{"after", shorten(query.Get("after")),
			"next of the answer before, as it was"})
	}
	if len(wrong) > 0 {
		invalid(wrong...).write(w)
		return Place{}, 0, false
	}
	return after, int(n), true
}

// answerPage answers one page of a list; next is left out of the last one.
func answerPage(w http.ResponseWriter, name string, list []Ticket, next Place) {
	if list == nil {
		list = []Ticket{}
	}
	page := map[string]any{name: list}
	if next != (Place{}) {
		page["next"] = next.String()
	}
	answer(w, http.StatusOK, page)
}
