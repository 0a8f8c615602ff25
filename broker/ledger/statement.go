package ledger

import (
	"fmt"

	"chit/broker/entity"
)

// Statement lists entries of an account, newest first: at most limit, from the newest one, or from
// the one before the entry called before. It reads what it lists and nothing else, however many
// entries the account has. The id to go on with is the last one's, as long as its Number is above
// 1.
func Statement(view entity.View, tenant, account, before string, limit int) ([]Leg, error) {
	a, err := existing(view, tenant, account)
	if err != nil {
		return nil, err
	}
	next := a.Last
	if before != "" {
		l, version, err := LoadLeg(view, tenant, before)
		if err != nil {
			return nil, err
		}
		if version == 0 || l.State != Posted || l.Account != account {
			return nil, &InputError{Field: "before", Found: fmt.Sprintf("%q", before),
				Expected: "an entry of account " + account}
		}
		next = l.Previous
	}
	var entries []Leg
	for next != "" && len(entries) < limit {
		l, version, err := LoadLeg(view, tenant, next)
		if err != nil {
			return nil, err
		}
		if version == 0 {
			return nil, fmt.Errorf("%w: entry %s of account %s", ErrUnknown, next, account)
		}
		entries = append(entries, l)
		next = l.Previous
	}
	return entries, nil
}

// existing reads an account, also the outside.
func existing(view entity.View, tenant, id string) (Account, error) {
	a, version, err := LoadAccount(view, tenant, id)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: account %s", ErrUnknown, id)
	}
	return a, err
}
