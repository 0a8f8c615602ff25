package service

import (
	"context"
	"math"
	"syscall"
	"time"

	"chit/broker/alarm"
	"chit/broker/alert"
	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/relay"
	"chit/device/wire"
	"chit/metrics"
)

// askMax is how long a scrape waits for the desk: a store that takes longer does not commit as far
// as a kitchen is concerned.
const askMax = 2 * time.Second

// measureSelf tells how the broker's own disk, clock and desk fare.
func (s *Service) measureSelf(add metrics.Add) {
	ctx, cancel := context.WithTimeout(context.Background(), askMax)
	defer cancel()
	_, err := s.desk.Do(ctx, nothing{})
	add(metrics.Gauge, "chit_desk_ready",
		"1 where a command asked at this scrape came through desk and store within 2 s.",
		number(err == nil))
	add(metrics.Gauge, "chit_clock_timestamp_seconds",
		"The broker's clock at this scrape, since the Unix epoch.",
		float64(s.clock.Now().UnixMilli())/1000)
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.conf.Data, &disk); err == nil {
		add(metrics.Gauge, "chit_store_disk_free_bytes", "Room left for the store.",
			float64(disk.Bavail)*float64(disk.Bsize))
	}
	if file, ok := s.store.(interface{ Size() (int64, error) }); ok {
		if size, err := file.Size(); err == nil {
			add(metrics.Gauge, "chit_store_size_bytes", "Size of the store's file.", float64(size))
		}
	}
	if jobs, err := s.store.Rows(delivery.ListJobs, "", entity.Row{}, deadPage); err == nil {
		add(metrics.Gauge, "chit_redrive_jobs", "Redrive jobs under way, 256 at most.",
			float64(len(jobs)))
	}
}

// measureStations tells of every station: its tickets, who serves it, and that device's printer.
// Only printers of the configuration have samples, and only the words of heldWords, so that no
// device can make series without end.
func (s *Service) measureStations(add metrics.Add, alarms alert.Snapshot) {
	type kitchenKey struct{ tenant, kitchen string }
	shown := map[kitchenKey]bool{}
	for _, st := range alarms.Stations {
		at := []string{"tenant", st.Tenant, "kitchen", st.Kitchen, "station", st.Station}
		add(metrics.Gauge, "chit_station_oldest_seconds",
			"Age of the oldest ticket without paper, from its release, a wish or the opening.",
			st.Oldest.Seconds(), at...)
		add(metrics.Gauge, "chit_station_open_tickets", "Tickets without paper.", float64(st.Open), at...)
		add(metrics.Gauge, "chit_station_dead_letters",
			"Tickets given up, until somebody redrives or discards them.", float64(st.Dead), at...)
		add(metrics.Gauge, "chit_station_unwanted_tickets",
			"Those of the dead letters that a person did not want printed: orders to refund.",
			float64(st.NotWanted), at...)
		add(metrics.Gauge, "chit_station_doubled_tickets",
			"Tickets that came out at two printers, for a day.",
			float64(alarms.Causes[alert.Cause{Tenant: st.Tenant, What: alarm.CauseDoubled,
				Name: st.Station}]), at...)
		if key := (kitchenKey{st.Tenant, st.Kitchen}); !shown[key] {
			shown[key] = true
			add(metrics.Gauge, "chit_kitchen_open", "1 during the kitchen's opening hours.",
				number(st.KitchenOpen), "tenant", st.Tenant, "kitchen", st.Kitchen)
		}
	}
	heard := map[string]relay.DeviceState{}
	for _, d := range s.relay.Devices() {
		heard[d.Device] = d
	}
	for _, p := range s.kitchens.byStation {
		device, _, _ := s.fleet.Serving(p.kitchen.Tenant, p.station.ID)
		at := []string{"tenant", p.kitchen.Tenant, "kitchen", p.kitchen.ID, "station", p.station.ID}
		d := heard[device]
		add(metrics.Gauge, "chit_station_served", "1 where the station's device has a session.",
			number(device != "" && d.Present), at...)
		if d.Present {
			measurePrinter(add, d.Status.Printers, p.station.Printer,
				append(at, "device", device, "printer", p.station.Printer))
		}
	}
}

// heldWords are the reasons of package session for a printer that cannot print.
var heldWords = map[string]bool{"absent": true, "silent": true, "paper_out": true,
	"cover_open": true, "cutter": true, "head_hot": true, "error": true, "offline": true}

func measurePrinter(add metrics.Add, printers []wire.PrinterStatus, name string, at []string) {
	for _, p := range printers {
		if p.Name != name {
			continue
		}
		reason := "none"
		switch {
		case heldWords[p.Held]:
			reason = p.Held
		case p.Held != "":
			reason = "other"
		}
		add(metrics.Gauge, "chit_printer_paper_low", "1 where the roll is near its end.",
			number(p.PaperLow), at...)
		add(metrics.Gauge, "chit_printer_held", "1 where the printer cannot print, and why.",
			number(p.Held != ""), append(at, "reason", reason)...)
		return
	}
}

// measureDevices tells of every paired device. What a device has not told is NaN, which no rule
// takes for a figure.
func (s *Service) measureDevices(add metrics.Add, alarms alert.Snapshot) {
	paired, err := s.fleet.Devices(context.Background(), "")
	if err != nil {
		return
	}
	heard := map[string]relay.DeviceState{}
	for _, d := range s.relay.Devices() {
		heard[d.Device] = d
	}
	for _, p := range paired {
		if p.Revoked != "" {
			continue
		}
		d, at := heard[p.ID], []string{"tenant", p.Tenant, "device", p.ID}
		copied := alarms.Causes[alert.Cause{Tenant: p.Tenant, What: alarm.CauseCopies, Name: p.ID}] > 0
		add(metrics.Gauge, "chit_device_present", "1 where the device has a session.",
			number(d.Present), at...)
		add(metrics.Gauge, "chit_device_degraded", "1 where the device cannot remember tickets.",
			number(d.Present && d.Status.Degraded != ""), at...)
		add(metrics.Gauge, "chit_device_copied",
			"1 for an hour after two devices were seen to use this identity.", number(copied), at...)
		t := d.Telemetry
		if t == nil || !d.Present {
			t = &wire.Telemetry{}
		}
		add(metrics.Gauge, "chit_device_disk_free_bytes", "Room left for the device's journal.",
			told(t.DiskFree, func(n uint64) float64 { return float64(n) }), at...)
		add(metrics.Gauge, "chit_device_clock_synced", "1 where the device's clock is set by others.",
			told(t.ClockSynced, number), at...)
		add(metrics.Gauge, "chit_device_under_voltage", "1 where the power supply is too weak.",
			told(t.UnderVoltage, number), at...)
		add(metrics.Gauge, "chit_device_temperature_celsius", "Temperature of the processor.",
			told(t.Temperature, func(c float64) float64 { return c }), at...)
	}
}

// measureAlarms tells of the broker's own alarms and of the messages about them.
func (s *Service) measureAlarms(add metrics.Add, alarms alert.Snapshot) {
	for _, tenant := range s.tenants() {
		for _, severity := range []alarm.Severity{alarm.P1, alarm.P2} {
			by := alert.TenantSeverity{Tenant: tenant, Severity: severity}
			at := []string{"tenant", tenant, "severity", string(severity)}
			add(metrics.Gauge, "chit_alarms", "Alarms whose cause lasts.",
				float64(alarms.Alarms[by]), at...)
			add(metrics.Gauge, "chit_alarms_unacknowledged",
				"Alarms whose cause lasts and that nobody has acknowledged.",
				float64(alarms.Unanswered[by]), at...)
		}
	}
	const help = "Tries to send a message about an alarm."
	for outcome, n := range map[string]uint64{"sent": alarms.Sent, "failed": alarms.Failed,
		"deferred": alarms.Deferred} {
		add(metrics.Counter, "chit_alarm_messages_total", help, float64(n), "outcome", outcome)
	}
	for name, state := range alarms.Breakers {
		add(metrics.Gauge, "chit_alarm_destination_up", "1 where messages go to the destination.",
			number(state == alarm.Closed), "tenant", name[0], "destination", name[1])
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// told is a hint as a sample; NaN where the device has not told it.
func told[T any](hint *T, sample func(T) float64) float64 {
	if hint == nil {
		return math.NaN()
	}
	return sample(*hint)
}
