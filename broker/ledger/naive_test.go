package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"chit/broker/entity"
	"time"
)

// naive is the ledger a second time, as dumb as can be: a list of lines, a list of holds, and what
// each transfer has heard. Every sum is made anew, without a bound; a phase is read off what was
// heard. It is told every command that reached the ledger, in order, and says what must be then.
type naive struct {
	accounts  map[string]*naiveAccount
	transfers map[string]*naiveTransfer
	lines     []line
	holds     []line
	asked     map[string]bool // holds of which the end was asked about, by transfer
	said      map[string]Word // what an account said first of a transfer and side
}

type naiveAccount struct {
	currency Currency
	limit    Minor
	frozen   bool
}

type naiveTransfer struct {
	from, to, original string
	amount             Minor
	currency           Currency
	waiting, wait      bool
	hold               time.Duration
	heard              map[string]bool // "debit held", "credit posted" …
	// ended: somebody wants it back; clean: and by then the payee was never asked.
	ended, clean bool
}

type line struct {
	transfer, account string
	amount            Minor
	currency          Currency
	ends              time.Time // of a hold
}

func newNaive() *naive {
	return &naive{accounts: map[string]*naiveAccount{}, transfers: map[string]*naiveTransfer{},
		asked: map[string]bool{}, said: map[string]Word{}}
}

func sum(lines []line, account string) *big.Int {
	total := new(big.Int)
	for _, l := range lines {
		if l.account == account {
			total.Add(total, big.NewInt(int64(l.amount)))
		}
	}
	return total
}

func fits(n *big.Int) bool { return n.IsInt64() }

// phase reads it off what the transfer heard.
func (t *naiveTransfer) phase() Phase {
	held := t.heard["debit held"] || t.heard["debit asked"]
	switch {
	case t.heard["debit posted"]:
		return Captured
	case t.heard["debit released"]:
		return Released
	case t.heard["debit refused"] || t.heard["debit revoked"]:
		return Failed
	case t.heard["credit posted"]:
		return Credited
	case t.heard["credit refused"] || t.heard["credit revoked"]:
		return Releasing
	case held && t.ended && t.clean:
		return Releasing
	case held:
		return Reserved
	}
	return Created
}

// end notes that somebody wants the transfer back, if it is not too late.
func (t *naiveTransfer) end() {
	if p := t.phase(); (p == Created || p == Reserved) && !t.ended {
		t.ended = true
		t.clean = p == Created || t.waiting
	}
}

// refunded is what the living refunds of a transfer sum to.
func (n *naive) refunded(original string) Minor {
	total := Minor(0)
	for _, t := range n.transfers {
		if p := t.phase(); t.original == original && p != Failed && p != Released {
			total += t.amount
		}
	}
	return total
}

// take is told a command and reports whether the ledger must accept it.
func (n *naive) take(c entity.Command, now time.Time) bool {
	switch c := c.(type) {
	case Open:
		n.accounts[c.Account] = &naiveAccount{currency: c.Currency, limit: c.Limit}
	case Freeze:
		n.accounts[c.Account].frozen = true
	case Thaw:
		n.accounts[c.Account].frozen = false
	case Begin:
		return n.begin(c.Key, naiveTransfer{from: c.From, to: c.To, amount: c.Amount,
			currency: c.Currency, waiting: c.Wait, wait: c.Wait, hold: c.HoldFor})
	case Deposit:
		return n.begin(c.Key, naiveTransfer{from: "outside:" + string(c.Currency), to: c.Account,
			amount: c.Amount, currency: c.Currency})
	case Withdraw:
		return n.begin(c.Key, naiveTransfer{from: c.Account, to: "outside:" + string(c.Currency),
			amount: c.Amount, currency: c.Currency})
	case Refund:
		return n.refund(c)
	case Confirm:
		if t := n.transfers[c.Key]; t == nil {
			return false
		} else if p := t.phase(); !t.ended && (p == Created || p == Reserved) {
			t.waiting = false
		}
	case Cancel:
		if n.transfers[c.Key] == nil {
			return false
		}
		n.transfers[c.Key].end()
	case Step:
		n.step(c, now)
	case Answer:
		n.hear(c)
	case Expire:
		transfer := strings.TrimSuffix(c.Leg, "/debit")
		for _, h := range n.holds {
			if h.transfer == transfer && !now.Before(h.ends) {
				n.asked[transfer] = true
			}
		}
	}
	return true
}

func (n *naive) begin(key string, t naiveTransfer) bool {
	if t.hold == 0 {
		t.hold = HoldFor
	}
	if was := n.transfers[key]; was != nil {
		return was.from == t.from && was.to == t.to && was.amount == t.amount && was.wait == t.wait &&
			was.currency == t.currency && was.original == t.original && was.hold == t.hold
	}
	if t.amount <= 0 || t.from == t.to {
		return false
	}
	for _, id := range []string{t.from, t.to} {
		if a := n.accounts[id]; !strings.Contains(id, ":") && (a == nil || a.currency != t.currency) {
			return false
		}
	}
	t.heard = map[string]bool{}
	n.transfers[key] = &t
	return true
}

func (n *naive) refund(c Refund) bool {
	t := n.transfers[c.Original]
	if t == nil {
		return false
	}
	fresh := naiveTransfer{from: t.to, to: t.from, amount: c.Amount, currency: t.currency,
		original: c.Original}
	if n.transfers[c.Key] == nil && (t.original != "" || t.phase() != Captured ||
		c.Amount > t.amount-n.refunded(c.Original)) {
		return false
	}
	return n.begin(c.Key, fresh)
}

// step is what an account does, once for each transfer and side.
func (n *naive) step(s Step, now time.Time) {
	name := s.Transfer + " " + string(s.Side)
	signed := line{transfer: s.Transfer, account: s.Account, amount: s.Amount, currency: s.Currency}
	switch said := n.said[name]; {
	case s.Do == Capture && said == WasHeld:
		n.drop(s.Transfer)
		signed.amount = -s.Amount
		n.lines, n.said[name] = append(n.lines, signed), WasPosted
	case s.Do == Release && said == WasHeld:
		n.drop(s.Transfer)
		n.said[name] = WasReleased
	case said != "":
	case s.Do == Revoke:
		n.said[name] = WasRevoked
	case s.Do == Pay && !fits(new(big.Int).Add(sum(n.lines, s.Account), big.NewInt(int64(s.Amount)))):
		n.said[name] = WasRefused
	case s.Do == Pay:
		n.lines, n.said[name] = append(n.lines, signed), WasPosted
	case n.mayHold(s):
		signed.ends = now.Add(s.HoldFor)
		n.holds, n.said[name] = append(n.holds, signed), WasHeld
	default:
		n.said[name] = WasRefused
	}
}

func (n *naive) mayHold(s Step) bool {
	held := new(big.Int).Add(sum(n.holds, s.Account), big.NewInt(int64(s.Amount)))
	left := new(big.Int).Sub(sum(n.lines, s.Account), held)
	if a := n.accounts[s.Account]; a != nil &&
		(a.frozen || left.Cmp(big.NewInt(-int64(a.limit))) < 0) {
		return false
	}
	return fits(held) && fits(left)
}

func (n *naive) drop(transfer string) {
	var rest []line
	for _, h := range n.holds {
		if h.transfer != transfer {
			rest = append(rest, h)
		}
	}
	n.holds = rest
}

// hear is what a transfer makes of an answer: it notes it, where it can still matter.
func (n *naive) hear(a Answer) {
	t := n.transfers[a.Transfer]
	word := string(a.Side) + " " + string(a.Said)
	before := t.phase()
	switch {
	case word == "debit asked":
		t.end()
		if before == Created {
			t.heard[word] = true
		}
	case before == Created && a.Side == Debit, before == Reserved && a.Side == Credit,
		before == Credited && word == "debit posted", before == Releasing && word == "debit released":
		t.heard[word] = true
	}
}

// compare says where the ledger differs from what must be.
func (n *naive) compare(w *world) error {
	for id, a := range n.accounts {
		if err := n.compareAccount(w, id, a); err != nil {
			return err
		}
	}
	perSide := map[string]bool{}
	total := map[string]*big.Int{}
	for _, l := range n.lines {
		side := fmt.Sprint(l.transfer, " ", l.amount > 0)
		if perSide[side] {
			return fmt.Errorf("transfer %s has two entries on one side", l.transfer)
		}
		perSide[side] = true
		if total[l.transfer] == nil {
			total[l.transfer] = new(big.Int)
		}
		total[l.transfer].Add(total[l.transfer], big.NewInt(int64(l.amount)))
	}
	for key, t := range n.transfers {
		got, version, err := LoadTransfer(w, "t", key)
		switch {
		case err != nil:
			return err
		case version == 0 || got.Phase != t.phase():
			return fmt.Errorf("transfer %s is %q, must be %q", key, got.Phase, t.phase())
		case got.Refunded != n.refunded(key):
			return fmt.Errorf("transfer %s is refunded by %d, must be by %d", key, got.Refunded,
				n.refunded(key))
		case t.phase() == Captured && total[key].Sign() != 0:
			return fmt.Errorf("captured transfer %s sums to %s", key, total[key])
		}
		l, _, err := LoadLeg(w, "t", key+"/debit")
		if held := n.said[key+" debit"] == WasHeld; err != nil || held != (l.State == Held) ||
			n.asked[key] == l.Asked.IsZero() {
			return fmt.Errorf("hold of %s is %q, asked at %s, %v, must be held: %t, asked: %t", key,
				l.State, l.Asked, err, held, n.asked[key])
		}
	}
	return nil
}

func (n *naive) compareAccount(w *world, id string, a *naiveAccount) error {
	got, _, err := LoadAccount(w, "t", id)
	if err != nil {
		return err
	}
	balance, held := sum(n.lines, id), sum(n.holds, id)
	if balance.Cmp(big.NewInt(int64(got.Balance))) != 0 || held.Cmp(big.NewInt(int64(got.Held))) != 0 {
		return fmt.Errorf("account %s has %d and holds %d, must have %s and hold %s", id, got.Balance,
			got.Held, balance, held)
	}
	if left := new(big.Int).Sub(balance, held); left.Cmp(big.NewInt(-int64(a.limit))) < 0 {
		return fmt.Errorf("account %s has %s available and limit %d", id, left, a.limit)
	}
	for _, l := range append(append([]line(nil), n.lines...), n.holds...) {
		if l.account == id && l.currency != a.currency {
			return fmt.Errorf("account %s in %s has a line in %s", id, a.currency, l.currency)
		}
	}
	statement, err := Statement(w, "t", id, "", math.MaxInt)
	if err != nil {
		return err
	}
	count := 0
	for _, l := range n.lines {
		if l.account == id {
			count++
		}
	}
	if len(statement) != count {
		return fmt.Errorf("account %s has %d entries, must have %d", id, len(statement), count)
	}
	return nil
}

// judged does a command in both ledgers and compares them. What both refuse is no error.
func judged(w *world, n *naive, c entity.Command) error {
	accepts := n.take(c, w.now)
	err := w.do(c)
	switch {
	case err != nil && accepts:
		return fmt.Errorf("%+v was refused: %w", c, err)
	case err == nil && !accepts:
		return fmt.Errorf("%+v was accepted", c)
	case err != nil && !errors.Is(err, ErrInput) && !errors.Is(err, ErrConflict) &&
		!errors.Is(err, ErrUnknown):
		return err
	}
	if err := n.compare(w); err != nil {
		return fmt.Errorf("after %+v: %w", c, err)
	}
	return nil
}
