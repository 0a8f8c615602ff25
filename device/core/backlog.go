package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/device/wire"
	"chit/printer/session"
)

// Bounds of the backlog slip. Its times are lived ones.
const (
	// BacklogGather is how long a first stale ticket waits for others to be on the same slip.
	BacklogGather = 5 * time.Second
	// BacklogEvery is the shortest pause between two backlog slips of one printer.
	BacklogEvery = 10 * time.Minute
	// BacklogWord is how long a press of the button is told to the broker again: older, it is no
	// longer known whether the cook still wants what the slip listed.
	BacklogWord = 10 * time.Minute
)

// Waiting is one line of the backlog slip.
type Waiting struct {
	ID, Number string
	// Order is what the order is called across the kitchen.
	Order string
	// Age counts from the order's release where the time is known, else from its arrival here.
	Age time.Duration
}

// backlog is what the people at one printer were told of stale tickets. It is a setting of the
// journal: a slip is not printed again after every start, and an answer is not forgotten by one.
type backlog struct {
	// Lists are the tickets that are stale at the broker, by station.
	Lists map[string]*backlogList `json:"lists,omitempty"`
	// Told are the ids that a slip has listed, Telling those of the slip whose intent is open.
	Told    []string `json:"told,omitempty"`
	Telling []string `json:"telling,omitempty"`
	// At is when the last slip came out, 0 for never.
	At time.Duration `json:"at_ns,omitempty"`

	news time.Duration // since when there is something that no slip has listed; 0 = there is not
}

// backlogList is what one command listed.
type backlogList struct {
	Command string             `json:"command"`
	Lines   []wire.BacklogLine `json:"lines"`
	// Born is when the ages of the lines were true, Answered when the button was pressed, 0 = not.
	Born     time.Duration `json:"born_ns"`
	Answered time.Duration `json:"answered_ns,omitempty"`
	// over is true once a newer session has begun: the broker tells what is still so.
	over bool
}

// BacklogKey is the setting under which a printer's backlog is remembered, as JSON.
func BacklogKey(printer string) string { return "backlog/" + printer }

func decodeBacklog(b []byte) (known backlog) {
	if len(b) == 0 || json.Unmarshal(b, &known) != nil {
		return backlog{} // The slip is advice: at worst it comes once more.
	}
	return known
}

func (s *step) saveBacklog(p *printer) {
	b, err := json.Marshal(p.backlog)
	if err != nil {
		panic("core: a backlog has no JSON form: " + err.Error()) // Plain fields only.
	}
	s.write(PutSetting{Key: BacklogKey(p.name), Value: b})
}

// forget makes a ticket that becomes stale again news.
func (b *backlog) forget(id string) {
	gone := func(told string) bool { return told == id }
	b.Told = slices.DeleteFunc(slices.Clone(b.Told), gone)
}

// staleAt are the stale tickets of a printer, by arrival.
func (m *Machine) staleAt(p *printer) []*ticket {
	var list []*ticket
	for _, t := range m.stale {
		if t.Printer == p.name && t.State == Stale {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *ticket) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return list
}

// listed is what a backlog slip of p would say now: what waits here, then what waits at the broker
// and is not here.
func (s *step) listed(p *printer) []Waiting {
	var lines []Waiting
	for _, t := range s.staleAt(p) {
		lines = append(lines, s.line1(t))
	}
	for _, station := range slices.Sorted(maps.Keys(p.backlog.Lists)) {
		list := p.backlog.Lists[station]
		for _, l := range list.Lines {
			if !list.over && s.byID[l.ID] == nil {
				age := time.Duration(l.Age)*time.Millisecond + s.lived - list.Born
				lines = append(lines, Waiting{l.ID, l.Number, l.Order, age})
			}
		}
	}
	return lines
}

// line1 is one stale ticket as the slip shows it.
func (s *step) line1(t *ticket) Waiting {
	w := Waiting{ID: t.ID, Number: t.event.Number}
	if id, err := wire.ParseTicketID(t.ID); err == nil {
		w.Order = id.Order
	}
	from := int64(0)
	if at, err := time.Parse(time.RFC3339, t.event.Time); err == nil {
		from = at.UnixMilli()
	}
	if c, err := wire.ParseContent(t.event.Data); err == nil {
		w.Order = cmp.Or(c.Order, w.Order)
		if at, err := time.Parse(time.RFC3339, c.ReleaseAt); err == nil {
			from = max(from, at.UnixMilli())
		}
	}
	if host := s.host(); host != 0 && from != 0 {
		w.Age = time.Duration(max(host-from, 0)) * time.Millisecond
	} else {
		w.Age = s.lived - t.Stored
	}
	return w
}

// watchBacklog notes since when a printer's slip would say something new.
func (s *step) watchBacklog(p *printer) {
	b := &p.backlog
	if len(s.stale) == 0 && len(b.Lists) == 0 || !s.untold(p) {
		b.news = 0
		return
	}
	if b.news == 0 {
		b.news = max(s.lived, 1)
	}
}

// untold reports whether there is a line that no slip of p has shown. It is asked at every step.
func (s *step) untold(p *printer) bool {
	told := make(map[string]bool, len(p.backlog.Told))
	for _, id := range p.backlog.Told {
		told[id] = true
	}
	for _, t := range s.stale {
		if t.Printer == p.name && !told[t.ID] {
			return true
		}
	}
	for _, list := range p.backlog.Lists {
		for _, l := range list.Lines {
			if !list.over && s.byID[l.ID] == nil && !told[l.ID] {
				return true
			}
		}
	}
	return false
}

// dueAt is when the next slip may print, in lived time; false where it would say nothing new.
func (b *backlog) dueAt() (time.Duration, bool) {
	if b.news == 0 {
		return 0, false
	}
	at := b.news + BacklogGather
	if b.At != 0 {
		at = max(at, b.At+BacklogEvery)
	}
	return at, true
}

func (s *step) backlogDue(p *printer) bool {
	at, news := p.backlog.dueAt()
	return news && s.lived >= at && s.untold(p)
}

// backlogSlip lists the stale tickets on paper. One that cannot be encoded counts as told: it is
// advice, and the next is due when there is more to say.
func (s *step) backlogSlip(p *printer) {
	b := &p.backlog
	lines := s.listed(p)
	ids := make([]string, 0, len(lines))
	for _, l := range lines {
		ids = append(ids, l.ID)
	}
	paper, err := s.encodeSlip(p, SlipBacklog, Sheet{Printer: p.name, Backlog: lines})
	b.Telling = ids
	if err != nil {
		s.backlogTold(p)
		return
	}
	s.saveBacklog(p)
	s.start(p, Intent{Slip: SlipBacklog}, session.Job{Paper: paper}, "")
}

// backlogTold says that the slip whose intent was open is on paper.
func (s *step) backlogTold(p *printer) {
	b := &p.backlog
	b.Told, b.Telling, b.At, b.news = b.Telling, nil, max(s.lived, 1), 0
	s.saveBacklog(p)
}

// backlogCommand takes the list of a station's tickets that are stale at the broker. The answer is
// a person's, and follows when one is given.
func (s *step) backlogCommand(c wire.Command, p *printer) {
	var lines []wire.BacklogLine
	if err := json.Unmarshal([]byte(c.Args["tickets"]), &lines); err != nil {
		s.reply(c.ID, fmt.Errorf("tickets: %w, expected a JSON list", err), nil)
		return
	}
	b := &p.backlog
	lists := maps.Clone(b.Lists)
	if lists == nil {
		lists = map[string]*backlogList{}
	}
	was := cmp.Or(lists[c.Args["station"]], &backlogList{})
	lists[c.Args["station"]] = &backlogList{Command: c.ID, Lines: lines, Born: s.lived}
	if len(lines) == 0 {
		delete(lists, c.Args["station"])
	}
	b.Lists = lists
	// What left the list and comes back is news.
	for _, l := range was.Lines {
		gone := func(o wire.BacklogLine) bool { return o.ID == l.ID }
		if t := s.byID[l.ID]; !slices.ContainsFunc(lines, gone) && (t == nil || t.State != Stale) {
			b.forget(l.ID)
		}
	}
	s.saveBacklog(p)
}

// printBacklog is a person's word that everything that is stale shall print: what is here at once,
// what is at the broker when it has heard so.
func (s *step) printBacklog() (wanted int) {
	if !s.memory {
		return 0
	}
	ids := map[string]bool{}
	for _, p := range s.printers {
		for _, t := range s.staleAt(p) {
			ids[t.ID] = true
			s.approve(t)
		}
		if len(p.backlog.Lists) == 0 {
			continue
		}
		for _, list := range p.backlog.Lists {
			if !list.over {
				for _, l := range list.Lines {
					ids[l.ID] = list.Answered == 0 || ids[l.ID]
				}
				list.Answered = max(s.lived, 1)
			}
		}
		s.saveBacklog(p)
	}
	s.tellBacklogWord()
	for _, is := range ids {
		if is {
			wanted++
		}
	}
	return wanted
}

// newSession ends the lists of the one before.
func (s *step) newSession() {
	for _, p := range s.printers {
		for _, list := range p.backlog.Lists {
			list.over = true
		}
	}
}

// tellBacklogWord answers the commands whose lists a person has answered. It is said again at each
// welcome until the broker has another list, because a reply may be lost.
func (s *step) tellBacklogWord() {
	for _, p := range s.printers {
		for _, station := range slices.Sorted(maps.Keys(p.backlog.Lists)) {
			list := p.backlog.Lists[station]
			if list.Answered == 0 || s.lived-list.Answered > BacklogWord {
				continue
			}
			ids := make([]string, 0, len(list.Lines))
			for _, l := range list.Lines {
				ids = append(ids, l.ID)
			}
			s.reply(list.Command, nil, map[string]string{
				"answer": string(wire.OnStalePrint), "tickets": strings.Join(ids, ","),
			})
		}
	}
}

// backlogAnswer carries out what a person said elsewhere about tickets that are stale here.
func (s *step) backlogAnswer(c wire.Command) {
	answer := wire.OnStale(c.Args["answer"])
	if answer != wire.OnStalePrint && answer != wire.OnStaleDrop {
		s.reply(c.ID, fmt.Errorf("answer: found %q, expected print or drop", answer), nil)
		return
	}
	var done []string
	for id := range strings.SplitSeq(c.Args["tickets"], ",") {
		t := s.byID[id]
		if t == nil || t.State != Stale {
			continue
		}
		if answer == wire.OnStalePrint {
			s.approve(t)
		} else {
			s.giveUp(t, ReasonNotWanted)
		}
		done = append(done, id)
	}
	s.reply(c.ID, nil, map[string]string{
		"answer": string(answer), "tickets": strings.Join(done, ","),
	})
}

// errNoMemory refuses a command whose outcome could not be remembered.
var errNoMemory = errors.New("no memory: storage")
