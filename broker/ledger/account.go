package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"chit/broker/entity"
)

// Format is the version of everything that this package stores.
const Format = 1

// Kinds of the entities. None of them expires: ledger names are kept for ever (DESIGN.md I3).
const (
	KindAccount  = "account"
	KindTransfer = "transfer"
	// KindLeg is what an account did for a transfer; the id is "<transfer>/<side>".
	KindLeg = "leg"
)

// Outbox lists of this package.
const (
	ListSteps   = "ledger-steps"   // transfers that owe an account a Step
	ListAnswers = "ledger-answers" // legs whose account owes their transfer an Answer
)

// ListHolds is the list of an account's open holds, oldest first. Its rows are legs.
func ListHolds(account string) string { return "ledger-holds/" + account }

// Account is one account's state. Its size does not grow with its statement.
type Account struct {
	Format   int      `json:"v"`
	Tenant   string   `json:"tenant"`
	ID       string   `json:"id"`
	Currency Currency `json:"currency"`
	// Limit is how far below zero the available amount may go; 0 for what is paid in before.
	Limit Minor `json:"limit"`
	// Outside is true for the world beyond the ledger, which has no limit.
	Outside bool      `json:"outside,omitempty"`
	Opened  time.Time `json:"opened"`
	// Frozen blocks new holds. It blocks no capture, and no money that comes in.
	Frozen *Frozen `json:"frozen,omitempty"`

	Balance Minor  `json:"balance"` // the sum of the entries
	Entries uint64 `json:"entries"` // how many there are
	// Last is the id of the newest entry, at which the statement begins.
	Last  string `json:"last,omitempty"`
	Held  Minor  `json:"held"`  // the sum of the open holds
	Holds int    `json:"holds"` // how many there are
}

// Frozen is who froze an account, and why.
type Frozen struct {
	At  time.Time `json:"at"`
	Who string    `json:"who"`
	Why string    `json:"why,omitempty"`
}

// Available is what a new hold could take, as far as the limit allows more: Σ entries − Σ holds.
func (a Account) Available() Minor { return a.Balance - a.Held }

// Outside names the account through which money of a currency comes in and goes out. No door can
// open or name it.
func Outside(c Currency) string { return "outside:" + string(c) }

// Side is which of a transfer's two entries a leg is for.
type Side string

// The sides: the payer is debited, the payee credited.
const (
	Debit  Side = "debit"
	Credit Side = "credit"
)

// Leg is what an account did for one side of a transfer, decided once and kept for ever. As long as
// it is Held it is the hold; once it is Posted it is the entry, and never changes again.
type Leg struct {
	Format   int      `json:"v"`
	Tenant   string   `json:"tenant"`
	Transfer string   `json:"transfer"`
	Side     Side     `json:"side"`
	Account  string   `json:"account"`
	Currency Currency `json:"currency"`
	Amount   Minor    `json:"amount"` // positive on both sides
	State    LegState `json:"state"`
	Reason   string   `json:"reason,omitempty"` // of Refused

	// Granted is when the hold was given, Ends when it is to be asked about, Asked when it was.
	Granted time.Time `json:"granted,omitzero"`
	Ends    time.Time `json:"ends,omitzero"`
	Asked   time.Time `json:"asked,omitzero"`

	// Number counts the account's entries from 1, Balance is the account's after it, and Previous
	// is the id of the entry before.
	Number   uint64    `json:"number,omitempty"`
	Balance  Minor     `json:"balance,omitempty"`
	Previous string    `json:"previous,omitempty"`
	Posted   time.Time `json:"posted,omitzero"`

	// Said is the account's newest answer, Owed the instant of its row in ListAnswers. Each answer
	// has an instant of its own, so that hearing an old one never pays for a newer one.
	Said Word      `json:"said"`
	Owed time.Time `json:"owed"`
}

// Signed is the leg's amount as it changes the balance.
func (l Leg) Signed() Minor {
	if l.Side == Debit {
		return -l.Amount
	}
	return l.Amount
}

// LegID names a leg.
func LegID(transfer string, side Side) string { return transfer + "/" + string(side) }

// ID names the leg, and the entry that it becomes.
func (l Leg) ID() string { return LegID(l.Transfer, l.Side) }

// Answer is what the account owes the transfer.
func (l Leg) Answer() Answer {
	return Answer{Tenant: l.Tenant, Transfer: l.Transfer, Side: l.Side, Said: l.Said,
		Reason: l.Reason, Owed: l.Owed}
}

// Timer is when the account must ask about the hold, zero where it must not.
func (l Leg) Timer() time.Time {
	if l.State == Held && l.Asked.IsZero() {
		return l.Ends
	}
	return time.Time{}
}

// AccountKey is an account's.
func AccountKey(tenant, id string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindAccount, ID: id}
}

// TransferKey is a transfer's.
func TransferKey(tenant, key string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindTransfer, ID: key}
}

// LegKey is a leg's. In a store that puts the kind last it stands beside its transfer.
func LegKey(tenant, id string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindLeg, ID: id}
}

// LoadAccount reads an account; version 0 means that there is none.
func LoadAccount(view entity.View, tenant, id string) (Account, uint64, error) {
	var a Account
	version, err := load(view, AccountKey(tenant, id), &a, &a.Format)
	return a, version, err
}

// LoadTransfer reads a transfer; version 0 means that there is none.
func LoadTransfer(view entity.View, tenant, key string) (Transfer, uint64, error) {
	var t Transfer
	version, err := load(view, TransferKey(tenant, key), &t, &t.Format)
	return t, version, err
}

// LoadLeg reads a leg by its id; version 0 means that there is none.
func LoadLeg(view entity.View, tenant, id string) (Leg, uint64, error) {
	var l Leg
	version, err := load(view, LegKey(tenant, id), &l, &l.Format)
	return l, version, err
}

func load(view entity.View, key entity.Key, out any, format *int) (uint64, error) {
	state, err := view.Load(key)
	if err != nil || state.Version == 0 {
		return 0, err
	}
	return state.Version, decode(key, state.Data, out, format)
}

func decode(key entity.Key, data []byte, out any, format *int) error {
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("ledger: reading %s: %w", key, err)
	}
	if *format != Format {
		return fmt.Errorf("%w: %s has format %d, want %d", ErrFormat, key, *format, Format)
	}
	return nil
}
