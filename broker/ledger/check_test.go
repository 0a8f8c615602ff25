package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
)

// TestCheckFindsEveryBreak spoils sound books in one place at a time.
func TestCheckFindsEveryBreak(t *testing.T) {
	sound := tell(t)
	sound.rich(100, "a", "b")
	waits := pay("waits", 10)
	waits.Wait = true
	sound.must(pay("k", 60), waits, pay("poor", 1000))
	sound.carry()
	sound.must(Refund{"t", "r", "k", 20})
	sound.carry()

	account := func(id string, change func(*Account)) func(*world) {
		return spoil(AccountKey("t", id), change)
	}
	transfer := func(key string, change func(*Transfer)) func(*world) {
		return spoil(TransferKey("t", key), change)
	}
	leg := func(id string, change func(*Leg)) func(*world) { return spoil(LegKey("t", id), change) }
	for _, test := range []struct {
		name, want string
		spoil      func(*world)
	}{
		{"balance", "entry r/credit is", account("a", func(a *Account) { a.Balance++ })},
		{"held", "holds 11 in 1", account("a", func(a *Account) { a.Held++ })},
		{"holds", "holds 10 in 2", account("a", func(a *Account) { a.Holds++ })},
		{"entries", "has 4 entries", account("a", func(a *Account) { a.Entries++ })},
		{"limit", "has limit -100", account("a", func(a *Account) { a.Limit = -100 })},
		{"currency", "entry r/credit is", account("a", func(a *Account) { a.Currency = "USD" })},
		{"newest entry", "expects number 3", account("a", func(a *Account) { a.Last = "k/debit" })},
		{"statement cut", "ends at 3", account("a", func(a *Account) { a.Last = "" })},
		{"account gone", "does not exist", func(w *world) { delete(w.states, AccountKey("t", "a")) }},
		{"account elsewhere", "is stored as", account("a", func(a *Account) { a.ID = "c" })},
		{"amount", "its transfer says 60", leg("k/debit", func(l *Leg) { l.Amount = 59 })},
		{"no amount", "has amount 0", leg("k/debit", func(l *Leg) { l.Amount = 0 })},
		{"entry's currency", "its transfer says", leg("k/debit", func(l *Leg) { l.Currency = "USD" })},
		{"entry's account", "its transfer says", leg("k/debit", func(l *Leg) { l.Account = "b" })},
		{"entry's balance", "entry k/debit", leg("k/debit", func(l *Leg) { l.Balance++ })},
		{"entry's number", "entry k/debit", leg("k/debit", func(l *Leg) { l.Number++ })},
		{"entry skipped", "entry seed-a/credit", leg("r/credit", func(l *Leg) {
			l.Previous = "seed-a/credit"
		})},
		{"entry unposted", `debit is "held"`, leg("k/debit", func(l *Leg) { l.State = Held })},
		{"entry gone", `credit is ""`, func(w *world) { delete(w.states, LegKey("t", "k/credit")) }},
		{"hold gone", `debit is ""`, func(w *world) { delete(w.states, LegKey("t", "waits/debit")) }},
		{"hold ended", `debit is "released"`, leg("waits/debit", func(l *Leg) { l.State = Freed })},
		{"leg elsewhere", "is stored as", leg("k/debit", func(l *Leg) { l.Side = Credit })},
		{"transfer gone", "has no transfer", func(w *world) {
			delete(w.states, TransferKey("t", "k"))
		}},
		{"transfer elsewhere", "is stored as", transfer("poor", func(t *Transfer) { t.Key = "k" })},
		{"phase", "is failed and its debit", transfer("k", func(t *Transfer) { t.Phase = Failed })},
		{"unknown phase", "is lost and its", transfer("k", func(t *Transfer) { t.Phase = "lost" })},
		{"refunded", "its refunds sum to 20", transfer("k", func(t *Transfer) { t.Refunded = 0 })},
		{"refunded above", "is refunded by 61", transfer("k", func(t *Transfer) { t.Refunded = 61 })},
		{"original gone", "transfer x does not exist", func(w *world) {
			transfer("r", func(t *Transfer) { t.Original = "x" })(w)
			transfer("k", func(t *Transfer) { t.Refunded = 0 })(w)
		}},
		{"to itself", "to itself", transfer("poor", func(t *Transfer) { t.To = "a" })},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sound.clone()
			test.spoil(w)
			report, err := Check(w)
			if err != nil || report.OK || !strings.Contains(report.FirstBreak, test.want) {
				t.Errorf("got %+v, %v, want a break that says %q", report, err, test.want)
			}
		})
	}
	report, err := Check(sound)
	want := Report{OK: true, Entries: 8, Accounts: 3, Transfers: 6, Open: 1}
	if err != nil || report != want {
		t.Errorf("got %+v, %v, want %+v", report, err, want)
	}
}

// spoil changes one stored value behind the ledger's back.
func spoil[T any](key entity.Key, change func(*T)) func(*world) {
	return func(w *world) {
		state := w.states[key]
		state.Data = edit(state.Data, change)
		w.states[key] = state
	}
}

func TestDataOfAnotherFormatIsNotRead(t *testing.T) {
	s := tell(t)
	s.rich(10, "a")
	spoil(AccountKey("t", "a"), func(a *Account) { a.Format = 2 })(s.world)
	if _, err := Check(s); err == nil || !strings.Contains(err.Error(), "format 2, want 1") {
		t.Errorf("check: %v", err)
	}
	if err := s.do(Deposit{"t", "k", "a", 1, ""}); err == nil || !strings.Contains(err.Error(),
		"unknown format") {
		t.Errorf("deposit: %v", err)
	}
}

// TestWhatAPostingCostsDoesNotGrowWithTheStatement compares what a transfer reads and writes on
// accounts with a few entries and with two thousand: only digits may grow.
func TestWhatAPostingCostsDoesNotGrowWithTheStatement(t *testing.T) {
	s := tell(t)
	s.rich(1_000_000, "a", "b")
	post := func(n int) (loads, bytes int) {
		key := fmt.Sprintf("key-%08d", n)
		s.loads, s.bytes = 0, 0
		s.must(pay(key, 1), Step{"t", key, Debit, Reserve, "a", 1, "EUR", time.Minute},
			Answer{Tenant: "t", Transfer: key, Side: Debit, Said: WasHeld, Owed: s.now},
			Step{"t", key, Credit, Pay, "b", 1, "EUR", 0},
			Answer{Tenant: "t", Transfer: key, Side: Credit, Said: WasPosted, Owed: s.now},
			Step{"t", key, Debit, Capture, "a", 1, "EUR", 0},
			Answer{Tenant: "t", Transfer: key, Side: Debit, Said: WasPosted,
				Owed: s.now.Add(time.Millisecond)})
		s.wire = nil
		loads, bytes = s.loads, s.bytes
		s.wantPhase(key, Captured, "")
		return loads, bytes
	}
	post(0) // From here on what comes before is of the same length.
	first, firstBytes := post(1)
	for n := range 2000 {
		post(n + 2)
	}
	last, lastBytes := post(2002)
	// The number stands in both entries, and in the accounts, of which the payer's is written twice.
	if last != first || lastBytes-firstBytes > 5*len("2000") {
		t.Errorf("at the second entry: %d reads, %d bytes; after 2000: %d, %d", first, firstBytes, last,
			lastBytes)
	}
	s.carry()
	newest, err := Statement(s, "t", "a", "", 10)
	if err != nil || len(newest) != 10 || newest[0].Number != 2004 {
		t.Fatalf("%d entries, %v", len(newest), err)
	}
	s.loads = 0
	if _, err := Statement(s, "t", "a", newest[9].ID(), 10); err != nil || s.loads != 12 {
		t.Errorf("a page of ten entries reads %d entities, %v", s.loads, err)
	}
	t.Logf("a transfer reads %d entities and writes %d bytes", last, lastBytes)
}
