package service

import (
	"net/http"

	"chit/metrics"
)

// metrics serves the broker's counters (what was decided, carried, heard and refused) and how
// kitchens, devices and alarms stand. Every station, device and tenant always has its samples, so
// that a rule can tell a good figure from one that is missing.
func (s *Service) metrics() http.Handler {
	return metrics.Handler(func(add metrics.Add) {
		d := s.desk.Counters()
		add(metrics.Counter, "chit_desk_commands_total", "Commands decided.", float64(d.Commands))
		add(metrics.Counter, "chit_desk_refused_total", "Commands refused.", float64(d.Refused))
		add(metrics.Counter, "chit_desk_busy_total", "Commands turned away.", float64(d.Busy))
		add(metrics.Counter, "chit_store_batches_total", "Group commits.", float64(d.Batches))
		add(metrics.Counter, "chit_store_commits_total", "Commits made durable.", float64(d.Commits))
		add(metrics.Counter, "chit_store_flush_seconds_total", "Time spent flushing.",
			d.FlushSum.Seconds())
		add(metrics.Gauge, "chit_store_flush_max_seconds", "Longest flush.", d.FlushMax.Seconds())
		add(metrics.Gauge, "chit_desk_queue", "Commands waiting for a decision.", float64(d.Queue))

		r := s.relay.Counters()
		add(metrics.Counter, "chit_tickets_sent_total", "Tickets published.", float64(r.Sent))
		add(metrics.Counter, "chit_tickets_unsent_total", "Publishes that failed.", float64(r.Unsent))
		add(metrics.Gauge, "chit_devices_present", "Devices with a session.", float64(r.Present))
		add(metrics.Counter, "chit_device_copies_total",
			"Hellos that showed two devices with one identity.", float64(r.Copies))
		add(metrics.Gauge, "chit_deliveries_open", "Deliveries still owed.", float64(r.Open))
		add(metrics.Gauge, "chit_deliveries_leased", "Deliveries handed over.", float64(r.Leased))
		for outcome, n := range r.Acks {
			add(metrics.Counter, "chit_acks_total", "Acks that counted.", float64(n), "outcome", outcome)
		}
		for reason, n := range r.BadAcks {
			add(metrics.Counter, "chit_bad_acks_total", "Acks that changed nothing.", float64(n),
				"reason", reason)
		}
		for event, n := range r.Events {
			add(metrics.Counter, "chit_delivery_events_total", "What happened to deliveries.",
				float64(n), "event", event)
		}
		l := s.engine.Stats()
		add(metrics.Gauge, "chit_mqtt_connected", "MQTT connections.", float64(l.Connected))
		add(metrics.Counter, "chit_mqtt_refused_total", "MQTT connections refused.", float64(l.Refused))
		add(metrics.Counter, "chit_mqtt_dropped_total", "Messages the engine dropped.",
			float64(l.MessagesDropped+l.InflightDropped+l.QoSDropped))
		add(metrics.Counter, "chit_mqtt_denied_total", "Publishes and filters denied.",
			float64(l.PublishDenied+l.SubscribeDenied))
		add(metrics.Counter, "chit_mqtt_panics_total", "Engine panics contained.", float64(l.Panics))

		alarms := s.alert.Snapshot()
		s.measureSelf(add)
		s.measureStations(add, alarms)
		s.measureDevices(add, alarms)
		s.measureAlarms(add, alarms)
	})
}
