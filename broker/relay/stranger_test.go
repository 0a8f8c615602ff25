package relay_test

import (
	"testing"
	"time"

	"chit/device/wire"
)

func TestADeviceThatSpeaksWithoutASessionIsToldWhoTheBrokerIs(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		telemetry, err := wire.EncodeTelemetry(wire.Telemetry{})
		if err != nil {
			t.Fatal(err)
		}
		speak := func() {
			w.relay.Heard("t1", d.id, "telemetry", telemetry, false)
			w.settle()
		}
		speak()
		if len(w.hosts) != 0 {
			t.Fatalf("%d host messages at the start: the broker has just said it", len(w.hosts))
		}
		w.advance(2 * time.Minute)
		speak()
		speak()
		keys, err := wire.NewKeys(w.tenant.Public())
		if err != nil {
			t.Fatal(err)
		}
		if len(w.hosts) != 1 {
			t.Fatalf("%d host messages, want one a minute", len(w.hosts))
		}
		if host, err := keys.OpenHost(w.hosts[0]); err != nil || host.Epoch != "host-1" {
			t.Fatalf("host message %+v, %v", host, err)
		}
		d.connect()
		w.advance(2 * time.Minute)
		speak()
		if len(w.hosts) != 1 {
			t.Fatal("a device with a session is told again")
		}
	})
}
