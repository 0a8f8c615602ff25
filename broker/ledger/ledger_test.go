package ledger

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
)

func TestDrawingsAndCodeAgree(t *testing.T) {
	source, err := os.ReadFile("state.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"Created": "created", "Reserved": "reserved", "Credited": "credited",
		"Captured": "captured", "Failed": "failed", "Releasing": "releasing", "Released": "released",
		`""`: "", "Held": "held", "Posted": "posted", "Refused": "refused", "Revoked": "revoked",
		"Freed": "released"}
	drawn := map[string]bool{}
	arrow := regexp.MustCompile(`(?m)^//\t(\S+) +--(\w+)--> +(\w+)`)
	for _, m := range arrow.FindAllStringSubmatch(string(source), -1) {
		drawn[fmt.Sprintf("%s --%s--> %s", names[m[1]], m[2], names[m[3]])] = true
	}
	coded := map[string]bool{}
	for from, to := range transferArcs {
		if from.from != "" { // A transfer is born by one event alone.
			coded[fmt.Sprintf("%s --%s--> %s", from.from, from.what, to)] = true
		}
	}
	for from, to := range legArcs {
		coded[fmt.Sprintf("%s --%s--> %s", from.from, from.what, to)] = true
	}
	for one := range coded {
		if !drawn[one] {
			t.Errorf("coded and not drawn: %s", one)
		}
	}
	for one := range drawn {
		if !coded[one] {
			t.Errorf("drawn and not coded: %s", one)
		}
	}
}

func TestATransferMovesMoneyAndLeavesBothStatements(t *testing.T) {
	s := tell(t)
	s.rich(100, "a")
	s.rich(0, "b")
	s.must(pay("k", 60))
	s.carry()
	s.wantPhase("k", Captured, "")
	s.want("a", 40, 0)
	s.want("b", 60, 0)
	s.want("outside:EUR", -100, 0)
	entries, err := Statement(s, "t", "a", "", 10)
	if err != nil || len(entries) != 2 || entries[0].ID() != "k/debit" || entries[0].Balance != 40 ||
		entries[1].ID() != "seed-a/credit" || entries[1].Signed() != 100 {
		t.Errorf("the statement is %+v, %v", entries, err)
	}
	entries, err = Statement(s, "t", "a", "k/debit", 10)
	if err != nil || len(entries) != 1 || entries[0].Number != 1 {
		t.Errorf("the statement before k is %+v, %v", entries, err)
	}
	var input *InputError
	if _, err := Statement(s, "t", "a", "k/credit", 10); !errors.As(err, &input) ||
		input.Field != "before" {
		t.Errorf("a statement from another account's entry: %v", err)
	}
	if _, err := Statement(s, "t", "nobody", "", 10); !errors.Is(err, ErrUnknown) {
		t.Errorf("nobody's statement: %v", err)
	}
}

func TestBadAmountsAndCurrenciesAreRefusedByField(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	s.must(Open{Tenant: "t", Account: "u", Currency: "USD"})
	begin := func(change func(*Begin)) Begin {
		b := pay("bad", 5)
		change(&b)
		return b
	}
	before := len(s.states)
	for _, test := range []struct {
		field, found, expected string
		command                entity.Command
	}{
		{"amount", "0", "positive", begin(func(b *Begin) { b.Amount = 0 })},
		{"amount", "-5", "positive", begin(func(b *Begin) { b.Amount = -5 })},
		{"amount", "-9223372036854775808", "positive", begin(func(b *Begin) {
			b.Amount = math.MinInt64
		})},
		{"currency", "USD", "EUR, the currency of account a", begin(func(b *Begin) {
			b.Currency = "USD"
		})},
		{"currency", "EUR", "USD, the currency of account u", begin(func(b *Begin) { b.To = "u" })},
		{"currency", `"eur"`, "capital", begin(func(b *Begin) { b.Currency = "eur" })},
		{"currency", "USD", "EUR", Deposit{"t", "bad", "a", 5, "USD"}},
		{"currency", "USD", "EUR", Withdraw{"t", "bad", "a", 5, "USD"}},
		{"amount", "0", "positive", Deposit{"t", "bad", "a", 0, ""}},
		{"amount", "-1", "positive", Withdraw{"t", "bad", "a", -1, ""}},
		{"to", "a", "another", begin(func(b *Begin) { b.To = "a" })},
		{"to", `"outside:EUR"`, "A-Z", begin(func(b *Begin) { b.To = "outside:EUR" })},
		{"from", `""`, "1 to 64", begin(func(b *Begin) { b.From = "" })},
		{"account", `"outside:EUR"`, "A-Z", Freeze{"t", "outside:EUR", "ana", ""}},
		{"key", `""`, "1 to 64", begin(func(b *Begin) { b.Key = "" })},
		{"key", `"a/b"`, "A-Z", begin(func(b *Begin) { b.Key = "a/b" })},
		{"hold_for", "-1s", "0 to", begin(func(b *Begin) { b.HoldFor = -time.Second })},
		{"id", `"a b"`, "A-Z", Open{"t", "a b", "EUR", 0}},
		{"limit", "-1", "0 or more", Open{"t", "x", "EUR", -1}},
		{"currency", `"EURO"`, "three", Open{"t", "x", "EURO", 0}},
		{"original", `""`, "1 to 64", Refund{"t", "bad", "", 5}},
		{"limit", "-9", "0 or more", SetLimit{"t", "a", -9, "ana"}},
	} {
		input := s.refuse(test.field, test.command)
		if input.Found != test.found || !strings.Contains(input.Expected, test.expected) {
			t.Errorf("%+v: found %s, expected %s", test.command, input.Found, input.Expected)
		}
	}
	for _, c := range []entity.Command{
		begin(func(b *Begin) { b.To = "nobody" }), Deposit{"t", "bad", "nobody", 5, ""},
		Confirm{"t", "bad", ""}, Cancel{"t", "bad", "", ""}, Refund{"t", "bad", "bad2", 5},
		Freeze{"t", "nobody", "", ""}, Answer{Tenant: "t", Transfer: "bad"},
	} {
		if err := s.do(c); !errors.Is(err, ErrUnknown) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if len(s.states) != before {
		t.Error("something was stored")
	}
}

func TestAmountsAreWrittenAsDigits(t *testing.T) {
	for text, want := range map[string]Minor{"1": 1, "1250": 1250,
		"9223372036854775807": math.MaxInt64, "9223372036854775808": 0, "": 0,
		"0": 0, "-1": 0, "+1": 0, "1.5": 0, "1e3": 0, " 1": 0, "½": 0} {
		got, err := ParseMinor("amount", text)
		var input *InputError
		if got != want || (want == 0) != errors.As(err, &input) ||
			input != nil && input.Field != "amount" {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestTheSameKeyIsOneTransferForEver(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	for range 3 {
		s.must(pay("k", 60), pay("poor", 1000))
		s.carry()
	}
	s.want("a", 40, 0)
	s.wantPhase("poor", Failed, ReasonInsufficient)
	s.must(Deposit{Tenant: "t", Key: "more", Account: "a", Amount: 5000})
	s.carry()
	s.must(pay("poor", 1000)) // What failed stays failed: a new try needs a new key.
	s.carry()
	s.wantPhase("poor", Failed, ReasonInsufficient)
	for _, other := range []entity.Command{
		pay("k", 61), Deposit{"t", "k", "b", 60, ""}, Withdraw{"t", "k", "a", 60, ""},
		Begin{Tenant: "t", Key: "k", From: "b", To: "a", Amount: 60, Currency: "EUR"},
		Begin{Tenant: "t", Key: "k", From: "a", To: "b", Amount: 60, Currency: "EUR", Wait: true},
		Open{"t", "a", "USD", 0}, Open{"t", "a", "EUR", 7},
	} {
		if err := s.do(other); !errors.Is(err, ErrConflict) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

func TestAFreezeBlocksNewHoldsAndNeverACapture(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	s.must(pay("before", 60))
	owed, err := s.owed()
	if err != nil {
		t.Fatal(err)
	}
	s.must(owed...) // The hold is granted.
	s.must(Freeze{"t", "a", "ana", "card stolen"}, pay("after", 10))
	s.carry()
	s.wantPhase("before", Captured, "")
	s.wantPhase("after", Failed, ReasonFrozen)
	s.must(Deposit{Tenant: "t", Key: "in", Account: "a", Amount: 5})
	s.carry()
	s.want("a", 45, 0)
	s.must(Thaw{"t", "a", "ana", ""}, pay("thawed", 45))
	s.carry()
	s.wantPhase("thawed", Captured, "")
}

func TestALimitIsHowFarAnAccountGoesBelowZero(t *testing.T) {
	s := tell(t)
	s.rich(0, "b")
	s.must(Open{"t", "a", "EUR", 50}, pay("k1", 30), pay("k2", 21), pay("k3", 20))
	s.carry()
	s.wantPhase("k1", Captured, "")
	s.wantPhase("k2", Failed, ReasonInsufficient)
	s.wantPhase("k3", Captured, "")
	s.want("a", -50, 0)
	if input := s.refuse("limit", SetLimit{"t", "a", 49, "ana"}); !strings.Contains(input.Expected,
		"at least 50") {
		t.Error(input)
	}
	s.must(SetLimit{"t", "a", 60, "ana"}, pay("k4", 10))
	s.carry()
	s.want("a", -60, 0)
}

func TestAHoldsEndIsAQuestionThatTheTransferAnswers(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	held := pay("k", 60)
	held.Wait, held.HoldFor = true, time.Minute
	s.must(held)
	s.carry()
	s.want("a", 100, 60)
	s.must(Expire{"t", "k/debit"}) // Too early.
	s.now = s.now.Add(time.Hour)
	s.want("a", 100, 60) // Past its end, and nobody asked yet.
	s.must(s.due()[0])
	s.want("a", 100, 60) // Asked, and not answered yet.
	if again := s.due(); len(again) != 0 {
		t.Errorf("a hold that was asked about has timers %v", again)
	}
	s.carry()
	s.wantPhase("k", Released, ReasonExpired)
	s.want("a", 100, 0)

	held.Key = "k2"
	s.must(held)
	s.carry()
	s.must(Confirm{"t", "k2", "ana"})
	s.now = s.now.Add(time.Hour)
	owed, err := s.owed()
	if err != nil {
		t.Fatal(err)
	}
	s.must(owed...) // The payee has it.
	s.must(s.due()[0])
	s.carry() // The credit is heard of with the question, or before it: it is captured.
	s.wantPhase("k2", Captured, "")
	s.want("a", 40, 0)
}

func TestRefundsAreTogetherNeverAboveTheOriginal(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	s.must(pay("k", 60))
	s.refuse("original", Refund{"t", "early", "k", 60})
	s.carry()
	s.must(Refund{"t", "r1", "k", 40})
	if input := s.refuse("amount", Refund{"t", "r2", "k", 21}); !strings.Contains(input.Expected,
		"at most 20") {
		t.Error(input)
	}
	s.must(Refund{"t", "r1", "k", 40}) // Repeated.
	s.carry()
	s.must(Refund{"t", "r2", "k", 20}, Refund{"t", "r1", "k", 40})
	s.carry()
	s.refuse("amount", Refund{"t", "r3", "k", 1})
	s.refuse("original", Refund{"t", "r3", "r1", 1})
	s.want("a", 100, 0)
	s.want("b", 100, 0)

	// One that came to nothing does not count.
	s.must(pay("k2", 100))
	s.carry()
	s.must(Withdraw{"t", "out", "b", 150, ""})
	s.carry()
	s.must(Refund{"t", "poor", "k2", 100})
	s.carry()
	s.wantPhase("poor", Failed, ReasonInsufficient)
	s.must(Refund{"t", "half", "k2", 50})
	s.carry()
	s.wantPhase("half", Captured, "")
	if err := s.do(Refund{"t", "half", "k", 50}); !errors.Is(err, ErrConflict) {
		t.Errorf("a refund of another original under the same key: %v", err)
	}
}

func TestStepsThatNoTransferSendsAreRefused(t *testing.T) {
	s := tell(t)
	s.rich(100, "a", "b")
	s.must(pay("k", 60))
	step := Step{Tenant: "t", Transfer: "k", Side: Debit, Do: Capture, Account: "a", Amount: 60,
		Currency: "EUR"}
	if err := s.do(step); !errors.Is(err, ErrNoHold) {
		t.Errorf("a capture of what is not held: %v", err)
	}
	step.Do = Pay
	s.refuse("side", step)
	step.Side, step.Amount = Credit, 0
	s.refuse("amount", step)
	s.carry()
	step.Amount = 61
	if err := s.do(step); !errors.Is(err, ErrConflict) {
		t.Errorf("a credit of another amount: %v", err)
	}
	s.want("b", 160, 0)
	for account, reason := range map[string]string{"nobody": ReasonUnknown, "outside:USD": "",
		"b": ReasonCurrency} {
		step := Step{Tenant: "t", Transfer: "x-" + account[:1], Side: Credit, Do: Pay,
			Account: account, Amount: 1, Currency: "USD"}
		s.must(step)
		if l, _, err := LoadLeg(s, "t", step.Transfer+"/credit"); l.Reason != reason || err != nil {
			t.Errorf("%s refuses because of %q, %v, want %q", account, l.Reason, err, reason)
		}
	}
}
