package core

import (
	"encoding/json"
	"slices"

	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// Bounds of what the paper says about tickets that went elsewhere.
const (
	// AboveMax is how many are named on one paper, and how many are remembered for one printer; the
	// rest is a number: "and 3 more".
	AboveMax = 10
	// AboveCarried is how many a ticket names before its own content; more get a slip of their own.
	AboveCarried = 3
)

// Above is a ticket that was taken back when its paper had begun or may exist: whoever finds that
// paper above the next one must know that it is not this printer's any more (DESIGN section 5,
// Failover). It is said with the first paper after it, until such a paper is out.
type Above struct {
	Arrival uint64
	Ticket  string // id
	Number  string // "" where it had none
	Reason  string // of the recall: moved, cancelled, dead
	MovedTo string // the station that makes it now, "" if nobody said
	// Torn is true where a piece of it may hang in the printer, uncut.
	Torn bool
}

// above are a printer's notices, as the journal keeps them: JSON in a setting of its own.
type above struct {
	Last uint64      `json:"last"` // the number of the newest notice
	List []aboveItem `json:"list"`
	More int         `json:"more"` // those beyond AboveMax
	// Token is of the newest paper that said notices, all up to the number Said.
	Token escpos.Token `json:"token"`
	Said  uint64       `json:"said"`
}

// aboveItem is one notice. It is open while nobody knows what became of the ticket's paper, and not
// said yet: where the ticket came out whole, or surely nothing did, there is nothing to ignore.
type aboveItem struct {
	N    uint64 `json:"n"`
	Open bool   `json:"open"`
	Above
}

// AboveKey is the setting under which a printer's notices are kept.
func AboveKey(printer string) string { return "above/" + printer }

func decodeAbove(b []byte) (a above) {
	if len(b) > 0 && json.Unmarshal(b, &a) != nil {
		return above{} // Advice: a printer must work without it.
	}
	return a
}

// putAbove writes the notices with this decision's commit.
func (s *step) putAbove(p *printer) {
	b, err := json.Marshal(p.above)
	if err != nil {
		panic("core: notices have no JSON form: " + err.Error()) // Plain fields only.
	}
	s.write(PutSetting{Key: AboveKey(p.name), Value: b})
}

// noteAbove remembers that t is taken back by r while its paper may exist. The notice is open until
// [step.settleAbove] or [step.dropAbove].
func (s *step) noteAbove(t *ticket, r wire.Recall) {
	p := s.home(t.Printer)
	a := Above{Arrival: t.Arrival, Ticket: t.ID, Number: t.event.Number, Reason: r.Reason,
		MovedTo: r.MovedTo, Torn: t.Torn}
	i := slices.IndexFunc(p.above.List, func(o aboveItem) bool { return o.Arrival == t.Arrival })
	if i >= 0 && r.Reason == recallDead {
		a.Reason, a.MovedTo = p.above.List[i].Reason, p.above.List[i].MovedTo // It stays elsewhere.
	}
	switch {
	case i >= 0 && p.above.List[i].Above == a && p.above.List[i].Open:
		return // Told again.
	case i >= 0:
		a.Torn = a.Torn || p.above.List[i].Torn
		p.above.List = slices.Delete(p.above.List, i, i+1)
	}
	p.above.Last++
	p.above.List = append(p.above.List, aboveItem{N: p.above.Last, Open: true, Above: a})
	s.boundAbove(p)
	s.putAbove(p)
}

// boundAbove counts the oldest notices instead of naming them. The open one stays: there is at most
// one, since it is the ticket at the printer.
func (s *step) boundAbove(p *printer) {
	for len(p.above.List) > AboveMax {
		oldest := slices.IndexFunc(p.above.List, func(o aboveItem) bool { return !o.Open })
		p.above.List = slices.Delete(p.above.List, oldest, oldest+1)
		p.above.More++
	}
}

// settleAbove ends the wait of an open notice: there may be paper to ignore, of which a piece may
// hang in the printer.
func (s *step) settleAbove(p *printer, arrival uint64, torn bool) {
	for i, o := range p.above.List {
		switch {
		case o.Arrival != arrival || !o.Open:
		case o.Reason == recallDead && !torn && !o.Torn:
			s.dropAbove(p, arrival) // A person decides about it, and its paper may be all there is.
			return
		default:
			p.above.List[i].Open, p.above.List[i].Torn = false, torn || o.Torn
			s.putAbove(p)
		}
	}
}

// The reasons of a recall that make a difference here.
const recallDead = "dead"

// dropAbove takes a notice back: there is no paper of that ticket, or it counts, or the ticket is
// wanted here again.
func (s *step) dropAbove(p *printer, arrival uint64) (torn bool) {
	kept := slices.DeleteFunc(slices.Clone(p.above.List), func(o aboveItem) bool {
		gone := o.Arrival == arrival
		torn = torn || gone && o.Torn
		return gone
	})
	if len(kept) != len(p.above.List) {
		p.above.List = kept
		s.putAbove(p)
	}
	return torn
}

// wantedAgain drops the notice of an id that is handed over anew. Its paper says by its own mark
// that another may exist, and closes first what hangs in the printer.
func (s *step) wantedAgain(t *ticket) {
	p := s.home(t.Printer)
	for _, o := range slices.Clone(p.above.List) {
		if o.Ticket == t.ID {
			t.Torn = s.dropAbove(p, o.Arrival) || t.Torn
		}
	}
}

// says is what the next paper must say, newest number last.
func (p *printer) says() (list []Above, last uint64, torn bool) {
	for _, o := range p.above.List {
		if !o.Open {
			list, last, torn = append(list, o.Above), max(last, o.N), torn || o.Torn
		}
	}
	if p.above.More > 0 {
		last = max(last, 1)
	}
	return list, last, torn
}

// slipAbove is true where the notices come on a slip of their own: no ticket is about to print,
// something hangs in the printer, or they are many. A ticket that hangs there itself is closed
// first.
func (p *printer) slipAbove() bool {
	list, last, torn := p.says()
	switch {
	case last == 0, len(p.queue) > 0 && p.queue[0].Torn:
		return false
	}
	return torn || len(list) > AboveCarried || p.above.More > 0 || len(p.queue) == 0 ||
		len(p.tests) > 0
}

// cutAbove notes that what hung in the printer of this ticket is cut off.
func (s *step) cutAbove(p *printer, arrival uint64) {
	for i, o := range p.above.List {
		if o.Arrival == arrival && o.Torn {
			p.above.List[i].Torn = false
			s.putAbove(p)
		}
	}
}

// told notes that the paper which was just handed over says all notices up to last.
func (s *step) told(p *printer, last uint64) {
	if last > 0 && p.job != nil {
		p.above.Token, p.above.Said = p.job.intent.Token, last
		s.putAbove(p)
	}
}

// heardAbove drops what the paper with this token has said, now that it is out.
func (s *step) heardAbove(p *printer, token escpos.Token) {
	if p.above.Said == 0 || p.above.Token != token {
		return
	}
	said := p.above.Said
	p.above.List = slices.DeleteFunc(slices.Clone(p.above.List), func(o aboveItem) bool {
		return !o.Open && o.N <= said
	})
	p.above.More, p.above.Said = 0, 0
	s.putAbove(p)
}

// giveUpAbove drops notices that cannot be laid out: they are advice, and the tickets are not.
func (s *step) giveUpAbove(p *printer) {
	p.above.List = slices.DeleteFunc(slices.Clone(p.above.List), func(o aboveItem) bool {
		return !o.Open
	})
	p.above.More = 0
	s.putAbove(p)
}

// takenBack ends a recalled ticket whose paper the printer was asked about and that did not come
// out whole for sure.
func (s *step) takenBack(p *printer, j *job, t *ticket, r session.Resolution) {
	if r.Untouched && !t.Marked {
		s.dropAbove(p, t.Arrival)
		s.end(t, wire.OutcomeRecalled, t.Recall)
		return
	}
	torn := r.Torn
	if counted := r.Counters.Known && j.intent.Before.Known &&
		j.intent.Fingerprint == p.state.Unit.Fingerprint; !counted {
		torn = torn || j.cleared // Nobody counts: a piece of it may hang there.
	}
	s.doubtful(t, torn)
}

// doubtful ends a ticket that was taken back and whose paper may exist: recalled would say that it
// does not. Should it be wanted again, that paper is marked.
func (s *step) doubtful(t *ticket, torn bool) {
	s.settleAbove(s.home(t.Printer), t.Arrival, torn)
	t.Marked, t.Torn = true, false
	s.end(t, wire.OutcomeRefused, "doubtful")
}

// takenBackBefore ends the tickets that an earlier program left in line after their recall, to be
// reprinted.
func (s *step) takenBackBefore() {
	for _, t := range s.byArrival() {
		if t.State != Received || t.Recall == "" || s.atPrinter(t) {
			continue
		}
		if !t.Marked {
			s.end(t, wire.OutcomeRecalled, t.Recall)
			continue
		}
		s.noteAbove(t, wire.Recall{ID: t.Recall})
		s.doubtful(t, t.Torn)
	}
}
