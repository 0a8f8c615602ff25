package alert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"chit/broker/alarm"
	"chit/broker/entity"
)

// Counters are an alert's counts since its start.
type Counters struct {
	Sent, Failed, Deferred uint64 // tries
}

// Snapshot is how stations and alarms stand, for metrics.
type Snapshot struct {
	Stations []alarm.StationState
	// Alarms counts those that are raised or acknowledged by tenant and severity, Unanswered those
	// of them that nobody has acknowledged.
	Alarms, Unanswered map[TenantSeverity]int
	// Causes are the same alarms one by one, with what each counts.
	Causes map[Cause]int
	// Breakers are those of the destinations, by tenant and name.
	Breakers map[[2]string]alarm.BreakerState
	Counters
}

// TenantSeverity is what alarms are counted by.
type TenantSeverity struct {
	Tenant   string
	Severity alarm.Severity
}

// Cause names what an alarm is about: What is one of alarm's causes, such as [alarm.CauseDoubled],
// Name the station, device or kitchen.
type Cause struct{ Tenant, What, Name string }

// Snapshot may be asked at any time.
func (a *Alert) Snapshot() Snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Snapshot{Stations: a.watch.Stations(a.now()), Alarms: map[TenantSeverity]int{},
		Unanswered: map[TenantSeverity]int{}, Breakers: map[[2]string]alarm.BreakerState{},
		Causes: map[Cause]int{}, Counters: a.counts}
	for _, one := range a.alarms {
		if one.State != alarm.Raised && one.State != alarm.Taken {
			continue
		}
		by := TenantSeverity{one.Tenant, one.Severity}
		s.Alarms[by]++
		if one.State == alarm.Raised {
			s.Unanswered[by]++
		}
		what, name, _ := strings.Cut(one.Cause, "/")
		s.Causes[Cause{one.Tenant, what, name}] = one.Count
	}
	for name, l := range a.lanes {
		s.Breakers[name] = l.breaker.State
		if l.breaker.State == "" {
			s.Breakers[name] = alarm.Closed
		}
	}
	return s
}

// changed takes in where an alarm stands.
func (a *Alert) changed(e alarm.Changed) {
	key := alarm.Key(e.Alarm.Tenant, e.Alarm.Cause)
	for _, what := range e.What {
		switch what {
		case alarm.Began, alarm.Worse, alarm.Again, alarm.Climbed:
			a.conf.Log.Warn("alarm", "tenant", e.Alarm.Tenant, "cause", e.Alarm.Cause,
				"what", string(what), "severity", string(e.Alarm.Severity), "level", e.Alarm.Level,
				"count", e.Alarm.Count)
		case alarm.Noticed, alarm.Ended:
			a.conf.Log.Info("alarm", "tenant", e.Alarm.Tenant, "cause", e.Alarm.Cause,
				"what", string(what))
		}
	}
	if !e.Alarm.State.Open() && e.Alarm.Owed.IsZero() {
		delete(a.alarms, key)
		delete(a.later, key)
		delete(a.dirty, key)
		return
	}
	a.alarms[key], a.dirty[key] = e.Alarm, true
}

// look does what an alarm needs now and says when to look again, zero for when something changes.
func (a *Alert) look(ctx context.Context, key entity.Key, now time.Time) (next time.Time) {
	one, ok := a.alarms[key]
	if !ok || a.stopped || a.clearing[key] > 0 {
		return time.Time{}
	}
	wait := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if due := one.Due(); !due.IsZero() && !now.Before(due) {
		a.once(key, "elapse", alarm.Elapse{Tenant: key.Tenant, Cause: key.ID})
	} else {
		wait(due)
	}
	sends, settled := one.Sends(a.levels[key.Tenant], now)
	for _, n := range settled {
		a.once(key, fmt.Sprint("settle/", n),
			alarm.Settle{Tenant: key.Tenant, Cause: key.ID, Note: n})
	}
	for _, s := range sends {
		wait(a.offer(ctx, key, one, s, now))
	}
	return next
}

// once asks the desk unless it is being asked already.
func (a *Alert) once(key entity.Key, what string, c entity.Command) {
	name := key.String() + "/" + what
	if a.asked[name] {
		return
	}
	a.asked[name] = true
	a.ask(c, func(a *Alert) {
		delete(a.asked, name)
		a.dirty[key] = true
	})
}

// offer sends s where its destination may be called now, and says when else.
func (a *Alert) offer(ctx context.Context, key entity.Key, one alarm.Alarm, s alarm.Send,
	now time.Time) time.Time {
	name := fmt.Sprint(key.String(), "/send/", s.Note.N, "/", s.Destination)
	l := a.lanes[[2]string{key.Tenant, s.Destination}]
	switch {
	case a.asked[name]:
		return time.Time{}
	case now.Before(s.At):
		return s.At
	case l.busy >= lanesMax:
		l.waiting[key] = true
		return time.Time{}
	}
	breaker, ok, at := l.breaker.Ask(now)
	l.breaker = breaker
	record := alarm.Record{Tenant: key.Tenant, Cause: key.ID, Note: s.Note.N,
		Destination: s.Destination}
	if !ok {
		a.counts.Deferred++
		record.Outcome, record.Error = alarm.Deferred, "breaker is open"
		record.Pause = at.Sub(now)
		a.once(key, fmt.Sprint("send/", s.Note.N, "/", s.Destination), record)
		return time.Time{}
	}
	a.asked[name] = true
	l.busy++
	message := newMessage(one, s.Note, l.Destination)
	tries := s.Note.Told[s.Destination].Tries
	a.sends.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, sendMax)
		defer cancel()
		err := l.Sender.Send(ctx, message)
		interrupted := err != nil && errors.Is(context.Cause(ctx), context.Canceled)
		a.inbox.Post(func(a *Alert) {
			if !interrupted { // The program ends: nothing is known, and the next start sends it again.
				a.sent(key, l, record, tries+1, err)
			}
		})
	})
	return time.Time{}
}

// sent judges a try and has it recorded.
func (a *Alert) sent(key entity.Key, l *lane, record alarm.Record, tries int, err error) {
	now := a.now()
	l.busy--
	maps.Copy(a.dirty, l.waiting)
	clear(l.waiting)
	switch {
	case err == nil:
		a.counts.Sent++
		record.Outcome, l.breaker = alarm.Sent, l.breaker.Succeeded()
		if l.failing {
			l.failing = false
			a.conf.Log.Info("alarm destination answers again", "tenant", l.Tenant, "name", l.Name)
		}
	default:
		a.counts.Failed++
		record.Outcome, record.Error = alarm.Failed, shorten(err.Error())
		if errors.Is(err, ErrRefused) {
			record.Outcome = alarm.Refused
		}
		record.Pause = alarm.Pause(tries, a.conf.Rand())
		l.breaker = l.breaker.Failed(now, a.conf.Rand())
		if !l.failing {
			l.failing = true
			a.conf.Log.Error("alarm not sent", "tenant", l.Tenant, "name", l.Name,
				"cause", key.ID, "error", record.Error)
		}
	}
	name := fmt.Sprint(key.String(), "/send/", record.Note, "/", record.Destination)
	a.ask(record, func(a *Alert) {
		delete(a.asked, name)
		a.dirty[key] = true
	})
}

// errorMax bounds what a stranger's error may fill of an alarm, in bytes.
const errorMax = 200

func shorten(s string) string {
	if len(s) > errorMax {
		return s[:errorMax] + "…"
	}
	return s
}

// Revoked forgets a device that may speak no more: that it cannot remember is nobody's trouble.
func (a *Alert) Revoked(tenant, device string) {
	a.inbox.Post(func(a *Alert) { a.watch.Memory(tenant, device, "", a.now()) })
}
