package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/store"
	"chit/device/wire"
)

// daysEvery is the pause between two looks for days that are over. A look reads the list of numbers
// only where a kitchen's day has changed since the one before.
const daysEvery = time.Minute

// days closes business days that are over: what became of their numbers is stored, and printed
// where the kitchen wants it. The list of numbers is its memory: what a restart interrupted is
// found there again.
type days struct {
	desk interface {
		Do(context.Context, entity.Command) (desk.Answer, error)
	}
	store    store.Store
	kitchens *kitchens
	now      func() time.Time
	log      *slog.Logger
	looked   map[string]string // tenant/station → its business day at the last whole look
}

var _ intake.Days = (*days)(nil)

// run works until ctx ends.
func (d *days) run(ctx context.Context) error {
	ticker := time.NewTicker(daysEvery)
	defer ticker.Stop()
	failing := ""
	for {
		err := d.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if said := fmt.Sprint(err); err != nil && said != failing {
			failing = said
			d.log.Warn("day is not closed yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// anywhere stands for the stations that are not configured among the days of those that are: their
// kitchen's clock is not known, so a day of theirs is over when it is over everywhere.
const anywhere = "*"

// today is each station's business day now.
func (d *days) today() map[string]string {
	last := time.FixedZone("", -12*60*60) // The last place on earth, and the latest day cut.
	today := map[string]string{
		anywhere: delivery.BusinessDay(d.now(), last, 24*time.Hour-time.Nanosecond)}
	for name, place := range d.kitchens.byStation {
		today[name] = place.day(d.now())
	}
	return today
}

func (p placed) day(now time.Time) string {
	cut := p.kitchen.DayCut
	if cut == 0 {
		cut = time.Nanosecond // Zero means the default to package delivery.
	}
	return delivery.BusinessDay(now, p.zone, cut)
}

// look closes what is over, oldest first.
func (d *days) look(ctx context.Context) error {
	today := d.today()
	if maps.Equal(today, d.looked) {
		return nil
	}
	tenants := map[string]bool{}
	for name := range d.kitchens.byStation {
		tenant, _, _ := strings.Cut(name, "/")
		tenants[tenant] = true
	}
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		list, err := delivery.Unclosed(d.store, tenant)
		if err != nil {
			return fmt.Errorf("reading numbers: %w", err)
		}
		open := byDay(list)
		for _, which := range slices.SortedFunc(maps.Keys(open), compareDays) {
			day, ok := today[tenant+"/"+which.station]
			if !ok {
				day = today[anywhere] // It may be missing for one start, by mistake.
			}
			if which.day >= day {
				continue
			}
			if err := d.close(ctx, tenant, which, open[which]); err != nil {
				return err
			}
		}
	}
	d.looked = today
	return nil
}

// stationDay names one day of one station.
type stationDay struct{ station, day string }

func compareDays(a, b stationDay) int {
	return strings.Compare(a.day+"/"+a.station, b.day+"/"+b.station)
}

func byDay(list []delivery.Numbered) map[stationDay][]delivery.Numbered {
	open := map[stationDay][]delivery.Numbered{}
	for _, n := range list {
		which := stationDay{n.Delivery.Station, n.Delivery.Day}
		open[which] = append(open[which], n)
	}
	return open
}

func summary(which stationDay, list []delivery.Numbered) (delivery.Day, []entity.Row) {
	var deliveries []delivery.Delivery
	var rows []entity.Row
	for _, n := range list {
		deliveries, rows = append(deliveries, n.Delivery), append(rows, n.Row)
	}
	return delivery.Summarize(which.station, which.day, deliveries), rows
}

// close makes the slip first: its id is the day's, so that a repetition makes no second one.
func (d *days) close(ctx context.Context, tenant string, which stationDay,
	list []delivery.Numbered) error {
	day, rows := summary(which, list)
	place, ok := d.kitchens.byStation[tenant+"/"+which.station]
	if ok && place.kitchen.DaySlip {
		if err := d.slip(ctx, tenant, place, day); err != nil {
			return err
		}
	}
	_, err := d.desk.Do(ctx, delivery.CloseDay{Tenant: tenant, Day: day, Rows: rows})
	if err != nil {
		return fmt.Errorf("closing %s of %s: %w", which.day, which.station, err)
	}
	d.log.Info("day closed", "tenant", tenant, "station", which.station, "day", which.day,
		"tickets", day.Count, "missing", len(day.Missing))
	return nil
}

// slip makes a notice of the day at its station.
func (d *days) slip(ctx context.Context, tenant string, place placed, day delivery.Day) error {
	generation, err := delivery.LoadGeneration(d.store, tenant)
	if err != nil {
		return fmt.Errorf("slip of %s: %w", day.Day, err)
	}
	order := dayOrder(day)
	if generation.Number > 1 {
		// The slip of the lost time, if there was one, is another and may be on paper.
		order += fmt.Sprintf(".g%d", generation.Number)
	}
	return d.notice(ctx, tenant, place, day, order)
}

// dayOrder names a day's notice. An order's id has 64 characters at most, a station's as well.
func dayOrder(day delivery.Day) string {
	station := day.Station
	if len(station) > 30 {
		sum := sha256.Sum256([]byte(station))
		station = station[:17] + "-" + hex.EncodeToString(sum[:6])
	}
	return "day-" + day.Day + "." + station
}

// notice prints the day at its station, once for each order.
func (d *days) notice(ctx context.Context, tenant string, place placed, day delivery.Day,
	order string) error {
	content := wire.Content{
		ID: order + "/1", Kitchen: place.kitchen.ID,
		Station: day.Station, Kind: wire.KindNotice, Note: day.Slip(),
	}
	data, err := wire.CanonicalContent(content)
	if err != nil {
		return fmt.Errorf("slip of %s: %w", day.Day, err)
	}
	_, err = d.desk.Do(ctx, delivery.Accept{Tenant: tenant, Content: content, Data: data})
	if errors.Is(err, delivery.ErrConflict) || errors.Is(err, desk.ErrConflict) {
		return nil // It was made before a restart; what changed since is in the stored day.
	}
	if err != nil {
		return fmt.Errorf("slip of %s: %w", day.Day, err)
	}
	return nil
}

// Days implements [intake.Days].
func (d *days) Days(_ context.Context, tenant, day, station string) ([]intake.Day, error) {
	list, err := d.told(tenant, day, station)
	var out []intake.Day
	for _, one := range list {
		out = append(out, dayView(one))
	}
	return out, err
}

// PrintDays implements [intake.Days]. Each request is a wish of its own: the instant is in the id.
func (d *days) PrintDays(ctx context.Context, tenant, day, station string) ([]intake.Slip, error) {
	list, err := d.told(tenant, day, station)
	if err != nil {
		return nil, err
	}
	var out []intake.Slip
	for _, one := range list {
		order := fmt.Sprintf("%s.%d", dayOrder(one), d.now().UnixMilli())
		place := d.kitchens.byStation[tenant+"/"+one.Station]
		if err := d.notice(ctx, tenant, place, one, order); err != nil {
			return nil, forDoor(err)
		}
		out = append(out, intake.Slip{Station: one.Station, Day: one.Day, ID: order + "/1"})
	}
	return out, nil
}

// told is a day of the tenant's stations, or of one.
func (d *days) told(tenant, day, station string) ([]delivery.Day, error) {
	stations := idsOf(d.kitchens.byStation, tenant)
	if station != "" {
		if err := d.kitchens.checkStation(tenant, "station", station); err != nil {
			return nil, err
		}
		stations = []string{station}
	}
	list, err := delivery.Unclosed(d.store, tenant)
	if err != nil {
		return nil, err
	}
	open := byDay(list)
	var out []delivery.Day
	for _, id := range stations {
		which := stationDay{id, day}
		switch place := d.kitchens.byStation[tenant+"/"+id]; day {
		case intake.Today:
			which.day = place.day(d.now())
		case intake.Yesterday:
			which.day = dayBefore(place.day(d.now()))
		}
		told, ok, err := delivery.LoadDay(d.store, tenant, id, which.day)
		if err != nil {
			return nil, err
		}
		if !ok {
			told, _ = summary(which, open[which])
		}
		out = append(out, told)
	}
	return out, nil
}

// dayBefore is the date before; a day is "2006-01-02".
func dayBefore(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic("service: a business day that is no date: " + day)
	}
	return at.AddDate(0, 0, -1).Format(time.DateOnly)
}

func dayView(d delivery.Day) intake.Day {
	view := intake.Day{
		Station: d.Station, Day: d.Day, First: d.First, Last: d.Last, Count: d.Count,
		Missing: []intake.Missing{}, Jumps: []intake.Jump{}, Voided: orNone(d.Voided),
		Voids:              orNone(d.Voids),
		PossibleDuplicates: orNone(d.PossibleDuplicates), Doubled: orNone(d.Doubled), Slip: d.Slip(),
	}
	if !d.Closed.IsZero() {
		view.ClosedAt = &d.Closed
	}
	for _, m := range d.Missing {
		view.Missing = append(view.Missing, intake.Missing(m))
	}
	for _, j := range d.Jumps {
		view.Jumps = append(view.Jumps, intake.Jump(j))
	}
	return view
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
