package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"chit/broker/alarm"
	"chit/broker/alert"
	"chit/broker/entity"
	"chit/broker/intake"
)

// alarms answers the door about alarms.
type alarms struct{ s *Service }

var _ intake.Alarms = alarms{}

// openAlert makes watch and ladder; the desk is named later.
func (s *Service) openAlert() error {
	places, err := s.kitchens.places()
	if err != nil {
		return err
	}
	if s.destinations, err = s.conf.destinations(s.clock.Now); err != nil {
		return err
	}
	s.alert = alert.New(alert.Config{Store: s.store, Places: places, Destinations: s.destinations,
		Devices: s.memories, Now: s.clock.Now, Log: s.log})
	return nil
}

// effects gives what the desk has made durable to those who act on it.
func (s *Service) effects(effects []entity.Effect) {
	s.relay.Effects(effects)
	s.alert.Effects(effects)
	s.rhythms.effects(effects)
}

// memories says of every connected device whether it can remember.
func (s *Service) memories() []alert.Memory {
	var out []alert.Memory
	for _, d := range s.relay.Devices() {
		if d.Present {
			out = append(out, alert.Memory{Tenant: d.Tenant, Device: d.Device,
				Degraded: d.Status.Degraded})
		}
	}
	return out
}

// Alarms implements [intake.Alarms].
func (a alarms) Alarms(_ context.Context, tenant, state string) ([]intake.Alarm, error) {
	const page = 256
	var out []intake.Alarm
	var after entity.Key
	for {
		found, err := a.s.store.Scan(tenant, alarm.Kind, after, page)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			after = one.Key
			decoded, err := alarm.Decode(one.Key, one.Data)
			if err != nil {
				return nil, err
			}
			if wanted(decoded.State, state) {
				out = append(out, a.view(decoded))
			}
		}
		if len(found) < page {
			break
		}
	}
	slices.SortFunc(out, func(x, y intake.Alarm) int {
		if by := y.RaisedAt.Compare(x.RaisedAt); by != 0 {
			return by
		}
		return strings.Compare(x.ID, y.ID)
	})
	return out, nil
}

func wanted(is alarm.State, state string) bool {
	return state == "all" || state == string(is) || state == "open" && is.Open()
}

// Alarm implements [intake.Alarms].
func (a alarms) Alarm(_ context.Context, tenant, id string) (intake.Alarm, error) {
	found, version, err := alarm.Load(a.s.store, tenant, id)
	switch {
	case err != nil && !errors.Is(err, entity.ErrKey):
		return intake.Alarm{}, err
	case err != nil || version == 0:
		return intake.Alarm{}, fmt.Errorf("%w: no such alarm", intake.ErrNotFound)
	}
	return a.view(found), nil
}

// Acknowledge implements [intake.Alarms].
func (a alarms) Acknowledge(ctx context.Context, tenant, id, who, why string) (
	intake.Alarm, error) {
	if _, err := a.Alarm(ctx, tenant, id); err != nil {
		return intake.Alarm{}, err
	}
	answer, err := a.s.desk.Do(ctx, alarm.Acknowledge{Tenant: tenant, Cause: id, Who: who,
		Reason: why})
	if err != nil {
		return intake.Alarm{}, forDoor(err)
	}
	var result alarm.Result
	if err := json.Unmarshal(answer.Data, &result); err != nil {
		return intake.Alarm{}, fmt.Errorf("reading the answer of an acknowledgement: %w", err)
	}
	return a.Alarm(ctx, tenant, id)
}

// testMax is how long a test waits for the slowest destination: less than the door's own bound.
const testMax = 20 * time.Second

// Test implements [intake.Alarms].
func (a alarms) Test(ctx context.Context, tenant string, level int) ([]intake.AlarmTest, error) {
	id := make([]byte, 12)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("naming a test: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, testMax)
	defer cancel()
	var chosen []alert.Destination
	for _, d := range a.s.destinations {
		if d.Tenant == tenant && (level == 0 || d.Level == level) {
			chosen = append(chosen, d)
		}
	}
	out := make([]intake.AlarmTest, len(chosen))
	var group sync.WaitGroup
	for i, d := range chosen {
		group.Go(func() {
			begin := time.Now()
			err := d.Sender.Send(ctx, alert.NewTest("test_"+hex.EncodeToString(id), d,
				a.s.clock.Now()))
			out[i] = intake.AlarmTest{Destination: d.Name, Level: d.Level, OK: err == nil,
				TookMS: time.Since(begin).Milliseconds()}
			if err != nil {
				out[i].Error = err.Error()
			}
		})
	}
	group.Wait()
	return out, nil
}

// view is an alarm with what is true now: its stored text is of when it was last told.
func (a alarms) view(stored alarm.Alarm) intake.Alarm {
	v := alarmView(stored)
	if stored.State != alarm.Raised && stored.State != alarm.Taken ||
		stored.Cause != alarm.CauseLate+"/"+stored.Station {
		return v
	}
	if count, text, ok := a.s.alert.LateNow(stored.Tenant, stored.Station); ok {
		v.Count, v.Text = count, text
	}
	return v
}

func alarmView(a alarm.Alarm) intake.Alarm {
	v := intake.Alarm{ID: a.Cause, State: string(a.State), Severity: string(a.Severity),
		Kitchen: a.Kitchen, Station: a.Station, Device: a.Device, Count: a.Count, Text: a.Text,
		Episode: a.Episode, Level: a.Level, RaisedAt: a.Raised, Tries: []intake.AlarmTry{},
		Timeline: []intake.AlarmMoment{}}
	if a.State == alarm.Raised && !a.Next.IsZero() {
		v.NextAt = &a.Next
	}
	if !a.Cleared.IsZero() {
		v.ClearedAt = &a.Cleared
	}
	if k := a.Acknowledged; k != nil {
		v.Acknowledged = &intake.Acknowledged{At: k.At, Who: k.Who, Reason: k.Reason}
	}
	for _, t := range a.Tries {
		v.Tries = append(v.Tries, intake.AlarmTry{At: t.At, Message: a.NoteID(t.Note), Level: t.Level,
			Destination: t.Destination, Outcome: string(t.Outcome), Error: t.Error})
	}
	for _, m := range a.Timeline {
		v.Timeline = append(v.Timeline, intake.AlarmMoment{At: m.At, What: string(m.What),
			Severity: string(m.Severity), Level: m.Level, Count: m.Count, Who: m.Who,
			Reason: m.Reason})
	}
	return v
}
