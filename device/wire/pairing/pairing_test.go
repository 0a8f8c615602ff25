package pairing

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestCodesAreReadAsPeopleTypeThem(t *testing.T) {
	for _, typed := range []string{"abcd-efgh", "ABCDEFGH", " abcd efgh ", "AbCd-EfGh"} {
		if code, err := NormalCode(typed); code != "ABCD-EFGH" || err != nil {
			t.Errorf("%q: got %q, %v", typed, code, err)
		}
	}
	for _, typed := range []string{
		"", "ABCD-EFG", "ABCD-EFGHJ", "ABCD-EFG0", "ABCD-EFGé", "ABCD.EFGH",
	} {
		if code, err := NormalCode(typed); !errors.Is(err, ErrCode) {
			t.Errorf("%q: got %q, %v", typed, code, err)
		}
	}
	if len(Alphabet) != 32 || strings.ContainsAny(Alphabet, "0O1I") {
		t.Errorf("alphabet %s", Alphabet)
	}
}

func TestAPairingStringHoldsCodeAndInstallation(t *testing.T) {
	ca := Installation([]byte("a key"))
	code, got, err := Split(strings.ToUpper(Join("ABCD-EFGH", ca)))
	if code != "ABCD-EFGH" || got != ca || len(ca) != 26 || err != nil {
		t.Errorf("got %q %q %v", code, got, err)
	}
	if code, got, err = Split("abcdefgh"); code != "ABCD-EFGH" || got != "" || err != nil {
		t.Errorf("got %q %q %v", code, got, err)
	}
	for _, wrong := range []string{"ABCD-EFGH.", "ABCD-EFGH.abc", "x." + ca, "ABCD-EFGH." + ca + "aa",
		"ABCD-EFGH.0" + ca[1:]} {
		if _, _, err := Split(wrong); !errors.Is(err, ErrCode) {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}

func TestSignedBytesDifferWhereverRequestsDiffer(t *testing.T) {
	base := Request{Code: "ABCD-EFGH", CSR: []byte("csr"), AckKey: []byte("key")}
	moved := base
	moved.CSR, moved.AckKey = []byte("csrk"), []byte("ey")
	other := base
	other.Code = "ABCD-EFGJ"
	all := [][]byte{
		base.Signed(), moved.Signed(), other.Signed(),
		Renewal{Device: "ABCD-EFGH", CSR: []byte("csr")}.Signed(),
	}
	for i, a := range all {
		for j, b := range all {
			if i != j && bytes.Equal(a, b) {
				t.Errorf("requests %d and %d sign the same bytes", i, j)
			}
		}
	}
}

func TestFingerprintsNeverChange(t *testing.T) {
	// Golden: printed on slips and typed by people; another result would strand every slip.
	if got := Installation([]byte("ca")); got != "nfmqs4ab2ecqdld5ktal3og3me" {
		t.Errorf("installation %s", got)
	}
	if got := Keys([]byte("tls"), []byte("ack")); got != "taxi-h23j-lzyr-bxyt-b75k" {
		t.Errorf("keys %s", got)
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "ABCD-EFGH", "ABCD-EFGH.nfmqs4ab2ecqdld5ktal3og3me", "....", "a.b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		code, ca, err := Split(s)
		if err != nil {
			if !errors.Is(err, ErrCode) || code != "" || ca != "" {
				t.Errorf("%q: %q %q %v", s, code, ca, err)
			}
			return
		}
		text := code
		if ca != "" {
			text = Join(code, ca)
		}
		again, sameCA, err := Split(text)
		if again != code || sameCA != ca || err != nil {
			t.Errorf("%q: %q %q, again %q %q %v", s, code, ca, again, sameCA, err)
		}
	})
}
