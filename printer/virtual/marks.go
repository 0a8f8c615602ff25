package virtual

// marks is the bounded memory of what went wrong and what happened.
type marks struct {
	errors, events []Mark
	more           int // what did not fit
}

func (l *marks) add(m Mark) {
	switch {
	case m.Kind == "error" && len(l.errors) < ErrorsMax:
		l.errors = append(l.errors, m)
	case m.Kind != "error" && len(l.events) < EventsMax:
		l.events = append(l.events, m)
	default:
		l.more++
	}
}

// note keeps a mark in the printer's own record and on the paper under the head.
func (p *Printer) note(kind, text string, offset int64) {
	m := Mark{Y: p.paper.head, At: p.moment(), Offset: offset, Kind: kind, Text: text}
	p.log.add(m)
	p.paper.mark(m)
}
