package delivery

import (
	"time"

	"chit/device/wire"
)

// naive is the machine's judge: the rules of DESIGN.md section 5 again, told as a few counters by
// somebody who knows nothing of events, tries and rows.
type naive struct {
	state     State
	failed    int
	attempt   int
	leaseEnd  time.Time
	stored    bool
	boot      int // of the lease, 0 for none to be judged
	windowEnd time.Time
	papers    map[string]bool // journals that printed
	device    string          // that has the lease, or had it last
	lost      bool            // that device has lost its memory since
	moved     bool            // the backup d2 has it
	moves     int
	// maybe holds, by device, the attempt up to which there may be paper; asked is the one up to
	// which a device has not answered its recall.
	maybe map[string]int
	asked map[string]int
	// stops holds the attempt up to which a device has said that it starts none any more.
	stops map[string]int
}

// over asks every device that may still print, once.
func (m *naive) over(but string) {
	for device, attempt := range m.maybe {
		if device != but && m.asked[device] == 0 && m.stops[device] < attempt {
			m.asked[device] = attempt
		}
	}
}

func (m *naive) dead() {
	m.state = Dead
	m.over("")
}

func (m *naive) fail(now time.Time) {
	m.state, m.boot = Waiting, 0
	m.failed++
	m.judge(now)
}

func (m *naive) judge(now time.Time) {
	if m.failed == 10 || !now.Before(m.windowEnd) {
		m.dead()
	}
}

func (m *naive) hand(now time.Time, boot int, device string) {
	if !now.Before(m.windowEnd) {
		m.dead()
		return
	}
	m.state, m.attempt, m.leaseEnd, m.stored, m.boot = Leased, m.attempt+1, now.Add(30*time.Second),
		false, boot
	m.device, m.lost, m.maybe[device] = device, false, m.attempt
	delete(m.asked, device)
}

// move takes the ticket from one device to the other.
func (m *naive) move(now time.Time, silent bool) {
	if m.state != Leased && m.state != Waiting && m.state != Parked || !now.Before(m.windowEnd) {
		return
	}
	if m.state == Leased && silent && !m.stored {
		if m.failed++; m.failed == 10 {
			m.dead()
			return
		}
	}
	m.state, m.boot, m.moved = Waiting, 0, !m.moved
	m.moves++
	m.over(map[bool]string{true: "d2", false: "d1"}[m.moved])
}

// recalled is a device's answer to the recall of an attempt.
func (m *naive) recalled(device string, attempt int, remembers bool) {
	if m.asked[device] != attempt {
		return
	}
	delete(m.asked, device)
	m.stops[device] = attempt
	if remembers {
		delete(m.maybe, device)
	}
}

func (m *naive) elapse(now time.Time) {
	switch {
	case m.state == Leased && !now.Before(m.leaseEnd) && m.stored:
		m.state, m.boot = Waiting, 0
		m.judge(now)
	case m.state == Leased && !now.Before(m.leaseEnd):
		m.fail(now)
	case (m.state == Waiting || m.state == Parked) && !now.Before(m.windowEnd):
		m.dead()
	}
}

func (m *naive) birth(now time.Time, boot int, device string) {
	switch {
	case m.state != Parked && m.state != Leased, m.state == Leased && m.device != device:
	case m.device != device:
		m.state, m.boot = Waiting, 0
		m.judge(now)
	case m.boot != 0 && (m.lost || m.boot != boot && !m.stored):
		m.fail(now)
	default:
		m.state, m.boot = Waiting, 0
		m.judge(now)
	}
}

func (m *naive) answer(now time.Time, a wire.Ack, current, remembers bool) {
	outcome, reason, permanent, journal := a.Outcome, a.Reason, a.Permanent, a.Journal
	ends := outcome == wire.OutcomeExpired || outcome == wire.OutcomeRefused && permanent
	switch {
	case outcome.OnPaper():
		m.papers[journal] = true
		delete(m.asked, a.Device)
		if m.state != Settled {
			m.over(a.Device)
		}
		m.state = Settled
		return
	case ends && m.asked[a.Device] == a.Attempt && remembers:
		m.recalled(a.Device, a.Attempt, false)
		return
	}
	if m.state != Leased || !current {
		return
	}
	switch {
	case outcome == wire.OutcomeStored || outcome == wire.OutcomeHeld:
		m.stored = true
		if end := now.Add(30 * time.Second); end.After(m.leaseEnd) {
			m.leaseEnd = end
			if end.After(m.windowEnd) {
				m.leaseEnd = m.windowEnd
			}
		}
	case ends:
		m.dead()
	case reason == "storage":
		m.state, m.boot = Waiting, 0
		m.judge(now)
	default:
		m.fail(now)
	}
}
