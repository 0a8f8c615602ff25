package wire

import (
	"errors"
	"strings"
	"testing"
)

// payloads are valid, one of each message but the ticket.
var payloads = map[Type]string{
	TypeRecall: `{"id":"r-1","ticket":"1/1@bar","attempt":1,"reason":"moved","iat":1,` +
		`"moved_to":"bar","aud":"pi-7"}`,
	TypeCommand: `{"id":"c-1","do":"test-print","args":{"a":"b"},"iat":1,"aud":"pi-7"}`,
	TypeWelcome: `{"session":"s","epoch":1,"host":"h","now_ms":1,"journal":"j","n_seen":0}`,
	TypeHost:    `{"state":"draining","epoch":"h"}`,
	TypeHello:   `{"iss":"pi-7","session":"s","boot":0,"journal":"j","n":0,"version":"1","wire":1}`,
	TypeAck:     ackPayload,
	TypeReply:   `{"iss":"pi-7","sub":"c-1","ok":false,"journal":"j","boot":0,"n":1,"iat":1}`,
	TypeMade: `{"iss":"pi-7","sub":"1/1@bar","digest":"` + Digest([]byte(`{"id":"1/1"}`)) + `",` +
		`"number":"L3","station":"bar","printer":"p","journal":"j","boot":0,"n":1,"iat":1,` +
		`"data":{"id":"1/1"}}`,
}

func openPayload(t *testing.T, typ Type, payload string) error {
	t.Helper()
	for _, m := range messages() {
		if m.typ == typ {
			raw := compact(m.key, headerOf(m.key, "chit-"+string(typ)+"+jws"), payload)
			_, err := m.open(keysOf(t, m.key), []byte(raw))
			return err
		}
	}
	t.Fatalf("no message %s", typ)
	return nil
}

func TestGenuineMessagesWithWrongClaimsAreRefused(t *testing.T) {
	for typ, payload := range payloads {
		if err := openPayload(t, typ, payload); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
	for _, c := range []struct {
		typ         Type
		old, change string
	}{
		{TypeRecall, `"id":"r-1",`, ``},
		{TypeRecall, `"r-1"`, `"r 1"`},
		{TypeRecall, `"r-1"`, `"` + strings.Repeat("r", 129) + `"`},
		{TypeRecall, `1/1@bar`, `1/1`},
		{TypeRecall, `"attempt":1`, `"attempt":0`},
		{TypeRecall, `"reason":"moved",`, ``},
		{TypeRecall, `"iat":1`, `"iat":"1"`},
		{TypeRecall, `"iat":1`, `"iat":-1`},
		{TypeRecall, `"aud":"pi-7"`, `"aud":"Pi 7"`},
		{TypeRecall, `"aud":"pi-7"`, `"aud":["pi-7"]`},
		{TypeCommand, `"c-1"`, `""`},
		{TypeCommand, `"do":"test-print",`, ``},
		{TypeCommand, `test-print`, `rm -rf`},
		{TypeCommand, `{"a":"b"}`, `{"a":1}`},
		{TypeCommand, `{"a":"b"}`, `["a"]`},
		{TypeWelcome, `"session":"s",`, ``},
		{TypeWelcome, `"epoch":1`, `"epoch":-1`},
		{TypeWelcome, `"now_ms":1`, `"now_ms":0`},
		{TypeWelcome, `,"n_seen":0`, ``},
		{TypeHost, `draining`, `asleep`},
		{TypeHost, `,"epoch":"h"`, ``},
		{TypeHello, `"iss":"pi-7",`, ``},
		{TypeHello, `"pi-7"`, `"feed"`},
		{TypeHello, `"boot":0,`, ``},
		{TypeHello, `"n":0`, `"n":1.5`},
		{TypeHello, `"wire":1`, `"wire":0`},
		{TypeHello, `"version":"1",`, ``},
		{TypeAck, `"iss":"pi-7",`, ``},
		{TypeAck, `"attempt":2`, `"attempt":true`},
		{TypeAck, `"outcome":"printed",`, ``},
		{TypeAck, `"confirmed"`, `"stored"`},
		{TypeAck, `"printed","evidence":"confirmed"`, `"refused"`},
		{TypeAck, `"printed","evidence":"confirmed"`, `"held"`},
		{TypeAck, `"printed","evidence":"confirmed"`, `"recalled"`},
		{TypeAck, `"printed"`, `"printed","marked":"yes"`},
		{TypeAck, `"digest":"`, `"digest":"x`},
		{TypeAck, Digest(nil), ``},
		{TypeAck, `"journal":"j-1",`, ``},
		{TypeAck, `,"iat":1772384400`, ``},
		{TypeReply, `"ok":false,`, ``},
		{TypeReply, `"ok":false`, `"ok":0`},
		{TypeReply, `"ok":false`, `"ok":false,"result":{"a":[]}`},
		{TypeReply, `"n":1`, `"n":0`},
		{TypeMade, `"L3"`, `"3"`},
		{TypeMade, `"L3"`, `"L0"`},
		{TypeMade, `"data":{"id":"1/1"}`, `"data":{"id":"1/1" }`}, // Digest is over exact bytes.
		{TypeMade, `"data":{"id":"1/1"}`, `"data":{"id":"1/2"}`},
		{TypeMade, `,"data":{"id":"1/1"}`, ``},
		{TypeMade, `"sub":"1/1@bar"`, `"sub":"1/2@bar"`},
		{TypeMade, `"printer":"p",`, ``},
	} {
		payload := strings.Replace(payloads[c.typ], c.old, c.change, 1)
		if payload == payloads[c.typ] {
			t.Errorf("%s: %s is not in the payload", c.typ, c.old)
		}
		if err := openPayload(t, c.typ, payload); !errors.Is(err, ErrClaims) {
			t.Errorf("%s with %s for %s: %v, want ErrClaims", c.typ, c.change, c.old, err)
		}
	}
}

func TestMembersOfANewerMinorVersionAreIgnored(t *testing.T) {
	for typ, payload := range payloads {
		newer := strings.Replace(payload, "{", `{"mood":{"good":[true,null]},`, 1)
		if err := openPayload(t, typ, newer); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestRefusalsAndRecallsNeedNoDigest(t *testing.T) {
	for _, o := range []Outcome{OutcomeRefused, OutcomeRecalled} {
		a := exampleAck
		a.Outcome, a.Permanent, a.Digest = o, false, ""
		if _, err := signerOf(t, deviceKey).SignAck(a); err != nil {
			t.Errorf("%s: %v", o, err)
		}
	}
}

func TestWhatWouldBeRefusedIsNotSigned(t *testing.T) {
	s := signerOf(t, deviceKey)
	made := exampleMade()
	made.Data = append(made.Data, ' ')
	noJournal := exampleAck
	noJournal.Journal = ""
	for name, sign := range map[string]func() ([]byte, error){
		"recall":  func() ([]byte, error) { return s.SignRecall(Recall{}) },
		"command": func() ([]byte, error) { return s.SignCommand(Command{}) },
		"welcome": func() ([]byte, error) { return s.SignWelcome(Welcome{}) },
		"host":    func() ([]byte, error) { return s.SignHost(Host{}) },
		"hello":   func() ([]byte, error) { return s.SignHello(Hello{}) },
		"ack":     func() ([]byte, error) { return s.SignAck(noJournal) },
		"reply":   func() ([]byte, error) { return s.SignReply(Reply{}) },
		"made":    func() ([]byte, error) { return s.SignMade(made) },
		"ticket":  func() ([]byte, error) { return s.SignTicket(Ticket{Data: []byte("{}")}) },
	} {
		if raw, err := sign(); !errors.Is(err, ErrClaims) || raw != nil {
			t.Errorf("%s: got %s, %v; want ErrClaims", name, raw, err)
		}
	}
	long := exampleCommand
	long.Args = map[string]string{"text": strings.Repeat("x", MessageMax)}
	if _, err := s.SignCommand(long); !errors.Is(err, ErrTooLarge) {
		t.Errorf("long command: %v, want ErrTooLarge", err)
	}
}

func TestKeysOfAcksNeverRepeat(t *testing.T) {
	if exampleAck.Key() != (AckKey{"j-1", 4, 1729}) ||
		exampleReply.Key() != (AckKey{"j-1", 4, 1730}) ||
		exampleMade().Key() != (AckKey{"j-1", 4, 1731}) {
		t.Error("the key is not (journal, boot, n)")
	}
}
