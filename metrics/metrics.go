// Package metrics shows a program's own counters in the Prometheus text format.
//
// It is the only importer of the Prometheus client. A program keeps its counters where they belong
// and hands over a function that reads them; nothing is counted twice and nothing is global.
//
//	handler := metrics.Handler(func(add metrics.Add) {
//		add(metrics.Counter, "chit_tickets_total", "Tickets accepted.", 41)
//		add(metrics.Counter, "chit_bad_acks_total", "Acks that changed nothing.", 2, "reason", "digest")
//	})
package metrics

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Kind is whether a value only grows.
type Kind = prometheus.ValueType

// The kinds.
const (
	Counter = prometheus.CounterValue
	Gauge   = prometheus.GaugeValue
)

// Add hands over one sample. Labels are pairs of name and value; one name always has the same
// labels.
type Add func(kind Kind, name, help string, value float64, labels ...string)

// Handler serves what read hands over at each scrape, and the Go runtime's own figures.
func Handler(read func(Add)) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), reader(read))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// reader is an unchecked collector: its samples are known only when they are read.
type reader func(Add)

// Describe implements prometheus.Collector by describing nothing.
func (reader) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r reader) Collect(out chan<- prometheus.Metric) {
	r(func(kind Kind, name, help string, value float64, labels ...string) {
		if len(labels)%2 != 0 {
			panic(fmt.Sprintf("metrics: %s has %d label words, want pairs", name, len(labels)))
		}
		var names, values []string
		for i := 0; i < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		desc := prometheus.NewDesc(name, help, names, nil)
		m, err := prometheus.NewConstMetric(desc, kind, value, values...)
		if err != nil {
			m = prometheus.NewInvalidMetric(desc, err)
		}
		out <- m
	})
}
