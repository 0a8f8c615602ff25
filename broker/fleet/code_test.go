package fleet_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/device/wire/pairing"
)

func (b *bench) wantRefused(r pairing.Request, want error) {
	b.t.Helper()
	if a, err := b.Pair(context.Background(), r); !errors.Is(err, want) || a.Device != "" {
		b.t.Errorf("got %q, %v, want %v", a.Device, err, want)
	}
}

func TestACodeIsUsedOnceAndByOneKey(t *testing.T) {
	b, k, other := newBench(t), newKit(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	first, err := b.Pair(context.Background(), k.request(t, code))
	if err != nil {
		t.Fatal(err)
	}
	t.Log("# the answer was lost: the same keys ask again, also after a restart")
	b.restart()
	for _, typed := range []string{code, strings.ToLower(code)} {
		again, err := b.Pair(context.Background(), k.request(t, typed))
		if err != nil || again.Device != first.Device {
			t.Errorf("got %q, %v, want %q", again.Device, err, first.Device)
		}
	}
	b.wantRefused(other.request(t, code), fleet.ErrCode)
	if all, _ := b.Devices(context.Background(), ""); len(all) != 1 {
		t.Errorf("%d devices, want 1", len(all))
	}
}

func TestACodeEndsAfterTenMinutes(t *testing.T) {
	b, k := newBench(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	b.clock.pass(10 * time.Minute)
	b.wantRefused(k.request(t, code), fleet.ErrCode)
	used := b.code(fleet.CodeRequest{})
	b.clock.pass(10*time.Minute - time.Second)
	if _, err := b.Pair(context.Background(), k.request(t, used)); err != nil {
		t.Errorf("a second before the end: %v", err)
	}
}

func TestACodeEndsAfterFiveWrongTries(t *testing.T) {
	b, k := newBench(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	for _, last := range "23456" {
		wrong := code[:8] + string(last)
		if wrong == code {
			wrong = code[:8] + "7"
		}
		b.wantRefused(k.request(t, wrong), fleet.ErrCode)
	}
	b.wantRefused(k.request(t, code), fleet.ErrCode)
}

func TestABoundCodeTakesOnlyTheKeysOnTheSlip(t *testing.T) {
	b, k, thief := newBench(t), newKit(t), newKit(t)
	code := b.code(fleet.CodeRequest{Fingerprint: k.fingerprint(t)})
	b.wantRefused(thief.request(t, code), fleet.ErrCode)
	if _, err := b.Pair(context.Background(), k.request(t, code)); err != nil {
		t.Error(err)
	}
}

func TestCodesOfOneSlotAreUsedAgainAfterTheirEnd(t *testing.T) {
	b := newBench(t)
	for range 300 {
		b.code(fleet.CodeRequest{})
		b.clock.pass(5 * time.Minute)
	}
	records, err := b.records.List(context.Background(), "fleet/code/")
	if err != nil || len(records) > 3 {
		t.Errorf("%d records of codes, want at most 3", len(records))
	}
}

func TestTooManyLivingCodesAreRefused(t *testing.T) {
	b := newBench(t)
	made := 0
	for ; made < 1000; made++ {
		if _, err := b.NewCode(context.Background(), fleet.CodeRequest{Tenant: "bistro"}); err != nil {
			break
		}
	}
	if made != 256 {
		t.Errorf("%d codes, want 256", made)
	}
	if _, err := b.NewCode(context.Background(), fleet.CodeRequest{Tenant: "No"}); err == nil {
		t.Error("a tenant that is no id got a code")
	}
}

func TestAClaimThatDiedHalfwayIsFinishedByTheSameKeys(t *testing.T) {
	b, k := newBench(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	broken := errors.New("power cut")
	b.records.Fail = func(key string) error {
		if strings.HasPrefix(key, "fleet/device/") {
			return broken
		}
		return nil
	}
	b.wantRefused(k.request(t, code), broken)
	b.records.Fail = nil
	b.restart()
	b.wantRefused(newKit(t).request(t, code), fleet.ErrCode)
	if _, err := b.Pair(context.Background(), k.request(t, code)); err != nil {
		t.Error(err)
	}
}

func TestRequestsWithoutProofAreRefused(t *testing.T) {
	b, k, other := newBench(t), newKit(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	sign := func(r pairing.Request) pairing.Request {
		r.Proof = ed25519.Sign(k.ack, r.Signed())
		return r
	}
	for name, change := range map[string]func(r pairing.Request) pairing.Request{
		"no proof":   func(r pairing.Request) pairing.Request { r.Proof = nil; return r },
		"no ack key": func(r pairing.Request) pairing.Request { r.AckKey = nil; return r },
		"short ack key": func(r pairing.Request) pairing.Request {
			r.AckKey = r.AckKey[:31]
			return r
		},
		"proof of another": func(r pairing.Request) pairing.Request {
			r.AckKey = other.public()
			return r
		},
		"proof of old code": func(r pairing.Request) pairing.Request { r.Code = "AAAA-AAAA"; return r },
		"no csr":            func(r pairing.Request) pairing.Request { r.CSR = nil; return sign(r) },
		"altered csr": func(r pairing.Request) pairing.Request {
			r.CSR[len(r.CSR)-1] ^= 1
			return sign(r)
		},
		"csr of another device": func(r pairing.Request) pairing.Request {
			r.CSR = other.csr(t, other.fingerprint(t))
			return sign(r)
		},
		"code is none": func(r pairing.Request) pairing.Request { r.Code = "?"; return sign(r) },
		"printer name": func(r pairing.Request) pairing.Request {
			r.Printers = []string{"a b"}
			return r
		},
		"printers": func(r pairing.Request) pairing.Request {
			r.Printers = make([]string, pairing.PrintersMax+1)
			return r
		},
		"version": func(r pairing.Request) pairing.Request {
			r.Version = strings.Repeat("x", 1000)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.wantRefused(change(k.request(t, code)), fleet.ErrRequest)
		})
	}
	b.t = t
	if _, err := b.Pair(context.Background(), k.request(t, code)); err != nil {
		t.Errorf("refused requests cost the code: %v", err)
	}
}
