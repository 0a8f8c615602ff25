package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// exampleTicket uses every attribute.
func exampleTicket() Ticket {
	data, _, err := Canonical([]byte(example))
	if err != nil {
		panic(err)
	}
	return Ticket{
		ID: "web-41/2/r1@grill", Source: "chit/acme", Time: "2026-03-01T17:00:00Z", Data: data,
		Device: "pi-7", Attempt: 3, Lease: 30_000, Stale: 1_800_000, Expires: 2_592_000,
		Printer: "kitchen", Station: "grill", Number: "41", Previous: "38", Pred: "web-41/1@grill",
		Gaps: "40:moved:bar,39:cancelled", As: KindNew,
		Marks: []Mark{MarkReprint, MarkPossibleDuplicate, MarkMoved, MarkLate},
		Changes: &Changes{Since: 1, Added: []Item{{Quantity: 1, Name: "Tea \u0085<&>"}},
			Removed: []Item{{Quantity: 2, Name: "Beer"}}, Altered: []Item{{Quantity: 3, Name: "Rum"}},
			Was: []Item{{Quantity: 2, Name: "Rum"}}},
		From: "Grill", OnStale: OnStaleAsk, AlsoAt: "bar,pass", CopyOf: "fryer", Above: 4,
	}
}

// firstTicket uses every attribute that version 1 began with.
func firstTicket() Ticket {
	t := exampleTicket()
	t.From, t.OnStale, t.AlsoAt, t.CopyOf = "", "", "", ""
	t.Above = 0
	return t
}

// plainTicket uses only what must be there.
func plainTicket() Ticket {
	data, _, err := Canonical([]byte(minimal("new", oneItem)))
	if err != nil {
		panic(err)
	}
	return Ticket{ID: "1/1@bar", Source: "chit/acme", Time: "2026-03-01T17:00:00Z", Data: data,
		Attempt: 1, Lease: 30_000, Expires: 60, Printer: "p", Station: "bar"}
}

func TestTicketsComeBackAsTheyWere(t *testing.T) {
	for _, want := range []Ticket{exampleTicket(), firstTicket(), plainTicket()} {
		raw, err := EncodeTicket(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeTicket(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		if !bytes.HasSuffix(raw, append(append([]byte(`,"data":`), want.Data...), '}')) {
			t.Errorf("data is not spliced in as it is: %s", raw)
		}
	}
}

func TestTheEnvelopeIsACloudEvent(t *testing.T) {
	raw, err := EncodeTicket(exampleTicket())
	if err != nil {
		t.Fatal(err)
	}
	var event map[string]any
	if err := json.Unmarshal(raw, &event); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"specversion": "1.0", "type": "chit.ticket.v1", "source": "chit/acme",
		"id": "web-41/2/r1@grill", "time": "2026-03-01T17:00:00Z",
		"datacontenttype": "application/json", "aud": "pi-7", "attempt": 3.0, "leasems": 30000.0,
		"stalems": 1800000.0, "expiress": 2592000.0, "printer": "kitchen", "station": "grill",
		"number": "41", "previous": "38", "pred": "web-41/1@grill", "as": "new",
		"gaps":  "40:moved:bar,39:cancelled",
		"marks": "reprint,possible-duplicate,moved,late",
		"from":  "Grill", "onstale": "ask", "alsoat": "bar,pass", "copyof": "fryer",
		"above": 4.0,
	} {
		if event[name] != want {
			t.Errorf("%s is %v, want %v", name, event[name], want)
		}
	}
	for name, value := range event {
		if name == "data" {
			continue
		}
		// CloudEvents 1.0 sections 2 (types) and 3 (names): lower-case letters and digits; no objects;
		// strings without control characters.
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			t.Errorf("attribute name %q", name)
		}
		switch v := value.(type) {
		case float64:
		case string:
			if strings.ContainsFunc(v, func(r rune) bool { return r < 0x20 || 0x7f <= r && r <= 0x9f }) {
				t.Errorf("%s holds a control character: %q", name, v)
			}
		default:
			t.Errorf("%s is a %T", name, v)
		}
	}
}

// eventWith is an encoded ticket with texts replaced.
func eventWith(t *testing.T, pairs ...string) []byte {
	t.Helper()
	raw, err := EncodeTicket(exampleTicket())
	if err != nil {
		t.Fatal(err)
	}
	out := strings.NewReplacer(pairs...).Replace(string(raw))
	if out == string(raw) {
		t.Fatalf("%q changed nothing", pairs)
	}
	return []byte(out)
}

func TestBrokenEventsAreRefusedByReason(t *testing.T) {
	for _, c := range []struct {
		name        string
		old, change string
		want        error
	}{
		{"newer event type", "ticket.v1", "ticket.v2", ErrVersion},
		{"much newer event type", "ticket.v1", "ticket.v17", ErrVersion},
		{"older event type", "ticket.v1", "ticket.v0", ErrTyp},
		{"odd event type", "ticket.v1", "ticket.vv", ErrTyp},
		{"foreign event type", "chit.ticket.v1", "com.example.order", ErrTyp},
		{"newer CloudEvents", `"specversion":"1.0"`, `"specversion":"2.0"`, ErrVersion},
		{"no specversion", `"specversion":"1.0",`, ``, ErrClaims},
		{"type is a number", `"chit.ticket.v1"`, `1`, ErrClaims},
		{"foreign source", `"chit/acme"`, `"acme"`, ErrClaims},
		{"no time", `"time":"2026-03-01T17:00:00Z",`, ``, ErrClaims},
		{"other data", `"application/json"`, `"text/plain"`, ErrClaims},
		{"bad id", `"web-41/2/r1@grill"`, `"web-41"`, ErrClaims},
		{"id of another order", `"web-41/2/r1@grill"`, `"web-42/2/r1@grill"`, ErrClaims},
		{"id of another seq", `"web-41/2/r1@grill"`, `"web-41/3/r1@grill"`, ErrClaims},
		{"attempt 0", `"attempt":3`, `"attempt":0`, ErrClaims},
		{"attempt over 32 bits", `"attempt":3`, `"attempt":2147483648`, ErrClaims},
		{"attempt as text", `"attempt":3`, `"attempt":"3"`, ErrClaims},
		{"no lease", `"leasems":30000,`, ``, ErrClaims},
		{"negative stale", `"stalems":1800000`, `"stalems":-1`, ErrClaims},
		{"expires at once", `"expiress":2592000`, `"expiress":0`, ErrClaims},
		{"no printer", `"printer":"kitchen",`, ``, ErrClaims},
		{"bad station", `"station":"grill","number"`, `"station":"host","number"`, ErrClaims},
		{"bad pred", `"web-41/1@grill"`, `"x"`, ErrClaims},
		{"bad gaps", `40:moved:bar`, `40`, ErrClaims},
		{"unknown kind", `"as":"new"`, `"as":"song"`, ErrClaims},
		{"bad marks", `reprint,possible`, `reprint,,possible`, ErrClaims},
		{"changes is an object", `"changes":"{`, `"changes":{},"x":"{`, ErrClaims},
		{"changes is no JSON", `"changes":"{`, `"changes":"`, ErrClaims},
		{"altered without was", `\"was\"`, `\"wax\"`, ErrClaims},
		{"bad item in changes", `\"name\":\"Beer\"`, `\"name\":\"\"`, ErrClaims},
		{"no data", `"data":{`, `"date":{`, ErrClaims},
		{"data is a text", `"data":{`, `"data":"","x":{`, ErrClaims},
		{"an attribute twice", `"attempt":3`, `"attempt":3,"attempt":4`, ErrMalformed},
		{"a lone surrogate", `"41"`, `"\ud800"`, ErrMalformed},
		{"cut short", `"data":{`, `"data":`, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := DecodeTicket(eventWith(t, c.old, c.change))
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if got.Source != "" || got.Printer != "" || got.Marks != nil {
				t.Errorf("more than a refusal needs came back: %+v", got)
			}
		})
	}
}

func TestARefusalCanNameWhatItRefuses(t *testing.T) {
	want := exampleTicket()
	for _, raw := range [][]byte{
		eventWith(t, "ticket.v1", "ticket.v2", `"leasems":30000,`, `"lease":{"ms":1},`),
		eventWith(t, `"as":"new"`, `"as":"song"`),
		eventWith(t, `"marks"`, `"pad":"`+strings.Repeat("x", MessageMax)+`","marks"`),
	} {
		got, err := DecodeTicket(raw)
		if err == nil || got.ID != want.ID || got.Attempt != want.Attempt ||
			!bytes.Equal(got.Data, want.Data) {
			t.Errorf("got %+v, %v; want id, attempt and data beside an error", got, err)
		}
	}
}

func TestUnknownAttributesAndMarksOfANewerMinorVersionPass(t *testing.T) {
	got, err := DecodeTicket(eventWith(t, `"attempt"`, `"mood":{"a":[1]},"attempt"`,
		"reprint,", "reprint,on-fire,"))
	want := exampleTicket()
	want.Marks = []Mark{MarkReprint, "on-fire", MarkPossibleDuplicate, MarkMoved, MarkLate}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTicketsThatCannotBeReadAreNotWritten(t *testing.T) {
	for name, spoil := range map[string]func(*Ticket){
		"no data":            func(m *Ticket) { m.Data = nil },
		"data not canonical": func(m *Ticket) { m.Data = []byte(example) },
		"no id":              func(m *Ticket) { m.ID = "" },
		"no attempt":         func(m *Ticket) { m.Attempt = 0 },
		"no lease":           func(m *Ticket) { m.Lease = 0 },
		"unknown mark":       func(m *Ticket) { m.Marks = []Mark{"on-fire"} },
		"mark with a comma":  func(m *Ticket) { m.Marks = []Mark{"reprint,late"} },
		"altered without was": func(m *Ticket) {
			m.Changes = &Changes{Altered: []Item{{Quantity: 1, Name: "x"}}}
		},
	} {
		m := exampleTicket()
		spoil(&m)
		if raw, err := EncodeTicket(m); !errors.Is(err, ErrClaims) || raw != nil {
			t.Errorf("%s: got %s, %v; want ErrClaims", name, raw, err)
		}
	}
}

func TestDataOverTheSizeOfADoorIsRefused(t *testing.T) {
	m := plainTicket()
	note := strings.Repeat("x", ContentMax)
	m.Data = []byte(`{"id":"1/1","kind":"void","kitchen":"main","note":"` + note +
		`","station":"bar"}`)
	if _, err := EncodeTicket(m); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

// drawTicket draws from the tickets a broker may send.
func drawTicket(t *rapid.T) Ticket {
	id := drawTicketID(t)
	c := drawContent(t)
	c.ID = id.Content()
	data, err := CanonicalContent(c)
	if err != nil {
		t.Fatal(err)
	}
	m := Ticket{
		ID: id.String(), Source: "chit/acme", Time: "2026-03-01T17:00:00Z", Data: data,
		Attempt: rapid.IntRange(1, 1<<31-1).Draw(t, "attempt"),
		Lease:   rapid.Int64Range(1, 1<<31-1).Draw(t, "lease"),
		Stale:   rapid.Int64Range(0, 1<<31-1).Draw(t, "stale"),
		Expires: rapid.Int64Range(1, 1<<31-1).Draw(t, "expires"),
		Printer: rapid.StringMatching(`[A-Za-z0-9._-]{1,64}`).Draw(t, "printer"), Station: id.Station,
		Number: rapid.StringMatching(`([1-9][0-9]{0,3})?`).Draw(t, "number"),
		Gaps:   rapid.SampledFrom([]string{"", "1:moved:bar", "2:dead,1:cancelled"}).Draw(t, "gaps"),
		As:     rapid.SampledFrom([]Kind{"", KindNew, KindReprint}).Draw(t, "as"),
		Marks: rapid.SampledFrom([][]Mark{nil, {MarkLate}, {MarkMoved, MarkPossibleDuplicate}}).
			Draw(t, "marks"),
	}
	if rapid.Bool().Draw(t, "changed") {
		m.Changes = &Changes{Since: rapid.IntRange(0, SeqMax).Draw(t, "since"), Removed: c.Items}
		for i := range m.Changes.Removed { // Absent and empty are one thing in a Changes.
			one := &m.Changes.Removed[i]
			if len(one.Modifiers) == 0 {
				one.Modifiers = nil
			}
			if len(one.Allergens) == 0 {
				one.Allergens = nil
			}
		}
	}
	return m
}

func TestEveryTicketIsReadBackWithTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTicket(t)
		raw, err := EncodeTicket(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeTicket(raw)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
		if Digest(got.Data) != Digest(want.Data) {
			t.Fatal("digests differ")
		}
	})
}

func FuzzDecodeTicket(f *testing.F) {
	for _, m := range []Ticket{exampleTicket(), firstTicket(), plainTicket()} {
		raw, err := EncodeTicket(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(bytes.Replace(raw, []byte("v1"), []byte("v2"), 1))
	}
	f.Add([]byte(`{"data":[1],"id":"1/1@a","attempt":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := DecodeTicket(raw)
		if !bytes.Contains(raw, m.Data) {
			t.Fatalf("data %q is not in %q", m.Data, raw)
		}
		if err != nil {
			if Reason(err) == "other" {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		for _, mark := range m.Marks {
			if !mark.Known() {
				return // Read, and not written.
			}
		}
		out, err := EncodeTicket(m)
		if err != nil {
			return // Data that is not canonical, or longer when written plainly.
		}
		again, err := DecodeTicket(out)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("second time %+v, %v; first %+v", again, err, m)
		}
	})
}
