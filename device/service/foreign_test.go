package service

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"chit/device/wire"
)

// handed is a genuine ticket of the kitchen's own broker, changed before it is signed.
func (k *kitchen) handed(order string, change func(*wire.Ticket)) {
	k.t.Helper()
	raw, err := k.ticket(order, 1)
	if err != nil {
		k.t.Fatal(err)
	}
	trusted, err := wire.NewKeys(k.phone.broker.Public())
	if err != nil {
		k.t.Fatal(err)
	}
	t, err := trusted.OpenTicket(raw)
	if err != nil {
		k.t.Fatal(err)
	}
	change(&t)
	raw, err = k.phone.broker.SignTicket(t)
	k.deliver(wire.LeafTicket, raw, err)
}

// A ticket that was handed to another device of the tenant verifies here too. Whoever replays it
// must not get a second, unmarked paper out of it.
func TestTicketOfAnotherDeviceOrTenantIsRefusedAndPrintsNothing(t *testing.T) {
	k := newKitchen(t)
	k.handed("a1", func(t *wire.Ticket) { t.Device = "dev-2" })
	k.handed("a2", func(t *wire.Ticket) { t.Source = "chit/other" })
	k.handed("a3", func(t *wire.Ticket) { t.Device = "dev-1" })
	k.handed("a4", func(t *wire.Ticket) { t.Device = "" })
	k.phone.untilSaid("refused a1/1@grill", "refused a2/1@grill", "printed a3/1@grill",
		"printed a4/1@grill")
	k.papers(2)
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	for _, a := range k.phone.acks {
		if a.Outcome == wire.OutcomeRefused && (!a.Permanent || a.Reason != "foreign") {
			t.Errorf("answer %+v, want a permanent refusal: foreign", a)
		}
	}
	if n := k.service.counters.flat()["bad_messages.foreign"]; n != 2 {
		t.Errorf("%v foreign messages counted, want 2", n)
	}
}

// A recall or a command for another device stops and does nothing here.
func TestRecallAndCommandForAnotherDeviceDoNothing(t *testing.T) {
	k := newKitchen(t)
	r, err := k.phone.broker.SignRecall(wire.Recall{ID: "r1", Ticket: "a1/1@grill", Attempt: 5,
		Reason: "moved", IssuedAt: 1, Device: "dev-2"})
	k.deliver(wire.LeafRecall, r, err)
	c, err := k.phone.broker.SignCommand(wire.Command{ID: "c1", Do: "test-print", IssuedAt: 1,
		Device: "dev-2"})
	k.deliver(wire.LeafCommand, c, err)
	k.sends("a1", 1) // The recall, believed, would have stopped attempts up to 5.
	k.phone.untilSaid("printed a1/1@grill")
	if text := k.papers(1)[0]; !strings.Contains(text, "Käsespätzle") {
		t.Errorf("paper:\n%s", text)
	}
	if n := k.service.counters.flat()["bad_messages.foreign"]; n != 2 {
		t.Errorf("%v foreign messages counted, want 2", n)
	}
}

// What a newer or a broken broker of ours signs and this program cannot use is refused, signed, and
// for good (DESIGN section 4); what names no ticket can only be counted.
func TestGenuineTicketsThatCannotBeUsedAreRefusedSigned(t *testing.T) {
	k := newKitchen(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	k.stop()
	if k.phone.broker, err = wire.NewSigner(private); err != nil {
		t.Fatal(err)
	}
	k.start()
	sign := func(typ, payload string) []byte {
		header, err := json.Marshal(map[string]string{
			"alg": "EdDSA", "kid": wire.KID(public), "typ": typ,
		})
		if err != nil {
			t.Fatal(err)
		}
		encode := base64.RawURLEncoding.EncodeToString
		text := encode(header) + "." + encode([]byte(payload))
		return []byte(text + "." + encode(ed25519.Sign(private, []byte(text))))
	}
	event := func(order string, more string) string {
		return `{"specversion":"1.0","type":"chit.ticket.v1","id":"` + order +
			`/1@grill","attempt":3,"data":{"id":"` + order + `/1"}` + more + `}`
	}
	k.deliver(wire.LeafTicket, sign("chit-ticket.v2+jws", event("v2typ", "")), nil)
	v2 := strings.Replace(event("v2event", ""), "ticket.v1", "ticket.v2", 1)
	k.deliver(wire.LeafTicket, sign("chit-ticket+jws", v2), nil)
	big := event("big", `,"later":"`+strings.Repeat("x", 2*wire.MessageMax)+`"`)
	k.deliver(wire.LeafTicket, sign("chit-ticket+jws", big), nil)
	k.deliver(wire.LeafTicket, sign("chit-ticket+jws", event("claims", "")), nil)
	k.deliver(wire.LeafTicket, sign("chit-ticket+jws", `{"id":`), nil)
	k.phone.untilSaid("refused v2typ/1@grill", "refused v2event/1@grill", "refused big/1@grill",
		"refused claims/1@grill")
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	want := map[string]string{"v2typ/1@grill": "version", "v2event/1@grill": "version",
		"big/1@grill": "too_large", "claims/1@grill": "claims"}
	for _, a := range k.phone.acks {
		if a.Reason != want[a.Ticket] || !a.Permanent || a.Attempt != 3 {
			t.Errorf("answer %+v, want a permanent refusal of attempt 3: %s", a, want[a.Ticket])
		}
	}
	if n := k.service.counters.flat()["bad_messages.malformed"]; n != 1 {
		t.Errorf("%v malformed messages counted, want 1", n)
	}
}
