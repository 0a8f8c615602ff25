package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTopicsAreReadBackAsWritten(t *testing.T) {
	for s, want := range map[string]Topic{
		"chit/1/acme/pi-7/ticket":     DeviceTopic("acme", "pi-7", LeafTicket),
		"chit/1/acme/pi-7/recall":     DeviceTopic("acme", "pi-7", LeafRecall),
		"chit/1/acme/pi-7/command":    DeviceTopic("acme", "pi-7", LeafCommand),
		"chit/1/acme/pi-7/ack":        DeviceTopic("acme", "pi-7", LeafAck),
		"chit/1/acme/pi-7/status":     DeviceTopic("acme", "pi-7", LeafStatus),
		"chit/1/acme/pi-7/telemetry":  DeviceTopic("acme", "pi-7", LeafTelemetry),
		"chit/1/acme/host":            HostTopic("acme"),
		"chit/1/acme/feed/alarms/a-1": FeedTopic("acme", FeedAlarms, "a-1"),
		"chit/1/acme/feed/tickets/17_2e_41.s1.r2.grill": FeedTopic("acme", FeedTickets,
			TicketID{Order: "17.A", Seq: 1, Made: "r2", Station: "grill"}.Feed()),
	} {
		if got, err := ParseTopic(s); err != nil || got != want || want.String() != s {
			t.Errorf("ParseTopic(%q) = %+v, %v; want %+v", s, got, err, want)
		}
	}
}

func TestForeignTopicsAreRefused(t *testing.T) {
	for _, bad := range []string{
		"", "/", "chit", "chit/1", "chit/1/acme", "/chit/1/acme/host", "chit/1/acme/host/",
		"chit/1/acme//host", "chit/1/acme/pi-7/host",

		"chit/1//pi-7/ack", "chit/1/acme//ack", "chit/1/acme/pi-7/", "chit/1/acme/pi-7/acks",
		"chit/1/acme/+/ack", "chit/1/acme/pi-7/#", "chit/1/ACME/pi-7/ack", "chit/1/acme/host/ack",
		"chit/1/acme/feed/ack", "chit/1/feed/pi-7/ack", "chit/1/host/host", "chit/1/acme/feed/x/1",
		"chit/1/acme/feed/tickets/", "chit/1/acme/feed/tickets/a..b", "chit/1/acme/feed/tickets/_4",
		"chit/1/acme/feed/tickets/_61", "chit/1/acme/feed/tickets/_4E", "chit/1/acme/feed/tickets/A",
		"chit/1/acme/feed/tickets/a/b", "chit/1/acme/pi-7/feed", "chit/1/acme/pi-7/ticket\x00",
		"$SYS/1/acme/host", "chit/1/acme/feed/tickets/" + strings.Repeat("a", feedIDMax+1),
	} {
		if got, err := ParseTopic(bad); !errors.Is(err, ErrTopic) || Reason(err) != "topic" {
			t.Errorf("ParseTopic(%q) = %+v, %v; want ErrTopic", bad, got, err)
		}
	}
	if _, err := ParseTopic("chit/2/acme/host"); !errors.Is(err, ErrTopicVersion) {
		t.Errorf("another version = %v, want ErrTopicVersion", err)
	}
}

func TestFiltersCoverExactlyTheLeavesOfTheirSide(t *testing.T) {
	want := []string{"chit/1/acme/pi-7/ticket", "chit/1/acme/pi-7/recall", "chit/1/acme/pi-7/command",
		"chit/1/acme/pi-7/status", "chit/1/acme/host"}
	if got := DeviceFilters("acme", "pi-7"); !slices.Equal(got, want) {
		t.Errorf("DeviceFilters = %q, want %q", got, want)
	}
	want = []string{"chit/1/+/+/ack", "chit/1/+/+/status", "chit/1/+/+/telemetry"}
	if got := BrokerFilters("+"); !slices.Equal(got, want) {
		t.Errorf("BrokerFilters = %q, want %q", got, want)
	}
	if got := FeedFilter("acme", ""); got != "chit/1/acme/feed/#" {
		t.Errorf("FeedFilter = %q", got)
	}
	if got := FeedFilter("acme", FeedAlarms); got != "chit/1/acme/feed/alarms/+" {
		t.Errorf("FeedFilter = %q", got)
	}
}

func TestLeavesKnowTheirSideAndTheirMessages(t *testing.T) {
	type row struct {
		publishes, retained bool
		carries             []Type
	}
	all := []Type{TypeTicket, TypeRecall, TypeCommand, TypeWelcome, TypeHost, TypeHello, TypeAck,
		TypeReply, TypeMade, ""}
	for leaf, want := range map[Leaf]row{
		LeafTicket:    {carries: []Type{TypeTicket}},
		LeafRecall:    {carries: []Type{TypeRecall}},
		LeafCommand:   {carries: []Type{TypeCommand, TypeWelcome}},
		LeafAck:       {publishes: true, carries: []Type{TypeHello, TypeAck, TypeReply, TypeMade}},
		LeafStatus:    {publishes: true, retained: true},
		LeafTelemetry: {publishes: true},
		LeafHost:      {retained: true, carries: []Type{TypeHost}},
		LeafFeed:      {retained: true},
	} {
		if leaf.Publishes() != want.publishes || leaf.Retained() != want.retained {
			t.Errorf("%s: publishes %v, retained %v", leaf, leaf.Publishes(), leaf.Retained())
		}
		for _, typ := range all {
			if got := leaf.Carries(typ); got != slices.Contains(want.carries, typ) {
				t.Errorf("%s carries %q: %v", leaf, typ, got)
			}
		}
	}
}

func FuzzParseTopic(f *testing.F) {
	for _, s := range []string{"chit/1/acme/pi-7/ticket", "chit/1/acme/host", "chit/2/a/host",
		"chit/1/acme/feed/tickets/17_2e_41.s1.grill", "chit/1/+/+/ack", "//////"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		topic, err := ParseTopic(s)
		if err != nil {
			if !errors.Is(err, ErrTopic) {
				t.Fatalf("%q: %v does not wrap ErrTopic", s, err)
			}
			return
		}
		if topic.String() != s || topic.Check() != nil {
			t.Fatalf("%q was read as %q", s, topic)
		}
	})
}
