package delivery

import "strings"

// Reasons are the words that a dead letter can have died of: its attempts or its window are spent,
// its time is over, it was too old for its kitchen, a person did not want it, or its device refused
// it for good, for whatever reason or for the one behind the colon.
func Reasons() []string {
	return []string{"attempts", "window", "expired", ReasonStale, ReasonNotWanted, "refused",
		"refused:digest", "refused:doubtful", "refused:poison", "refused:printer",
		"refused:too_large", "refused:too_long", "refused:unprintable", "refused:version"}
}

// diedOf reports whether reason is word, or one kind of it: "refused" also means "refused:poison".
func diedOf(reason, word string) bool {
	return reason == word || strings.HasPrefix(reason, word+":")
}
