package words

import "strconv"

// Plural is a phrase with a number in it, one for each category of CLDR that the language has;
// {n} is the number.
type Plural struct {
	Zero, One, Two, Few, Many, Other string
}

type category uint8

const (
	other category = iota
	zero
	one
	two
	few
	many
)

// Count is the phrase of p for n things.
func (w *Words) Count(p Plural, n int) string {
	phrase := ""
	switch w.rule(n) {
	case zero:
		phrase = p.Zero
	case one:
		phrase = p.One
	case two:
		phrase = p.Two
	case few:
		phrase = p.Few
	case many:
		phrase = p.Many
	case other:
		phrase = p.Other
	}
	return Fill(phrase, "n", strconv.Itoa(n))
}

// The rules for whole numbers. Source: CLDR 45, "Language Plural Rules", cardinal. What needs a
// million (es, fr, it, pt: many) is left out: no paper counts so far.

// same: th, zh, ja.
func same(int) category { return other }

// single: en, de, es, it, nl, tr, el.
func single(n int) category {
	if n == 1 {
		return one
	}
	return other
}

// upToOne: fr, pt, hi.
func upToOne(n int) category {
	if n == 0 || n == 1 {
		return one
	}
	return other
}

// dual: he.
func dual(n int) category {
	if n == 2 {
		return two
	}
	return single(n)
}

func polishCount(n int) category {
	if n == 1 {
		return one
	}
	return slavic(n)
}

func ukrainianCount(n int) category {
	if n%10 == 1 && n%100 != 11 {
		return one
	}
	return slavic(n)
}

// slavic is few for 2 to 4, 22 to 24 and so on, but not for 12 to 14.
func slavic(n int) category {
	if unit, teen := n%10, n%100/10 == 1; unit >= 2 && unit <= 4 && !teen {
		return few
	}
	return many
}

func arabicCount(n int) category {
	switch rest := n % 100; {
	case n == 0:
		return zero
	case n == 1:
		return one
	case n == 2:
		return two
	case rest >= 3 && rest <= 10:
		return few
	case rest >= 11:
		return many
	}
	return other
}
