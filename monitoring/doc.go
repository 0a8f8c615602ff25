// Package monitoring holds what Prometheus, Alertmanager and Grafana need to watch a broker: alert
// rules, examples of configurations and a dashboard. Its tests check them with the tools' own
// checkers, compare them with what a real broker shows, and let a real Prometheus and a real
// Alertmanager tell of a kitchen that gets no paper.
package monitoring
