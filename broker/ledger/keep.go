package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"chit/broker/entity"
)

// AccountChanged is the effect that tells where an account stands now.
type AccountChanged struct{ Account Account }

// Decide implements [entity.Command].
func (o Open) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	if err := checkName("id", o.Account); err != nil {
		return entity.Commit{}, err
	}
	if err := checkCurrency(o.Currency); err != nil {
		return entity.Commit{}, err
	}
	if err := checkLimit(o.Limit); err != nil {
		return entity.Commit{}, err
	}
	a, version, err := LoadAccount(view, o.Tenant, o.Account)
	switch {
	case err != nil:
		return entity.Commit{}, err
	case version > 0 && a.Currency != o.Currency:
		return entity.Commit{}, fmt.Errorf("%w: account %s has currency %s, asked for %s", ErrConflict,
			o.Account, a.Currency, o.Currency)
	case version > 0 && a.Limit != o.Limit:
		return entity.Commit{}, fmt.Errorf("%w: account %s has limit %d, asked for %d", ErrConflict,
			o.Account, a.Limit, o.Limit)
	case version > 0:
		answer, err := marshal("answer", a)
		return entity.Commit{Answer: answer, Repeat: true}, err
	}
	a = Account{Format: Format, Tenant: o.Tenant, ID: o.Account, Currency: o.Currency,
		Limit: o.Limit, Opened: now}
	return a.keep(0, "opened", now, eventData{Format: Format})
}

// checkLimit refuses limits below zero.
func checkLimit(limit Minor) error {
	if limit >= 0 {
		return nil
	}
	return &InputError{Field: "limit", Found: strconv.FormatInt(int64(limit), 10),
		Expected: "0 or more minor units", Hint: "it is how far the account may go below zero"}
}

// Decide implements [entity.Command].
func (s SetLimit) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	if err := checkLimit(s.Limit); err != nil {
		return entity.Commit{}, err
	}
	a, version, err := found(view, s.Tenant, s.Account)
	if err != nil {
		return entity.Commit{}, err
	}
	if a.Available() < -s.Limit {
		return entity.Commit{}, &InputError{Field: "limit",
			Found:    strconv.FormatInt(int64(s.Limit), 10),
			Expected: fmt.Sprintf("at least %d, which account %s owes or holds", -a.Available(), a.ID),
			Hint:     "freeze the account to stop new holds"}
	}
	if a.Limit == s.Limit {
		answer, err := marshal("answer", a)
		return entity.Commit{Answer: answer}, err
	}
	a.Limit = s.Limit
	return a.keep(version, "limited", now, eventData{Format: Format, Who: s.Who, Amount: s.Limit})
}

// Decide implements [entity.Command]. A frozen account stays frozen by whoever did so first.
func (f Freeze) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	a, version, err := found(view, f.Tenant, f.Account)
	if err != nil {
		return entity.Commit{}, err
	}
	if a.Frozen != nil {
		answer, err := marshal("answer", a)
		return entity.Commit{Answer: answer}, err
	}
	a.Frozen = &Frozen{At: now, Who: f.Who, Why: f.Why}
	return a.keep(version, "frozen", now, eventData{Format: Format, Who: f.Who, Why: f.Why})
}

// Decide implements [entity.Command].
func (t Thaw) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	a, version, err := found(view, t.Tenant, t.Account)
	if err != nil {
		return entity.Commit{}, err
	}
	if a.Frozen == nil {
		answer, err := marshal("answer", a)
		return entity.Commit{Answer: answer}, err
	}
	a.Frozen = nil
	return a.keep(version, "thawed", now, eventData{Format: Format, Who: t.Who, Why: t.Why})
}

// found reads an account that people may change.
func found(view entity.View, tenant, id string) (Account, uint64, error) {
	if err := checkName("account", id); err != nil {
		return Account{}, 0, err
	}
	a, version, err := LoadAccount(view, tenant, id)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: account %s", ErrUnknown, id)
	}
	return a, version, err
}

func known(view entity.View, tenant, id string) (Account, error) {
	a, _, err := found(view, tenant, id)
	return a, err
}

// eventData is what a logged event says.
type eventData struct {
	Format   int      `json:"v"`
	Phase    Phase    `json:"phase,omitempty"`
	Account  string   `json:"account,omitempty"`
	Amount   Minor    `json:"amount,omitempty"`
	Currency Currency `json:"currency,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Refund   string   `json:"refund,omitempty"`
	Who      string   `json:"who,omitempty"`
	Why      string   `json:"why,omitempty"`
}

func marshal(what string, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("ledger: encoding %s: %w", what, err)
	}
	return data, nil
}

// keep is the Commit of an account that somebody opened or changed. Its answer is the account.
func (a Account) keep(was uint64, what string, now time.Time, e eventData) (entity.Commit, error) {
	key := AccountKey(a.Tenant, a.ID)
	data, err := marshal(key.String(), a)
	if err != nil {
		return entity.Commit{}, err
	}
	event, err := marshal("event", e)
	return entity.Commit{
		Changes: []entity.Change{{Key: key, Was: was, Data: data}},
		Events:  []entity.Event{{Key: key, Type: "account." + what, At: now, Data: event}},
		Effects: []entity.Effect{AccountChanged{a}},
		Answer:  data,
	}, err
}
