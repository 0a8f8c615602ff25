package wire

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors; review the diff")

// vector is one file of testdata/vectors: enough for a second implementation to test itself.
type vector struct {
	Name string `json:"name"`
	Open Type   `json:"open,omitempty"` // the opener it is given to
	// Want is "ok" or the Reason for which it is refused.
	Want string `json:"want"`
	Seed string `json:"seed,omitempty"` // Ed25519 seed of the key that is trusted, hex
	KID  string `json:"kid,omitempty"`
	// Input is the request as it came, for exact bytes.
	Input string `json:"input,omitempty"`
	// Payload is what was signed, or the bytes of what is not signed.
	Payload string `json:"payload,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Compact string `json:"compact,omitempty"`
}

func seedOf(key ed25519.PrivateKey) string { return hex.EncodeToString(key.Seed()) }

// refused are messages that must not open as an ack of the device key.
func refused(t testing.TB) []vector {
	b64 := base64.RawURLEncoding.EncodeToString
	good := headerOf(deviceKey, "chit-ack+jws")
	kid := KID(deviceKey.Public().(ed25519.PublicKey))
	genuine := compact(deviceKey, good, ackPayload)
	part := strings.Split(genuine, ".")
	with := func(more string) string { return strings.Replace(good, "}", more+"}", 1) }
	mac := hmac.New(sha256.New, deviceKey.Public().(ed25519.PublicKey))
	hs := b64([]byte(strings.Replace(good, "EdDSA", "HS256", 1))) + "." + part[1]
	mac.Write([]byte(hs))
	edit := func(old, change string) string {
		return compact(deviceKey, good, strings.Replace(ackPayload, old, change, 1))
	}
	list := []vector{
		{Name: "alg-none", Want: "alg",
			Compact: b64([]byte(strings.Replace(good, "EdDSA", "none", 1))) + "." + part[1] + "."},
		{Name: "alg-hs256-with-the-public-key", Want: "alg", Compact: hs + "." + b64(mac.Sum(nil))},
		{Name: "alg-absent", Want: "alg", Compact: compact(deviceKey,
			`{"kid":"`+kid+`","typ":"chit-ack+jws"}`, ackPayload)},
		{Name: "typ-of-another-message", Want: "typ",
			Compact: compact(deviceKey, headerOf(deviceKey, "chit-hello+jws"), ackPayload)},
		{Name: "typ-jwt", Want: "typ", Compact: compact(deviceKey, headerOf(deviceKey, "JWT"),
			ackPayload)},
		{Name: "typ-absent", Want: "typ", Compact: compact(deviceKey,
			`{"alg":"EdDSA","kid":"`+kid+`"}`, ackPayload)},
		{Name: "typ-newer", Want: "version",
			Compact: compact(deviceKey, headerOf(deviceKey, "chit-ack.v2+jws"), ackPayload)},
		{Name: "payload-altered", Want: "signature", Compact: part[0] + "." +
			b64([]byte(strings.Replace(ackPayload, "pi-7", "pi-8", 1))) + "." + part[2]},
		{Name: "signature-of-another-message", Want: "signature", Compact: part[0] + "." + part[1] +
			"." + strings.Split(edit("1729", "1730"), ".")[2]},
		{Name: "signature-empty", Want: "signature", Compact: part[0] + "." + part[1] + "."},
		{Name: "foreign-key", Want: "kid",
			Compact: compact(foreignKey, headerOf(foreignKey, "chit-ack+jws"), ackPayload)},
		{Name: "foreign-key-under-our-kid", Want: "signature",
			Compact: compact(foreignKey, good, ackPayload)},
		{Name: "kid-absent", Want: "kid", Compact: compact(deviceKey,
			`{"alg":"EdDSA","typ":"chit-ack+jws"}`, ackPayload)},
		{Name: "header-crit", Want: "malformed",
			Compact: compact(deviceKey, with(`,"crit":["exp"],"exp":1`), ackPayload)},
		{Name: "header-b64-false", Want: "malformed",
			Compact: compact(deviceKey, with(`,"b64":false`), ackPayload)},
		{Name: "header-jwk", Want: "malformed", Compact: compact(foreignKey, with(
			`,"jwk":{"kty":"OKP","crv":"Ed25519","x":"`+
				b64(foreignKey.Public().(ed25519.PublicKey))+`"}`), ackPayload)},
		{Name: "header-jku", Want: "malformed",
			Compact: compact(deviceKey, with(`,"jku":"https://example.org/keys"`), ackPayload)},
		{Name: "header-kid-is-a-number", Want: "malformed", Compact: compact(deviceKey,
			strings.Replace(good, `"`+kid+`"`, `1`, 1), ackPayload)},
		{Name: "header-x5c", Want: "malformed",
			Compact: compact(deviceKey, with(`,"x5c":[]`), ackPayload)},
		{Name: "header-alg-twice", Want: "malformed",
			Compact: compact(deviceKey, with(`,"alg":"EdDSA"`), ackPayload)},
		{Name: "header-no-object", Want: "malformed", Compact: compact(deviceKey, `[]`, ackPayload)},
		{Name: "json-serialization", Want: "malformed", Compact: `{"protected":"` + part[0] +
			`","payload":"` + part[1] + `","signature":"` + part[2] + `"}`},
		{Name: "truncated-in-the-signature", Want: "malformed", Compact: genuine[:len(genuine)-1]},
		{Name: "truncated-before-the-signature", Want: "malformed", Compact: part[0] + "." + part[1]},
		{Name: "base64-padded", Want: "malformed", Compact: genuine + "=="},
		{Name: "base64-with-a-line-end", Want: "malformed", Compact: genuine[:20] + "\n" +
			genuine[20:]},
		{Name: "base64-with-stray-bits", Want: "malformed",
			Compact: genuine[:len(genuine)-1] + strayBits(genuine[len(genuine)-1])},
		{Name: "payload-empty", Want: "malformed", Compact: compact(deviceKey, good, "")},
		{Name: "payload-no-object", Want: "claims", Compact: compact(deviceKey, good, "[]")},
		{Name: "claim-twice", Want: "malformed", Compact: edit(`"n":1729`, `"n":1729,"n":1730`)},
		{Name: "claim-n-0", Want: "claims", Compact: edit(`"n":1729`, `"n":0`)},
		{Name: "claim-n-over-2-53", Want: "claims", Compact: edit(`1729`, `9007199254740993`)},
		{Name: "claim-outcome-unknown", Want: "claims", Compact: edit(`"printed"`, `"eaten"`)},
		{Name: "claim-evidence-unknown", Want: "claims", Compact: edit(`"confirmed"`, `"hearsay"`)},
		{Name: "claim-printed-without-evidence", Want: "claims",
			Compact: edit(`"evidence":"confirmed",`, ``)},
		{Name: "claim-printed-permanent", Want: "claims",
			Compact: edit(`"outcome"`, `"permanent":true,"outcome"`)},
		{Name: "claim-digest-of-another-form", Want: "claims", Compact: edit(`sha256:e3`, `sha256:E3`)},
		{Name: "claim-ticket-of-another-form", Want: "claims", Compact: edit(`/2@`, `/02@`)},
		{Name: "too-large", Want: "too_large",
			Compact: edit(`{`, `{"pad":"`+strings.Repeat("x", MessageMax)+`",`)},
	}
	for i := range list {
		list[i].Name = "refused-" + list[i].Name
		list[i].Open, list[i].Seed, list[i].KID = TypeAck, seedOf(deviceKey), kid
	}
	return list
}

// strayBits gives the character that differs from the last of a signature only in the four bits
// that belong to no byte.
func strayBits(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, c)|1])
}

// accepted are one of each message, and exact bytes.
func accepted(t testing.TB) []vector {
	t.Helper()
	var list []vector
	for _, m := range messages() {
		s := signerOf(t, m.key)
		raw, err := m.sign(s)
		if err != nil {
			t.Fatal(err)
		}
		payload, err := base64.RawURLEncoding.DecodeString(strings.Split(string(raw), ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, vector{Name: cmp.Or(m.name, string(m.typ)), Open: m.typ, Want: "ok",
			Seed: seedOf(m.key),
			KID:  s.KID(), Payload: string(payload), Compact: string(raw)})
	}
	list = append(list, vector{Name: "ack-of-a-newer-minor-version", Open: TypeAck, Want: "ok",
		Seed: seedOf(deviceKey), KID: signerOf(t, deviceKey).KID(), Compact: compact(deviceKey,
			headerOf(deviceKey, "chit-ack+jws"), strings.Replace(ackPayload, "{", `{"mood":[{}],`, 1))})
	data, _, err := Canonical([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, vector{Name: "exact-bytes", Want: "ok", Input: example, Payload: string(data),
		Digest: Digest(data)})
	status, err := EncodeStatus(exampleStatus)
	if err != nil {
		t.Fatal(err)
	}
	telemetry, err := EncodeTelemetry(exampleTelemetry())
	if err != nil {
		t.Fatal(err)
	}
	return append(list, vector{Name: "status", Want: "ok", Payload: string(status)},
		vector{Name: "telemetry", Want: "ok", Payload: string(telemetry)})
}

func encodeVector(t *testing.T, v vector) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenVectorsHold(t *testing.T) {
	const folder = "testdata/vectors"
	all := append(accepted(t), refused(t)...)
	made := map[string]bool{}
	for _, v := range all {
		file := filepath.Join(folder, v.Name+".json")
		made[file] = true
		if *update {
			if err := os.WriteFile(file, encodeVector(t, v), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(v.Name, func(t *testing.T) {
			stored, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stored, encodeVector(t, v)) {
				t.Errorf("%s is no longer what this code makes: the wire changed", file)
			}
			var kept vector
			if err := json.Unmarshal(stored, &kept); err != nil {
				t.Fatal(err)
			}
			checkVector(t, kept)
		})
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !made[file] {
			t.Errorf("%s is tested by nobody", file)
		}
	}
}

// checkVector opens what the file holds, whoever made it.
func checkVector(t *testing.T, v vector) {
	t.Helper()
	if v.Input != "" {
		data, _, err := Canonical([]byte(v.Input))
		if err != nil || string(data) != v.Payload || Digest(data) != v.Digest {
			t.Errorf("exact bytes %s, %v; want %s", data, err, v.Payload)
		}
	}
	if v.Open == "" {
		return
	}
	seed, err := hex.DecodeString(v.Seed)
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t, ed25519.NewKeyFromSeed(seed))
	if _, ok := keys[v.KID]; !ok {
		t.Errorf("kid %s is not that of the seed", v.KID)
	}
	for _, m := range messages() {
		if m.typ != v.Open {
			continue
		}
		got, err := m.open(keys, []byte(v.Compact))
		if v.Want != "ok" {
			if Reason(err) != v.Want || !reflect.ValueOf(got).IsZero() {
				t.Errorf("got %+v, refused for %q (%v); want %q", got, Reason(err), err, v.Want)
			}
			return
		}
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		mine := v.Name == cmp.Or(m.name, string(m.typ))
		if v.Payload != "" && mine && !reflect.DeepEqual(got, m.want) {
			t.Errorf("got  %+v\nwant %+v", got, m.want)
		}
	}
}
