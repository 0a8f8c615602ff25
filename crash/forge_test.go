package crash

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"chit/broker/link/linktest"
	"chit/device/wire"
	"chit/rig"
)

// scene is a broker, a device with a ticket in hand that it has not answered, another device of the
// same tenant, and a station without one.
type scene struct {
	*testing.T
	ctx     context.Context
	rig     *rig.Rig
	a, b    *actor
	ticket  wire.Ticket // in a's hands
	waiting wire.Ticket // never handed over: the attic has no device
}

func newScene(t *testing.T) *scene {
	t.Helper()
	ctx := bounded(t)
	s := &scene{T: t, ctx: ctx, rig: install(ctx, t, rig.Config{
		Stations: []string{"grill", "bar", "attic"}})}
	s.a, s.b = play(ctx, t, s.rig, "grill"), play(ctx, t, s.rig, "bar")
	s.a.mute()
	s.b.mute()
	s.post(order("forge", 1, "grill", wire.KindNew))
	s.ticket = s.a.given(ctx, "forge/1@grill", 1)
	attic := order("attic", 1, "attic", wire.KindNew)
	s.post(attic)
	err := s.rig.Until(ctx, "the attic's ticket to be parked", func(ctx context.Context) bool {
		got, err := s.rig.Ticket(ctx, attic.ID, attic.Station)
		return err == nil && got.State == "parked"
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := wire.CanonicalContent(attic)
	if err != nil {
		t.Fatal(err)
	}
	s.waiting = wire.Ticket{ID: "attic/1@attic", Data: data, Attempt: 1}
	return s
}

func (s *scene) post(c wire.Content) {
	s.Helper()
	if status, err := s.rig.Post(s.ctx, c); err != nil || status != http.StatusAccepted {
		s.Fatalf("posting %s: status %d, %v", c.ID, status, err)
	}
}

// look is the door's whole answer about both tickets, as bytes.
func (s *scene) look() []byte {
	s.Helper()
	var all []byte
	for _, path := range []string{"/v1/tickets/forge/1", "/v1/tickets/attic/1", "/v1/dead-letters"} {
		status, raw, err := s.rig.Call(s.ctx, "GET", path, nil)
		if err != nil || status != http.StatusOK {
			s.Fatalf("%s: status %d, %v", path, status, err)
		}
		all = append(all, raw...)
	}
	return all
}

// counter reads one number from /metrics, 0 where it is not there yet.
func counter(ctx context.Context, t *testing.T, r *rig.Rig, series string) float64 {
	t.Helper()
	status, raw, err := r.Call(ctx, "GET", "/metrics", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("/metrics: status %d, %v", status, err)
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), series+" "); ok {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatalf("/metrics: %q: %v", line, err)
			}
			return number
		}
	}
	return 0
}

func bad(reason string) string { return fmt.Sprintf("chit_bad_acks_total{reason=%q}", reason) }

// ignored does something and waits until it was counted once under series; nothing may have
// changed.
func (s *scene) ignored(name, series string, do func()) {
	s.Run(name, func(t *testing.T) {
		before, was := s.look(), counter(s.ctx, t, s.rig, series)
		do()
		err := s.rig.Until(s.ctx, series, func(ctx context.Context) bool {
			return counter(ctx, t, s.rig, series) > was
		})
		if err != nil {
			t.Fatal(err)
		}
		if now := counter(s.ctx, t, s.rig, series); now != was+1 {
			t.Errorf("%s rose from %v to %v, want by 1", series, was, now)
		}
		if after := s.look(); !bytes.Equal(before, after) {
			t.Errorf("the state changed\nbefore %s\nafter  %s", before, after)
		}
	})
}

// printed is the answer that every forger wants to be believed.
func (s *scene) printed() wire.Ack {
	return s.a.fresh(s.ticket, wire.OutcomePrinted, wire.EvidenceConfirmed)
}

func (s *scene) sign(signer *wire.Signer, ack wire.Ack) []byte {
	s.Helper()
	raw, err := signer.SignAck(ack)
	if err != nil {
		s.Fatal(err)
	}
	return raw
}

func stranger(t *testing.T) (*wire.Signer, ed25519.PrivateKey) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := wire.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer, key
}

// part and unpart are one part of a JWS in compact form (RFC 7515 section 3.1).
func part(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func unpart(t *testing.T, s string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// altered changes a word of a signed message's payload and leaves the signature.
func altered(t *testing.T, jws []byte, old, new string) []byte {
	t.Helper()
	parts := strings.Split(string(jws), ".")
	payload := unpart(t, parts[1])
	changed := bytes.Replace(payload, []byte(old), []byte(new), 1)
	if bytes.Equal(payload, changed) {
		t.Fatalf("%q is not in %s", old, payload)
	}
	parts[1] = part(changed)
	return []byte(strings.Join(parts, "."))
}

// resigned is the message under another header, signed by key.
func resigned(t *testing.T, jws []byte, key ed25519.PrivateKey, change map[string]string) []byte {
	t.Helper()
	parts := strings.Split(string(jws), ".")
	header := map[string]any{}
	if err := json.Unmarshal(unpart(t, parts[0]), &header); err != nil {
		t.Fatal(err)
	}
	for name, value := range change {
		header[name] = value
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	head := part(raw) + "." + parts[1]
	return []byte(head + "." + part(ed25519.Sign(key, []byte(head))))
}

func TestNoFalseAckChangesAState(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	own := s.a.id.Signer()
	other, otherKey := stranger(t)
	say := s.a.publish

	s.ignored("by a key nobody knows", bad("kid"), func() { say(s.sign(other, s.printed())) })
	s.ignored("by another key under the device's kid", bad("signature"), func() {
		say(resigned(t, s.sign(own, s.printed()), otherKey, nil))
	})
	s.ignored("without a signature", bad("alg"), func() {
		say(resigned(t, s.sign(own, s.printed()), otherKey, map[string]string{"alg": "none"}))
	})
	s.ignored("with the public key as a shared secret", bad("alg"), func() {
		say(resigned(t, s.sign(own, s.printed()), otherKey, map[string]string{"alg": "HS256"}))
	})
	s.ignored("altered on the way", bad("signature"), func() {
		stored := s.a.fresh(s.ticket, wire.OutcomeStored, wire.EvidenceStored)
		raw := altered(t, s.sign(own, stored), `"evidence":"stored"`, `"evidence":"fenced"`)
		say(altered(t, raw, `"outcome":"stored"`, `"outcome":"printed"`))
	})
	s.ignored("of another type", bad("typ"), func() {
		say(resigned(t, s.sign(own, s.printed()), otherKey, map[string]string{"typ": "chit-host+jws"}))
	})
	s.ignored("of no type", bad("typ"), func() {
		say(resigned(t, s.sign(own, s.printed()), otherKey, map[string]string{"typ": "JWT"}))
	})
	s.ignored("that is no message", bad("malformed"), func() { say([]byte("printed, honestly")) })
	s.ignored("with the digest of other content", bad("digest"), func() {
		ack := s.printed()
		ack.Digest = wire.Digest([]byte("something else"))
		s.a.say(ack)
	})
	s.ignored("of an attempt that never was", bad("unknown-attempt"), func() {
		ack := s.printed()
		ack.Attempt = 7
		s.a.say(ack)
	})
	s.ignored("of a ticket that was never handed over", bad("foreign-device"), func() {
		s.a.say(s.a.fresh(s.waiting, wire.OutcomePrinted, wire.EvidenceConfirmed))
	})
	s.ignored("by a device that never had the ticket", bad("foreign-device"), func() {
		s.b.say(s.b.fresh(s.ticket, wire.OutcomePrinted, wire.EvidenceConfirmed))
	})
	s.ignored("by a device in another's name", bad("foreign-device"), func() {
		s.b.publish(s.sign(s.b.id.Signer(), s.printed()))
	})
	s.ignored("of the right device on a foreign topic", bad("kid"), func() {
		s.b.publish(s.sign(own, s.printed()))
	})
	s.ignored("of a recall that was never made", bad("unasked"), func() {
		ack := s.a.fresh(s.ticket, wire.OutcomeRecalled, wire.EvidenceNone)
		ack.Reason = "recall-1"
		s.a.say(ack)
	})
	s.ignored("written onto another device's topic", "chit_mqtt_denied_total", func() {
		topic := wire.DeviceTopic(s.a.id.Tenant(), s.a.id.Device(), wire.LeafAck).String()
		intrude(t, s.b, topic, s.sign(own, s.printed()))
	})
	s.replays(say)
	s.strays()

	// The scene was alive all the time: the true answer settles.
	s.a.say(s.printed())
	if got, err := s.rig.Over(s.ctx, "forge/1", "grill"); err != nil || got.State != "settled" {
		t.Fatalf("the true answer: state %q, %v", got.State, err)
	}
	s.ignored("again after the end", bad("settled"), func() { s.a.say(s.printed()) })
	s.ignored("refused after the end", bad("settled"), func() {
		ack := s.a.fresh(s.ticket, wire.OutcomeRefused, wire.EvidenceNone)
		ack.Permanent, ack.Reason = true, "poison"
		s.a.say(ack)
	})
}

// replays sends a true answer again, byte by byte.
func (s *scene) replays(say func([]byte)) {
	held := s.a.fresh(s.ticket, wire.OutcomeHeld, wire.EvidenceStored)
	held.Reason = "paper_out"
	raw := s.sign(s.a.id.Signer(), held)
	say(raw)
	err := s.rig.Until(s.ctx, "the ticket to be held", func(ctx context.Context) bool {
		ticket, err := s.rig.Ticket(ctx, "forge/1", "grill")
		return err == nil && ticket.Outcome == "held"
	})
	if err != nil {
		s.Fatal(err)
	}
	s.ignored("said before, byte by byte", bad("replayed"), func() { say(raw) })
}

// strays are acks of a ticket that the broker does not know: a later ticket of that id is not
// theirs.
func (s *scene) strays() {
	content := order("ghost", 1, "attic", wire.KindNew)
	data, err := wire.CanonicalContent(content)
	if err != nil {
		s.Fatal(err)
	}
	ghost := wire.Ticket{ID: "ghost/1@attic", Data: data, Attempt: 1}
	s.ignored("of a ticket nobody posted", bad("kept"), func() {
		s.a.say(s.a.fresh(ghost, wire.OutcomePrinted, wire.EvidenceConfirmed))
	})
	s.post(content)
	if got, err := s.rig.Ticket(s.ctx, "ghost/1", "attic"); err != nil || got.State == "settled" {
		s.Fatalf("an ack from before the ticket: state %q, %v", got.State, err)
	}
}

// intrude is a second connection of b, which publishes where it must not.
func intrude(t *testing.T, b *actor, topic string, payload []byte) {
	t.Helper()
	address := strings.TrimPrefix(b.id.MQTT(), "tls://")
	c, code, err := linktest.Dial(t, address, b.id.TLS(nil), linktest.Connect(b.id.Device()))
	if err != nil || code != 0 {
		t.Fatalf("connecting as %s: code %d, %v", b.id.Device(), code, err)
	}
	c.Publish(1, topic, string(payload), false)
}

func TestAnOldAttemptDecidesNothingButPaper(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	r := install(ctx, t, rig.Config{Stations: []string{"grill"}})
	a := play(ctx, t, r, "grill")
	a.mute()
	if _, err := r.Post(ctx, order("old", 1, "grill", wire.KindNew)); err != nil {
		t.Fatal(err)
	}
	first := a.given(ctx, "old/1@grill", 1)
	r.Cable.Cut()
	a.restart()
	r.Cable.Mend()
	a.connected(ctx)
	second := a.given(ctx, "old/1@grill", 2)
	if second.Attempt <= first.Attempt {
		t.Fatalf("the second attempt is %d after %d", second.Attempt, first.Attempt)
	}
	was := counter(ctx, t, r, bad("old-attempt"))
	refused := a.fresh(first, wire.OutcomeRefused, wire.EvidenceNone)
	refused.Permanent, refused.Reason = true, "poison"
	a.say(refused)
	err := r.Until(ctx, "the old refusal to be counted", func(ctx context.Context) bool {
		return counter(ctx, t, r, bad("old-attempt")) == was+1
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Ticket(ctx, "old/1", "grill"); err != nil || got.State != "leased" {
		t.Fatalf("after a refusal of attempt 1: state %q, %v", got.State, err)
	}
	a.say(a.fresh(first, wire.OutcomePrinted, wire.EvidenceConfirmed))
	if got, err := r.Over(ctx, "old/1", "grill"); err != nil || got.State != "settled" {
		t.Fatalf("after paper of attempt 1: state %q, %v", got.State, err)
	}
}
