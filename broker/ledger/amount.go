package ledger

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Minor is an amount in the minor units of its currency, such as cents.
type Minor int64

// Currency is three capital letters (ISO 4217). The ledger knows no other fact about it.
type Currency string

// IDMax bounds the names of accounts and transfers, in bytes (DESIGN.md I2).
const IDMax = 64

var (
	// ErrInput is what every [InputError] wraps (HTTP: 422).
	ErrInput = errors.New("ledger: bad input")
	// ErrConflict is returned for a key or an account that exists with other content (HTTP: 409).
	ErrConflict = errors.New("ledger: same name with other content")
	// ErrUnknown is returned for an account or a transfer that does not exist (HTTP: 404).
	ErrUnknown = errors.New("ledger: unknown")
	// ErrFormat is returned for stored data of another format.
	ErrFormat = errors.New("ledger: unknown format")
	// ErrNoHold is returned for a step that needs a hold which was never granted. No transfer sends
	// such a step; nothing is stored.
	ErrNoHold = errors.New("ledger: no such hold")
)

// InputError says which field is wrong. It wraps [ErrInput].
type InputError struct {
	Field, Found, Expected string
	Hint                   string // what to do about it, may be empty
}

// Error implements error.
func (e *InputError) Error() string {
	return fmt.Sprintf("ledger: %s is %s, expected %s", e.Field, e.Found, e.Expected)
}

// Unwrap makes it an [ErrInput].
func (e *InputError) Unwrap() error { return ErrInput }

// ParseMinor reads an amount as clients write it: digits alone. Fractions, signs, exponents, zero
// and what does not fit 64 bits are refused with an [InputError] about field.
func ParseMinor(field, text string) (Minor, error) {
	bad := &InputError{Field: field, Found: strconv.Quote(text),
		Expected: "a positive integer of minor units",
		Hint:     "write 12.50 EUR as 1250"}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, bad
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		bad.Expected = fmt.Sprintf("at most %d", int64(math.MaxInt64))
		bad.Hint = ""
		return 0, bad
	}
	if err != nil || n == 0 {
		return 0, bad
	}
	return Minor(n), nil
}

// add is a+b; ok is false where that does not fit.
func add(a, b Minor) (sum Minor, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// checkAmount refuses what nobody can move.
func checkAmount(amount Minor) error {
	if amount > 0 {
		return nil
	}
	return &InputError{Field: "amount", Found: strconv.FormatInt(int64(amount), 10),
		Expected: "a positive integer of minor units",
		Hint:     "to move money the other way, exchange from and to"}
}

func checkCurrency(c Currency) error {
	ok := len(c) == 3
	for i := range len(c) {
		ok = ok && c[i] >= 'A' && c[i] <= 'Z'
	}
	if ok {
		return nil
	}
	return &InputError{Field: "currency", Found: strconv.Quote(string(c)),
		Expected: "three capital letters as in ISO 4217, such as EUR"}
}

// checkSame refuses to mix currencies.
func checkSame(c Currency, a Account) error {
	if c == a.Currency {
		return nil
	}
	return &InputError{Field: "currency", Found: string(c),
		Expected: fmt.Sprintf("%s, the currency of account %s", a.Currency, a.ID),
		Hint:     "an account has one currency; open another account for another one"}
}

// checkName takes 1–64 of [A-Za-z0-9._~-]; a door percent-encodes the rest.
func checkName(field, name string) error {
	ok := name != "" && len(name) <= IDMax && name != "." && name != ".."
	for i := range len(name) {
		c := name[i]
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '.' || c == '_' || c == '~' || c == '-')
	}
	if ok {
		return nil
	}
	return &InputError{Field: field, Found: strconv.Quote(name),
		Expected: fmt.Sprintf("1 to %d of A-Z, a-z, 0-9 and ._~-", IDMax)}
}
