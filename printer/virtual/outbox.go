package virtual

import "time"

// answerKind orders and replaces what has not been sent yet.
type answerKind uint8

const (
	answerPlain answerKind = iota
	answerASB
	answerID // of GS ( H: a newer one replaces an older that is still unsent
)

type answer struct {
	kind  answerKind
	due   time.Time
	bytes []byte
}

// outbox holds what the printer wants to say and the client has not taken.
type outbox struct {
	waiting []answer
	size    int
	lost    int // bytes dropped because nobody read them
	delay   time.Duration
	silent  bool
	// left counts down to silence where counted is true.
	left    int
	counted bool
}

// say queues an answer made at the given time. heard is true where a client is there: then what is
// due counts as sent.
func (o *outbox) say(at time.Time, heard bool, kind answerKind, b []byte) {
	if o.counted && o.left == 0 {
		o.silent, o.counted = true, false
	}
	if o.silent {
		return
	}
	if o.counted {
		o.left--
	}
	if kind == answerID {
		// GS ( H: "if a newer ID becomes ready while an older one is unsent, only the newest is sent".
		for i, a := range o.waiting {
			if a.kind == answerID && (!heard || a.due.After(at)) {
				o.size -= len(a.bytes)
				o.waiting = append(o.waiting[:i:i], o.waiting[i+1:]...)
				break
			}
		}
	}
	o.waiting = append(o.waiting, answer{kind, at.Add(o.delay), b})
	o.size += len(b)
	for o.size > AnswerBytesMax {
		o.size -= len(o.waiting[0].bytes)
		o.lost += len(o.waiting[0].bytes)
		o.waiting = o.waiting[1:]
	}
}

// take removes what is due at now. Order is kept: an answer waits for those before it.
func (o *outbox) take(now time.Time) []byte {
	var out []byte
	for len(o.waiting) > 0 && !o.waiting[0].due.After(now) {
		out = append(out, o.waiting[0].bytes...)
		o.size -= len(o.waiting[0].bytes)
		o.waiting = o.waiting[1:]
	}
	return out
}

func (o *outbox) putBack(now time.Time, b []byte) {
	if o.size+len(b) > AnswerBytesMax {
		o.lost += len(b)
		return
	}
	o.waiting = append([]answer{{answerPlain, now, b}}, o.waiting...)
	o.size += len(b)
}

func (o *outbox) due() (time.Time, bool) {
	if len(o.waiting) == 0 {
		return time.Time{}, false
	}
	return o.waiting[0].due, true
}

func (o *outbox) clear() { o.waiting, o.size = nil, 0 }
