package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// The broker's metrics that say when all is done.
const (
	metricOpen    = "chit_deliveries_open"
	metricPrinted = `chit_acks_total{outcome="printed"}`
)

// metric reads one sample of the broker's /metrics; one that is not there yet is 0.
func (k *kitchen) metric(ctx context.Context, name string) (float64, error) {
	status, raw, err := k.Call(ctx, "GET", "/metrics", nil)
	if err != nil {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("/metrics: status %d", status)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			var v float64
			_, err := fmt.Sscan(rest, &v)
			return v, err
		}
	}
	return 0, nil
}

// settled is how many printed tickets the broker has settled.
func (k *kitchen) settled(ctx context.Context) (float64, error) {
	return k.metric(ctx, metricPrinted)
}

// drained waits until so many tickets were printed and nothing is owed any more.
func (k *kitchen) drained(ctx context.Context, want float64) error {
	var printed, open float64
	err := k.Until(ctx, "all tickets to be settled", func(ctx context.Context) bool {
		var err error
		if printed, err = k.settled(ctx); err != nil || printed < want {
			return false
		}
		open, err = k.metric(ctx, metricOpen)
		return err == nil && open == 0
	})
	if err != nil {
		err = fmt.Errorf("%w (%.0f printed of %.0f, %.0f open)", err, printed, want, open)
	}
	return err
}
