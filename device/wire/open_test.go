package wire

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestEverySignedMessageComesBackAsItWas(t *testing.T) {
	for _, m := range messages() {
		t.Run(string(m.typ), func(t *testing.T) {
			raw, err := m.sign(signerOf(t, m.key))
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.open(keysOf(t, foreignKey, m.key), raw)
			if err != nil || !reflect.DeepEqual(got, m.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, m.want)
			}
			typ, kid, err := Peek(raw)
			if err != nil || typ != m.typ || kid != KID(m.key.Public().(ed25519.PublicKey)) {
				t.Errorf("Peek = %s, %s, %v", typ, kid, err)
			}
		})
	}
}

func TestAMessageOpensOnlyAsItsOwnType(t *testing.T) {
	for _, m := range messages() {
		raw, err := m.sign(signerOf(t, m.key))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range messages() {
			got, err := other.open(keysOf(t, m.key), raw)
			if other.typ != m.typ && !errors.Is(err, ErrTyp) {
				t.Errorf("%s opened as %s: %+v, %v; want ErrTyp", m.typ, other.typ, got, err)
			}
		}
		if got, err := m.open(keysOf(t, foreignKey), raw); !errors.Is(err, ErrKID) {
			t.Errorf("%s with another's keys: %+v, %v; want ErrKID", m.typ, got, err)
		}
		if got, err := m.open(nil, raw); !errors.Is(err, ErrKID) {
			t.Errorf("%s without keys: %+v, %v; want ErrKID", m.typ, got, err)
		}
	}
}

func TestNoBitOfAMessageCanChange(t *testing.T) {
	raw, err := signerOf(t, deviceKey).SignAck(exampleAck)
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t, deviceKey)
	for i := range raw {
		for bit := range 8 {
			bent := bytes.Clone(raw)
			bent[i] ^= 1 << bit
			if got, err := keys.OpenAck(bent); err == nil || got != (Ack{}) {
				t.Fatalf("byte %d bit %d: %+v, %v", i, bit, got, err)
			}
		}
		if got, err := keys.OpenAck(raw[:i]); err == nil {
			t.Fatalf("cut to %d bytes: %+v", i, got)
		}
	}
	for _, more := range []string{".", "=", "A", "\n", " "} {
		if got, err := keys.OpenAck(append(bytes.Clone(raw), more...)); err == nil {
			t.Errorf("with %q behind it: %+v", more, got)
		}
	}
}

// counted is a key that lives elsewhere.
type counted struct {
	ed25519.PrivateKey
	calls int
}

func (c *counted) Sign(r io.Reader, message []byte, o crypto.SignerOpts) ([]byte, error) {
	c.calls++
	return c.PrivateKey.Sign(r, message, o)
}

func TestTheKeyMayLiveElsewhere(t *testing.T) {
	key := &counted{PrivateKey: deviceKey}
	s, err := NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.SignAck(exampleAck)
	if err != nil || key.calls != 1 {
		t.Fatalf("%v after %d calls", err, key.calls)
	}
	if _, err := keysOf(t, deviceKey).OpenAck(raw); err != nil {
		t.Error(err)
	}
	if !s.Public().Equal(deviceKey.Public()) || s.KID() != KID(s.Public()) || len(s.KID()) != 16 {
		t.Errorf("public %x, kid %q", s.Public(), s.KID())
	}
}

func TestKeysOfAnotherKindAreRefused(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSigner(other); !errors.Is(err, ErrKey) {
		t.Errorf("P-256: %v, want ErrKey", err)
	}
	if _, err := NewSigner(nil); !errors.Is(err, ErrKey) {
		t.Errorf("nil: %v, want ErrKey", err)
	}
	if _, err := NewKeys(ed25519.PublicKey("short")); !errors.Is(err, ErrKey) {
		t.Errorf("short key: %v, want ErrKey", err)
	}
	// A broken entry put in by hand may not panic in the verifier.
	raw, err := signerOf(t, deviceKey).SignAck(exampleAck)
	if err != nil {
		t.Fatal(err)
	}
	bad := Keys{KID(deviceKey.Public().(ed25519.PublicKey)): ed25519.PublicKey("short")}
	if _, err := bad.OpenAck(raw); !errors.Is(err, ErrKID) {
		t.Errorf("broken key: %v, want ErrKID", err)
	}
}

func TestChangesThatDoNotFitAreLeftOutAndTheMessageSaysSo(t *testing.T) {
	m := exampleTicket()
	for range ItemsMax {
		m.Changes.Added = append(m.Changes.Added, Item{Quantity: 1, Name: strings.Repeat("x", NameMax)})
	}
	m.Changes.Added = m.Changes.Added[:ItemsMax]
	m.Changes.Removed = m.Changes.Added
	raw, err := signerOf(t, brokerKey).SignTicket(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := keysOf(t, brokerKey).OpenTicket(raw)
	want := m
	want.Changes = &Changes{Since: 1, Omitted: true}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheLargestTicketOfADoorFitsIntoAMessage(t *testing.T) {
	m := exampleTicket()
	m.Changes = nil
	item := Item{Quantity: 999, Name: strings.Repeat("x", 190)}
	c := Content{ID: "web-41/2", Kitchen: "main", Station: "grill", Kind: KindNew}
	for {
		c.Items = append(c.Items, item)
		data, err := CanonicalContent(c)
		if errors.Is(err, ErrTooLarge) || len(c.Items) > ItemsMax {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Data = data
	}
	if len(m.Data) < ContentMax-300 {
		t.Fatalf("only %d bytes", len(m.Data))
	}
	raw, err := signerOf(t, brokerKey).SignTicket(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("# %d bytes of data make a message of %d", len(m.Data), len(raw))
	made := exampleMade()
	made.Ticket, made.Data, made.Digest = "web-41/2@grill", m.Data, Digest(m.Data)
	if _, err := signerOf(t, deviceKey).SignMade(made); err != nil {
		t.Error(err)
	}
}

func TestAGenuineTicketThatCannotBeUnderstoodIsRefusedByName(t *testing.T) {
	payload, err := EncodeTicket(exampleTicket())
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(string(payload), "ticket.v1", "ticket.v2", 1)
	big := strings.Replace(string(payload), `"gaps"`, `"pad":"`+strings.Repeat("x", MessageMax)+
		`","gaps"`, 1)
	odd := strings.Replace(string(payload), `"as":"new"`, `"as":"song"`, 1)
	v1, v2 := headerOf(brokerKey, "chit-ticket+jws"), headerOf(brokerKey, "chit-ticket.v2+jws")
	for _, c := range []struct {
		name string
		raw  string
		want error
	}{
		{"newer typ", compact(brokerKey, v2, next), ErrVersion},
		{"newer typ around an event of today", compact(brokerKey, v2, string(payload)), ErrVersion},
		{"newer event", compact(brokerKey, v1, next), ErrVersion},
		{"too large", compact(brokerKey, v1, big), ErrTooLarge},
		{"odd kind", compact(brokerKey, v1, odd), ErrClaims},
	} {
		got, err := keysOf(t, brokerKey).OpenTicket([]byte(c.raw))
		want := Ticket{ID: exampleTicket().ID, Attempt: 3, Data: exampleTicket().Data}
		if !errors.Is(err, c.want) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %v and what to refuse", c.name, got, err, c.want)
		}
		forged, err := keysOf(t, brokerKey).OpenTicket([]byte(c.raw[:len(c.raw)-8] + "AAAAAAAA"))
		if !errors.Is(err, ErrSignature) && !errors.Is(err, ErrMalformed) || forged.ID != "" {
			t.Errorf("%s, forged: got %+v, %v; want nothing", c.name, forged, err)
		}
	}
	huge := compact(brokerKey, v1, strings.Repeat(" ", OpenMax)+big)
	if got, err := keysOf(t, brokerKey).OpenTicket([]byte(huge)); !errors.Is(err, ErrTooLarge) ||
		got.ID != "" {
		t.Errorf("%d bytes: %+v, %v; want ErrTooLarge unread", len(huge), got, err)
	}
}

func TestAddressees(t *testing.T) {
	if !Addressed("", "pi-7") || !Addressed("pi-7", "pi-7") || Addressed("pi-8", "pi-7") {
		t.Error("a message speaks to the device it names, or to whom its topic names")
	}
}

func FuzzOpen(f *testing.F) {
	keys, all := keysOf(f, brokerKey, deviceKey), messages()
	for i, m := range all {
		raw, err := m.sign(signerOf(f, m.key))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, payloads[m.typ], byte(i))
	}
	for i, c := range refused(f) {
		if len(c.Compact) < 4096 { // The large one only slows the fuzzer down.
			f.Add([]byte(c.Compact), ackPayload, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, payload string, which byte) {
		// As a whole message, and as the payload of a genuine one: both come from outside.
		m := all[int(which)%len(all)]
		genuine := compact(m.key, headerOf(m.key, "chit-"+string(m.typ)+"+jws"), payload)
		for _, one := range [][]byte{raw, []byte(genuine)} {
			got, err := m.open(keys, one)
			if err == nil {
				checkSignable(t, m.key, got)
			} else if Reason(err) == "other" {
				t.Fatalf("%s refused without a reason: %v", m.typ, err)
			}
			_ = Decode("", one, keys).String()
		}
	})
}

// checkSignable holds an opened message against its way back. A ticket or a made whose data are not
// in exact form is read, because the digest covers whatever was sent, and not written.
func checkSignable(t *testing.T, key ed25519.PrivateKey, got any) {
	t.Helper()
	s := signerOf(t, key)
	var err error
	switch m := got.(type) {
	case Recall:
		_, err = s.SignRecall(m)
	case Command:
		_, err = s.SignCommand(m)
	case Welcome:
		_, err = s.SignWelcome(m)
	case Host:
		_, err = s.SignHost(m)
	case Hello:
		_, err = s.SignHello(m)
	case Ack:
		_, err = s.SignAck(m)
	case Reply:
		_, err = s.SignReply(m)
	}
	if err != nil && !errors.Is(err, ErrTooLarge) {
		t.Fatalf("%+v was opened and cannot be signed: %v", got, err)
	}
}
