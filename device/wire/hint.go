package wire

import (
	"fmt"
	"math"
	"strconv"
)

// Bounds of a hint: of what a stranger could make the broker remember.
const (
	// HintMax is the largest status or telemetry message, in bytes.
	HintMax     = 16 << 10
	printersMax = 64
	countersMax = 512
)

// EncodeStatus writes a birth, a will or any other status. What [DecodeStatus] would refuse is not
// written.
func EncodeStatus(s Status) ([]byte, error) { return encodeHint("status", s, DecodeStatus) }

// DecodeStatus reads a status. It is a hint, unsigned, and settles nothing. Unknown members are
// ignored; errors wrap [ErrTooLarge], [ErrMalformed] or [ErrClaims].
func DecodeStatus(raw []byte) (Status, error) { return decodeHint("status", raw, readStatus) }

// EncodeTelemetry writes the measurements of a device.
func EncodeTelemetry(t Telemetry) ([]byte, error) {
	if t.Counters == nil {
		t.Counters = map[string]uint64{}
	}
	return encodeHint("telemetry", t, DecodeTelemetry)
}

// DecodeTelemetry reads the measurements of a device; errors are those of [DecodeStatus].
func DecodeTelemetry(raw []byte) (Telemetry, error) {
	return decodeHint("telemetry", raw, readTelemetry)
}

func encodeHint[M any](what string, m M, decode func([]byte) (M, error)) ([]byte, error) {
	raw, err := marshal(m)
	if err == nil {
		_, err = decode(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("wire: writing %s: %w", what, err)
	}
	return raw, nil
}

func decodeHint[M any](what string, raw []byte, read func(*report, jsonValue) M) (M, error) {
	if len(raw) > HintMax {
		var none M
		return none, fmt.Errorf("%w: %s of %d bytes, want at most %d", ErrTooLarge, what, len(raw),
			HintMax)
	}
	return decodeClaims(raw, read)
}

func readStatus(r *report, v jsonValue) Status {
	o := r.object(v, "")
	s := Status{
		State: o.text("state", rule{required: true, want: "online or offline",
			ok: oneOf("online", "offline")}),
		Session:  o.text("session", ruleVisible),
		Boot:     o.count("boot", false, 0),
		Journal:  o.text("journal", optional(ruleVisible)),
		Version:  o.text("version", ruleText),
		Degraded: o.text("degraded", ruleWord),
	}
	for i, v := range o.list("printers", printersMax) {
		p := r.object(v, fmt.Sprintf("printers[%d]", i))
		s.Printers = append(s.Printers, PrinterStatus{
			Name:     p.text("name", rulePrinter),
			Held:     p.text("held", ruleWord),
			PaperLow: p.boolean("paper_low", false),
			Waiting:  int(p.integer("waiting", false, 0, math.MaxInt32)),
			Unit:     p.text("unit", ruleText),
			Fence:    p.text("fence", ruleWord),
		})
	}
	return s
}

func readTelemetry(r *report, v jsonValue) Telemetry {
	o := r.object(v, "")
	t := Telemetry{
		Uptime:       o.integer("uptime_s", true, 0, IntMax),
		Temperature:  o.decimal("temperature_c"),
		UnderVoltage: known(o, "under_voltage", object.boolean),
		ClockSynced:  known(o, "clock_synced", object.boolean),
		DiskFree:     known(o, "disk_free_bytes", object.anyCount),
		RSS:          known(o, "rss_bytes", object.anyCount),
		WiFiDBm:      known(o, "wifi_dbm", object.level),
	}
	counters, ok := o.get("counters")
	if !ok || counters.kind != jsonObject || len(counters.members) > countersMax {
		r.add("counters", "no such object", fmt.Sprintf("an object of at most %d numbers",
			countersMax))
		return t
	}
	t.Counters = make(map[string]uint64, len(counters.members))
	c := r.object(counters, "counters")
	for _, m := range counters.members {
		t.Counters[m.name] = c.count(m.name, true, 0)
	}
	return t
}

// known reads a member whose absence means unknown, never 0.
func known[T any](o object, name string, read func(object, string, bool) T) *T {
	if _, ok := o.get(name); !ok {
		return nil
	}
	v := read(o, name, true)
	return &v
}

func (o object) anyCount(name string, required bool) uint64 { return o.count(name, required, 0) }

func (o object) level(name string, required bool) int {
	return int(o.integer(name, required, -1000, 1000))
}

// decimal reads a measurement, which need not be whole.
func (o object) decimal(name string) *float64 {
	v, ok := o.get(name)
	if !ok {
		return nil
	}
	if v.kind == jsonNumber {
		if f, err := strconv.ParseFloat(v.text, 64); err == nil {
			return &f
		}
	}
	o.r.add(o.at(name), found(v), "a number")
	return nil
}
