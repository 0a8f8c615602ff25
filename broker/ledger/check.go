package ledger

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"chit/broker/entity"
)

// Books is everything of one tenant at one instant. A view that moves while it is read shows breaks
// that are none.
type Books interface {
	entity.View
	// Each visits every entity of a kind, in any order, and returns the first error of visit.
	Each(kind string, visit func(entity.Key, entity.State) error) error
}

// Report is what [Check] found.
type Report struct {
	OK bool `json:"ok"`
	// Entries is how many were read.
	Entries   uint64 `json:"entries"`
	Accounts  int    `json:"accounts"`
	Transfers int    `json:"transfers"`
	// Open is how many transfers are not over.
	Open int `json:"open"`
	// FirstBreak says where the books contradict themselves first; "" where they do not.
	FirstBreak string `json:"first_break"`
}

// Check proves over everything (DESIGN.md I8): that each captured transfer's entries sum to zero in
// its one currency and no other transfer moved anything for good, that each account's balance and
// holds are the sums of its entries and open holds, and that no account is past its limit. It reads
// each entry twice. The error is of reading; what is wrong with the books is in the Report.
func Check(books Books) (Report, error) {
	c := checker{books: books, sums: map[string]*sums{}, refunds: map[string]Minor{},
		totals: map[Currency]*big.Int{}}
	for _, step := range []func() error{
		c.legs, c.transfers, c.refunded, c.accounts, c.left, c.balance,
	} {
		if err := step(); err != nil {
			return Report{}, err
		}
		if c.FirstBreak != "" {
			return c.Report, nil
		}
	}
	c.OK = true
	return c.Report, nil
}

// sums are of the legs of one account.
type sums struct {
	entries uint64
	held    Minor
	holds   int
}

type checker struct {
	books Books
	Report
	sums    map[string]*sums // by account
	refunds map[string]Minor // begun and not come to nothing, by original
	// totals is what payees have and payers have not paid yet, less the balances. The sums of many
	// accounts need not fit 64 bits.
	totals map[Currency]*big.Int
}

// broken keeps the first break.
func (c *checker) broken(format string, args ...any) {
	if c.FirstBreak == "" {
		c.FirstBreak = fmt.Sprintf(format, args...)
	}
}

// legs sums up what the accounts did.
func (c *checker) legs() error {
	return c.books.Each(KindLeg, func(key entity.Key, state entity.State) error {
		var l Leg
		if err := decode(key, state.Data, &l, &l.Format); err != nil {
			return err
		}
		if key != LegKey(l.Tenant, l.ID()) {
			c.broken("leg %s is stored as %s", l.ID(), key)
		}
		s := c.sums[l.Account]
		if s == nil {
			s = &sums{}
			c.sums[l.Account] = s
		}
		ok := true
		switch l.State {
		case Posted:
			c.Entries++
			s.entries++
		case Held:
			s.held, ok = add(s.held, l.Amount)
			s.holds++
		}
		if !ok || l.Amount <= 0 {
			c.broken("leg %s has amount %d", key.ID, l.Amount)
		}
		return c.owned(l)
	})
}

// owned checks that a transfer stands behind the leg, which is about the same.
func (c *checker) owned(l Leg) error {
	t, version, err := LoadTransfer(c.books, l.Tenant, l.Transfer)
	if err != nil {
		return err
	}
	account := t.From
	if l.Side == Credit {
		account = t.To
	}
	switch {
	case version == 0:
		c.broken("leg %s has no transfer", l.ID())
	case l.Account != account || l.Amount != t.Amount || l.Currency != t.Currency:
		c.broken("leg %s is %d %s at account %s, its transfer says %d %s at %s", l.ID(), l.Amount,
			l.Currency, l.Account, t.Amount, t.Currency, account)
	}
	return nil
}

// legsOf says which states the legs of a transfer may have in each phase: payer's, payee's. The
// empty state is a leg that does not exist. An account may be ahead of what its transfer heard.
var legsOf = map[Phase][2][]LegState{
	Created:   {{"", Held, Refused, Revoked}, {""}},
	Reserved:  {{Held}, {"", Posted, Refused, Revoked}},
	Credited:  {{Held, Posted}, {Posted}},
	Captured:  {{Posted}, {Posted}},
	Failed:    {{Refused, Revoked}, {""}},
	Releasing: {{Held, Freed}, {"", Refused, Revoked}},
	Released:  {{Freed}, {"", Refused, Revoked}},
}

func (c *checker) transfers() error {
	return c.books.Each(KindTransfer, func(key entity.Key, state entity.State) error {
		var t Transfer
		if err := decode(key, state.Data, &t, &t.Format); err != nil {
			return err
		}
		c.Transfers++
		if !t.Phase.Final() {
			c.Open++
		}
		if key != TransferKey(t.Tenant, t.Key) {
			c.broken("transfer %s is stored as %s", t.Key, key)
		}
		if t.Original != "" && t.Phase != Failed && t.Phase != Released {
			sum, ok := add(c.refunds[t.Original], t.Amount)
			if c.refunds[t.Original] = sum; !ok {
				c.broken("the refunds of transfer %s do not fit 64 bits", t.Original)
			}
		}
		if t.Refunded < 0 || t.Refunded > t.Amount {
			c.broken("transfer %s of %d is refunded by %d", t.Key, t.Amount, t.Refunded)
		}
		if t.From == t.To {
			c.broken("transfer %s goes from account %s to itself", t.Key, t.From)
		}
		return c.sides(t)
	})
}

// sides checks a transfer's legs against its phase, and counts what is under way.
func (c *checker) sides(t Transfer) error {
	var legs [2]Leg
	for i, side := range []Side{Debit, Credit} {
		l, _, err := LoadLeg(c.books, t.Tenant, LegID(t.Key, side))
		if err != nil {
			return err
		}
		legs[i] = l
		if !slices.Contains(legsOf[t.Phase][i], l.State) {
			c.broken("transfer %s is %s and its %s is %q", t.Key, t.Phase, side, l.State)
		}
	}
	debit, credit := legs[0], legs[1]
	if t.Phase == Captured && (debit.Signed()+credit.Signed() != 0 ||
		debit.Currency != credit.Currency) {
		c.broken("transfer %s is captured, and its entries are %d %s and %d %s", t.Key,
			debit.Signed(), debit.Currency, credit.Signed(), credit.Currency)
	}
	if credit.State == Posted && debit.State != Posted {
		c.total(t.Currency, t.Amount)
	}
	return nil
}

// total adds to a currency's total and returns it.
func (c *checker) total(currency Currency, amount Minor) *big.Int {
	if c.totals[currency] == nil {
		c.totals[currency] = new(big.Int)
	}
	return c.totals[currency].Add(c.totals[currency], big.NewInt(int64(amount)))
}

// refunded checks that the originals know the sums of their refunds.
func (c *checker) refunded() error {
	return c.books.Each(KindTransfer, func(key entity.Key, state entity.State) error {
		var t Transfer
		if err := decode(key, state.Data, &t, &t.Format); err != nil {
			return err
		}
		if t.Refunded != c.refunds[t.Key] {
			c.broken("transfer %s says it is refunded by %d, its refunds sum to %d", t.Key, t.Refunded,
				c.refunds[t.Key])
		}
		delete(c.refunds, t.Key)
		return nil
	})
}

func (c *checker) accounts() error {
	return c.books.Each(KindAccount, func(key entity.Key, state entity.State) error {
		var a Account
		if err := decode(key, state.Data, &a, &a.Format); err != nil {
			return err
		}
		c.Accounts++
		if key != AccountKey(a.Tenant, a.ID) {
			c.broken("account %s is stored as %s", a.ID, key)
		}
		found := c.sums[a.ID]
		if found == nil {
			found = &sums{}
		}
		delete(c.sums, a.ID)
		if *found != (sums{a.Entries, a.Held, a.Holds}) {
			c.broken("account %s says it has %d entries and holds %d in %d holds, and has %d, %d in %d",
				a.ID, a.Entries, a.Held, a.Holds, found.entries, found.held, found.holds)
		}
		if available, ok := add(a.Balance, -a.Held); !ok || !a.Outside && available < -a.Limit {
			c.broken("account %s has %d, holds %d and has limit %d", a.ID, a.Balance, a.Held, a.Limit)
		}
		balance := big.NewInt(int64(a.Balance))
		total := c.total(a.Currency, 0)
		total.Sub(total, balance)
		return c.chain(a)
	})
}

// chain walks an account's entries from the newest back to the first.
func (c *checker) chain(a Account) error {
	number, balance := a.Entries, a.Balance
	for next := a.Last; next != "" || number > 0; number-- {
		if next == "" || number == 0 {
			c.broken("account %s has %d entries and its statement ends at %d", a.ID, a.Entries, number)
			return nil
		}
		l, _, err := LoadLeg(c.books, a.Tenant, next)
		if err != nil {
			return err
		}
		before, ok := add(l.Balance, -l.Signed())
		if l.State != Posted || l.Account != a.ID || l.Currency != a.Currency ||
			l.Number != number || l.Balance != balance || !ok {
			c.broken("entry %s is %q number %d at account %s with balance %d %s, account %s expects "+
				"number %d with balance %d %s there", next, l.State, l.Number, l.Account, l.Balance,
				l.Currency, a.ID, number, balance, a.Currency)
			return nil
		}
		next, balance = l.Previous, before
	}
	if balance != 0 {
		c.broken("account %s began with %d", a.ID, balance)
	}
	return nil
}

// left finds what belongs to nobody.
func (c *checker) left() error {
	for _, id := range slices.Sorted(maps.Keys(c.sums)) {
		if s := *c.sums[id]; s != (sums{}) {
			c.broken("account %s does not exist and has %d entries and %d holds", id, s.entries, s.holds)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.refunds)) {
		c.broken("transfer %s does not exist and is refunded by %d", key, c.refunds[key])
	}
	return nil
}

// balance checks that each currency sums to what is under way.
func (c *checker) balance() error {
	for _, currency := range slices.Sorted(maps.Keys(c.totals)) {
		if sum := c.totals[currency]; sum.Sign() != 0 {
			c.broken("%s does not balance by %d", currency, sum)
		}
	}
	return nil
}
