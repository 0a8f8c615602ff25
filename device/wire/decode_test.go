package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEveryMessageIsDescribed(t *testing.T) {
	topics := map[Type]Leaf{TypeTicket: LeafTicket, TypeRecall: LeafRecall, TypeCommand: LeafCommand,
		TypeWelcome: LeafCommand, TypeHello: LeafAck, TypeAck: LeafAck, TypeReply: LeafAck,
		TypeMade: LeafAck}
	for _, m := range messages() {
		raw, err := m.sign(signerOf(t, m.key))
		if err != nil {
			t.Fatal(err)
		}
		topic := HostTopic("acme")
		if leaf, ok := topics[m.typ]; ok {
			topic = DeviceTopic("acme", "pi-7", leaf)
		}
		for _, where := range []string{"", topic.String()} {
			d := Decode(where, raw, keysOf(t, m.key))
			if d.Message != string(m.typ) || d.Signature != "verified" || len(d.Problems) > 0 {
				t.Errorf("%s on %q: %+v", m.typ, where, d)
			}
			if d := Decode(where, raw, nil); d.Signature != "not checked" || len(d.Problems) > 0 {
				t.Errorf("%s without keys: %+v", m.typ, d)
			}
			text := d.String()
			if !strings.Contains(text, "message    "+string(m.typ)) || !strings.Contains(text, d.KID) {
				t.Errorf("%s is described as\n%s", m.typ, text)
			}
			if _, err := json.Marshal(d); err != nil {
				t.Errorf("%s: %v", m.typ, err)
			}
		}
	}
}

func TestWhatIsWrongStandsInTheDescription(t *testing.T) {
	ack, err := signerOf(t, deviceKey).SignAck(exampleAck)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := signerOf(t, brokerKey).SignTicket(exampleTicket())
	if err != nil {
		t.Fatal(err)
	}
	event, err := EncodeTicket(exampleTicket())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, topic, raw, message, problem string
	}{
		{"foreign key", "", string(ack), "ack", ErrKID.Error()},
		{"wrong topic", "chit/1/acme/pi-7/recall", string(ack), "ack", "does not belong on recall"},
		{"wrong device", "chit/1/acme/pi-8/ack", string(ack), "ack", "iss is another device"},
		{"wrong addressee", "chit/1/acme/pi-8/ticket", string(ticket), "ticket", "aud is another"},
		{"no topic of ours", "house/lamp", string(ack), "ack", ErrTopic.Error()},
		{"unsigned ticket", "chit/1/acme/pi-7/ticket", string(event), "event", "unsigned event"},
		{"unsigned ticket off the wire", "", string(event), "event", ""},
		{"request", "", example, "request", ""},
		{"broken request", "", edit("grill", "Grill"), "request", "station"},
		{"status", "chit/1/acme/pi-7/status", `{"state":"online"}`, "status", "session"},
		{"status without topic", "", `{"state":"offline","session":"s"}`, "status", ""},
		{"telemetry", "", `{"uptime_s":1,"counters":{}}`, "telemetry", ""},
		{"feed", "chit/1/acme/feed/alarms/a", `{"x":1}`, "feed", ""},
		{"other JSON", "", `{"x":1}`, "unknown", "no kind"},
		{"broken JSON", "", `{"x":`, "unknown", ErrMalformed.Error()},
		{"noise", "", "\x00\xff", "unknown", ErrMalformed.Error()},
		{"nothing", "", "", "unknown", ErrMalformed.Error()},
		{"newer", "", compact(deviceKey, headerOf(deviceKey, "chit-ack.v2+jws"), `{}`), "ack",
			ErrVersion.Error()},
	} {
		d := Decode(c.topic, []byte(c.raw), keysOf(t, foreignKey))
		if d.Message != c.message {
			t.Errorf("%s: message %q, want %q", c.name, d.Message, c.message)
		}
		all := strings.Join(d.Problems, "\n")
		if c.problem == "" && all != "" || !strings.Contains(all, c.problem) {
			t.Errorf("%s: problems %q, want %q", c.name, all, c.problem)
		}
	}
}

func TestADescriptionIsSafeForATerminal(t *testing.T) {
	raw := `{"uptime_s":1,"counters":{},"x":"\u001b[2J` + "\u009b2J\u202e\x7f" + `"}`
	text := Decode("", []byte(raw), nil).String()
	if strings.ContainsAny(text, "\x1b\u009b\u202e\x7f") || !strings.Contains(text, `\u202e`) {
		t.Errorf("description holds live control characters: %q", text)
	}
}
