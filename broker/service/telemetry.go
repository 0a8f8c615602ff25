package service

import (
	"maps"
	"slices"

	"chit/broker/delivery"
	"chit/broker/intake"
)

// tries shows every attempt that is kept.
func tries(d delivery.Delivery) []intake.Try {
	var out []intake.Try
	for _, t := range d.Tries {
		v := intake.Try{Attempt: t.Attempt, At: t.At, LeaseUntil: t.Until, Device: t.Device,
			Address: t.Address, Printer: t.Printer, Session: t.Session, Boot: t.Boot, Status: t.Status,
			Error: t.Error, Counted: t.Counted, PauseMS: t.Pause.Milliseconds()}
		for _, mark := range t.Marks {
			v.Marks = append(v.Marks, string(mark))
		}
		if !t.Ended.IsZero() {
			v.EndedAt = &t.Ended
		}
		out = append(out, v)
	}
	return out
}

// waits shows the deferrals by reason.
func waits(d delivery.Delivery) []intake.Wait {
	var out []intake.Wait
	for _, reason := range slices.Sorted(maps.Keys(d.Deferrals)) {
		w := d.Deferrals[reason]
		out = append(out, intake.Wait{Reason: reason, Count: w.Count, FirstAt: w.First,
			LastAt: w.Last})
	}
	return out
}
