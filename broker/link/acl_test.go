package link

import (
	"strings"
	"testing"

	"chit/device/wire"
)

func TestGrantIsExactlyTheDevicesOwnTopics(t *testing.T) {
	g := grant{tenant: "t1", device: "d1"}
	for _, c := range []struct {
		topic                                 string
		reads, writes, writesRetained, willed bool
	}{
		{"chit/1/t1/d1/ticket", true, false, false, false},
		{"chit/1/t1/d1/recall", true, false, false, false},
		{"chit/1/t1/d1/command", true, false, false, false},
		{"chit/1/t1/d1/status", true, true, true, true},
		{"chit/1/t1/d1/ack", false, true, false, false},
		{"chit/1/t1/d1/telemetry", false, true, false, false},
		{"chit/1/t1/host", true, false, false, false},
		{"chit/1/t2/host", false, false, false, false},
		{"chit/1/t1/d2/ticket", false, false, false, false},
		{"chit/1/t1/d1", false, false, false, false},
		{"chit/1/t1/d1/", false, false, false, false},
		{"chit/1/t1/d1/ticket/x", false, false, false, false},
		{"chit/1/t1/d11/ticket", false, false, false, false},
		{"chit/1/t1d1/ticket", false, false, false, false},
		{"chit/1/+/d1/ticket", false, false, false, false},
		{"chit/1/t1/d1/#", false, false, false, false},
		{"chit/1/t1/d1/+", false, false, false, false},
		{"$share/g/chit/1/t1/d1/ticket", false, false, false, false},
		{"/chit/1/t1/d1/ticket", false, false, false, false},
		{"chit/2/t1/d1/ticket", false, false, false, false},
		{"chit/1/t1/feed/tickets/x", false, false, false, false},
		{"$SYS/broker/version", false, false, false, false},
		{"", false, false, false, false},
	} {
		got := [4]bool{g.reads(c.topic), g.writes(c.topic, false), g.writes(c.topic, true),
			g.wills(c.topic, true)}
		want := [4]bool{c.reads, c.writes, c.writesRetained, c.willed}
		if got != want {
			t.Errorf("%q: reads, writes, writes retained, wills = %v, want %v", c.topic, got, want)
		}
		if g.wills(c.topic, false) {
			t.Errorf("%q: a will that is not retained", c.topic)
		}
	}
}

// naive is the grant a second time, by lists.
func naive(g grant, topic string) (reads, writes, writesRetained bool) {
	for _, filter := range wire.DeviceFilters(g.tenant, g.device) {
		reads = reads || filter == topic
	}
	for _, leaf := range []string{"ack", "status", "telemetry"} {
		if strings.Join([]string{"chit", "1", g.tenant, g.device, leaf}, "/") == topic {
			writes = true
			writesRetained = leaf == "status"
		}
	}
	return reads, writes, writesRetained
}

func FuzzGrant(f *testing.F) {
	for _, topic := range []string{
		"chit/1/t1/d1/ticket", "chit/1/t1/d1/ack", "chit/1/t1/host", "chit/1/+/d1/ticket",
		"chit/1/t1/d1/status", "$share/x/chit/1/t1/d1/ticket", "chit/1/t1/d1/#", "",
	} {
		f.Add("t1", "d1", topic)
	}
	f.Fuzz(func(t *testing.T, tenant, device, topic string) {
		if wire.CheckID(tenant) != nil || wire.CheckID(device) != nil {
			return // The gate's answer is checked before a grant is made.
		}
		g := grant{tenant: tenant, device: device}
		for _, topic := range append(wire.DeviceFilters(tenant, device), topic,
			"chit/1/"+tenant+"/"+device+"/"+topic, "chit/1/"+tenant+"/"+topic) {
			reads, writes, retained := naive(g, topic)
			if g.reads(topic) != reads || g.writes(topic, false) != writes ||
				g.writes(topic, true) != retained {
				t.Errorf("%+v on %q: want reads %v, writes %v, retained %v", g, topic, reads,
					writes, retained)
			}
			if (g.reads(topic) || g.writes(topic, false)) && strings.ContainsAny(topic, "+#$") {
				t.Errorf("%+v: a wildcard matched: %q", g, topic)
			}
		}
	})
}
