package simulate

import (
	"fmt"
	"slices"
	"strings"

	"chit/device/wire"
	"chit/printer/virtual"
)

// trail is the papers of one ticket, whole or not, in the order in which they came out.
type trail struct {
	list             []paperOf
	whole            int
	marked, unmarked int // beyond the one that needs no mark
	copied           int // unmarked too, out of another machine with the same identity
}

// paperOf is one paper of a ticket, or a piece of one.
type paperOf struct {
	press            *press
	whole, duplicate bool
	at               int // place among all that came out at all printers
}

// on is true where something of the ticket came out at a device.
func (t *trail) on(d *device) bool {
	return slices.ContainsFunc(t.list, func(c paperOf) bool { return c.press.d == d })
}

// wholeAt is true where a whole one came out at a device.
func (t *trail) wholeAt(d *device) bool {
	return t != nil && slices.ContainsFunc(t.list, func(c paperOf) bool {
		return c.whole && c.press.d.id == d.id
	})
}

// unmarkedAny is true where one of them carries no mark.
func (t *trail) unmarkedAny() bool {
	return slices.ContainsFunc(t.list, func(c paperOf) bool { return !c.duplicate })
}

// copied is one ticket as a piece of paper shows it.
type copied struct {
	name      string // what stands largest on it
	ticket    string // at its foot; "" where the paper ends before
	whole     bool
	duplicate bool // POSSIBLE DUPLICATE stands above or below it
	older     bool // OLDER THAN stands above it
	void      bool // VOID stands on it
}

// read finds the tickets on a piece of paper. Two may hang together where a cut is missing.
func (j *judge) read(p *press, s virtual.Sheet) []copied {
	d := p.d
	var all []copied
	var now copied
	inside, skip, plain := false, false, false
	ends := func() {
		now.whole, skip = true, now.duplicate
		all = append(all, now)
		now, inside, plain = copied{}, false, false
	}
	for _, line := range s.Lines {
		var b strings.Builder
		size := 0
		for _, run := range line.Runs {
			b.WriteString(run.Text)
			size = max(size, run.Style.Width)
		}
		text := strings.TrimSpace(b.String())
		word, rest, _ := strings.Cut(text, " ")
		switch {
		case strings.Contains(text, " WAS "):
			j.notice(p, text)
		case text == "LAYOUT FAILED":
			if inside {
				all = append(all, now)
			}
			now, inside, skip, plain = copied{}, false, false, true
		case plain && word == "Ticket" && isFoot(rest):
			now.ticket = rest
		case plain && word == "Order" && isName(rest):
			now.name, inside = rest, true
		case plain && inside && strings.HasPrefix(text, j.lastLine(d, now.ticket)):
			ends()
		case strings.Contains(text, "DUPLICATE") && len(text) < 30:
			if skip {
				skip = false // The mark once more, below its ticket.
				continue
			}
			now.duplicate = true
		case text == "VOID":
			now.void = true
		case strings.Contains(text, "OLDER THAN"):
			now.older = true
		case !inside && size > 1 && isName(text):
			now.name, inside = text, true
		case inside && isFoot(text):
			now.ticket, _, _ = strings.Cut(text, " ")
			now.duplicate = now.duplicate || strings.Contains(text, "possible-dup")
			ends()
		case inside && size > 1 && isName(text) && text != now.name:
			all = append(all, now) // It broke off, and another began.
			now = copied{name: text}
		}
	}
	if inside {
		all = append(all, now)
	}
	return all
}

// lastLine is how the last line of a ticket begins that is laid out plainly.
func (j *judge) lastLine(d *device, ticket string) string {
	post := j.posted[d.tenant+"/"+ticket]
	switch n := len(post.Items); {
	case post.Kind == wire.KindNotice:
		return "Note "
	case n > 0:
		return fmt.Sprintf("%d %s", post.Items[n-1].Quantity, post.Items[n-1].Name)
	}
	return "Placed "
}

// isName tells "101.1g", as Post.Name writes it.
func isName(text string) bool {
	order, rest, ok := strings.Cut(text, ".")
	return ok && len(order) >= 3 && len(rest) >= 2 && len(text) < 10 &&
		strings.Trim(order, "0123456789") == "" && rest[0] >= '1' && rest[0] <= '9'
}

// isFoot tells "101/1@grill · attempt 2".
func isFoot(text string) bool {
	id, _, _ := strings.Cut(text, " ")
	_, err := wire.ParseTicketID(id)
	return err == nil
}

// sheet judges a finished piece of paper: no paper for what was never accepted (I2), no second one
// without a mark (I4), the mutations of an order in order (I6).
func (j *judge) sheet(p *press, s virtual.Sheet) {
	d := p.d
	for _, c := range j.read(p, s) {
		ticket, ok := j.names[d.tenant+"/"+c.name]
		j.pieces++
		j.w.note(d.kitchen, "paper of", p.name+":", c.name, c.ticket, c.whole, c.duplicate, c.older)
		id, err := wire.ParseTicketID(c.ticket)
		made := err == nil && id.Made != "" && j.accepted(d.tenant, c.ticket)
		if made { // The broker made it itself, of that name.
			ticket = c.ticket
		}
		if err == nil && c.void {
			j.voids[p] = append(j.voids[p], voidOf{id, j.pieces})
		}
		switch {
		case c.void && !c.whole && j.posted[d.tenant+"/"+ticket].Kind != wire.KindVoid,
			!c.whole && j.made[d.tenant+"/"+ticket]:
			continue // It broke off before its id, and is no paper of the ticket that it ends.
		case !ok || !j.accepted(d.tenant, ticket):
			j.broke("I2", d.kitchen, fmt.Sprintf("paper for %q, which was never accepted", c.name))
			continue
		case c.whole && c.ticket != ticket:
			j.broke("I2", d.kitchen, fmt.Sprintf("paper for %q carries the id %s", c.name, c.ticket))
		}
		j.counts(p, ticket, c)
	}
}

// counts takes in a paper of a ticket. Of several all but one carry a mark, over all printers; at
// one device the first may be the one.
func (j *judge) counts(p *press, ticket string, c copied) {
	d := p.d
	t := j.trail(d.tenant, ticket)
	j.surfaces(d, ticket)
	switch again := t.on(d); {
	case len(t.list) == 0:
		j.inOrder(d, ticket, c)
	case c.duplicate, !again && !t.unmarkedAny():
		t.marked++
	case j.w.copiedCard(d.tenant) && !again:
		t.copied++
	default:
		t.unmarked++
		j.broke("I4", d.kitchen, fmt.Sprintf("%s has a paper number %d without a mark", ticket,
			len(t.list)+1))
	}
	t.list = append(t.list, paperOf{p, c.whole, c.duplicate, j.pieces})
	if c.whole {
		t.whole++
	}
}

func (j *judge) trail(tenant, ticket string) *trail {
	t := j.papers[tenant+"/"+ticket]
	if t == nil {
		t = &trail{}
		j.papers[tenant+"/"+ticket] = t
	}
	return t
}

// onPaper is true where the ticket is whole on paper, cut off or still hanging.
func (j *judge) onPaper(d *device, ticket string) bool {
	if j.papers[d.tenant+"/"+ticket].wholeAt(d) {
		return true
	}
	for _, p := range d.presses {
		for _, s := range append(p.machine.Sheets(), virtual.Sheet{}) {
			if !s.Blank() {
				j.sheet(p, s)
			}
		}
		if j.papers[d.tenant+"/"+ticket].wholeAt(d) {
			return true
		}
		for _, c := range j.read(p, p.machine.Pending()) {
			if c.ticket == ticket {
				return true
			}
		}
	}
	return false
}
