package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var exampleStatus = Status{State: "online", Session: "s-1", Boot: 4, Journal: "j-1",
	Version: "1.0.0", Degraded: "storage", Printers: []PrinterStatus{{Name: "kitchen",
		Held: "paper_out", PaperLow: true, Waiting: 3, Unit: "EPSON TM-T88VI", Fence: "confirmed"},
		{Name: "bar"}}}

func exampleTelemetry() Telemetry {
	temperature, free, level, yes, no := 51.5, uint64(1<<33), -67, true, false
	return Telemetry{Uptime: 3600, Counters: map[string]uint64{"printed": 41, "duplicate": 0},
		Temperature: &temperature, UnderVoltage: &no, DiskFree: &free, WiFiDBm: &level,
		ClockSynced: &yes, RSS: &free}
}

func TestHintsComeBackAsTheyWere(t *testing.T) {
	for _, want := range []Status{exampleStatus, {State: "offline", Session: "s-1"}} {
		raw, err := EncodeStatus(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeStatus(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	for _, want := range []Telemetry{exampleTelemetry(), {Counters: map[string]uint64{}}} {
		raw, err := EncodeTelemetry(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeTelemetry(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	if raw, err := EncodeTelemetry(Telemetry{}); err != nil ||
		string(raw) != `{"uptime_s":0,"counters":{}}` {
		t.Errorf("what is unknown is written as %s, %v", raw, err)
	}
}

func TestBrokenHintsAreRefusedByReason(t *testing.T) {
	big := `{"state":"online","session":"` + strings.Repeat("x", HintMax) + `"}`
	for raw, want := range map[string]error{
		``: ErrMalformed, `null`: ErrClaims, `{}`: ErrClaims, big: ErrTooLarge,
		`{"state":"asleep","session":"s"}`:                             ErrClaims,
		`{"state":"online"}`:                                           ErrClaims,
		`{"state":"online","session":""}`:                              ErrClaims,
		`{"state":"online","session":"s","boot":-1}`:                   ErrClaims,
		`{"state":"online","session":"s","state":"offline"}`:           ErrMalformed,
		`{"state":"online","session":"s","printers":[{}]}`:             ErrClaims,
		`{"state":"online","session":"s","printers":["p"]}`:            ErrClaims,
		`{"state":"online","session":"s","printers":[{"name":"a b"}]}`: ErrClaims,
	} {
		if got, err := DecodeStatus([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("status %.80s = %+v, %v; want %v", raw, got, err, want)
		}
	}
	for raw, want := range map[string]error{
		`[]`: ErrClaims, `{"uptime_s":1}`: ErrClaims, `{"counters":{}}`: ErrClaims,
		`{"uptime_s":1,"counters":{"a":-1}}`:                              ErrClaims,
		`{"uptime_s":1,"counters":{"a":1.5}}`:                             ErrClaims,
		`{"uptime_s":1,"counters":[]}`:                                    ErrClaims,
		`{"uptime_s":1,"counters":{"a":1,"a":2}}`:                         ErrMalformed,
		`{"uptime_s":1,"counters":{},"temperature_c":"hot"}`:              ErrClaims,
		`{"uptime_s":1,"counters":{},"temperature_c":1e999}`:              ErrClaims,
		`{"uptime_s":1,"counters":{},"wifi_dbm":-67.5}`:                   ErrClaims,
		`{"uptime_s":1,"counters":{},"clock_synced":null}`:                ErrClaims,
		`{"uptime_s":1,"counters":{` + manyCounters(countersMax+1) + `}}`: ErrClaims,
	} {
		if got, err := DecodeTelemetry([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("telemetry %.80s = %+v, %v; want %v", raw, got, err, want)
		}
	}
	if _, err := EncodeStatus(Status{State: "online"}); !errors.Is(err, ErrClaims) {
		t.Errorf("a status without session was written: %v", err)
	}
}

func manyCounters(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + EscapeFeed(string(rune('a'+i%26))+strings.Repeat("x", i/26)) + `":0`)
	}
	return b.String()
}

func FuzzStatus(f *testing.F) {
	status, err := EncodeStatus(exampleStatus)
	if err != nil {
		f.Fatal(err)
	}
	telemetry, err := EncodeTelemetry(exampleTelemetry())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(status)
	f.Add(telemetry)
	f.Add([]byte(`{"state":"offline","session":"s","printers":[{"name":"a"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := DecodeStatus(raw); err == nil {
			out, err := EncodeStatus(s)
			if errors.Is(err, ErrTooLarge) {
				return
			}
			again, second := DecodeStatus(out)
			if err != nil || second != nil || !reflect.DeepEqual(again, s) {
				t.Fatalf("second time %+v, %v, %v; first %+v", again, err, second, s)
			}
		} else if Reason(err) == "other" {
			t.Fatalf("refused without a reason: %v", err)
		}
		if m, err := DecodeTelemetry(raw); err == nil {
			out, err := EncodeTelemetry(m)
			if errors.Is(err, ErrTooLarge) {
				return
			}
			again, second := DecodeTelemetry(out)
			if err != nil || second != nil || !reflect.DeepEqual(again, m) {
				t.Fatalf("second time %+v, %v, %v; first %+v", again, err, second, m)
			}
		}
	})
}
