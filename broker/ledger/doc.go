// Package ledger moves money between accounts, each of which has one writer.
//
// An amount is an integer of minor units and has a currency. A [Transfer] is an entity named by its
// idempotency key, kept for ever; an [Account] is one of fixed size, however long its statement. No
// Commit changes a transfer and an account, or two accounts: they send each other messages. What a
// transfer asks of an account is a [Step], what the account says to it an [Answer]. Both are owed
// by an outbox row until the other side has applied them, may come late, twice and out of order,
// and count once, because an account keeps for each transfer and side one [Leg]: the hold, the
// entry, or the refusal.
//
// A transfer first holds the amount at the payer, then credits the payee, then captures the hold,
// which nothing can refuse. The end of a hold is a question that the account asks the transfer; it
// keeps the hold until it has an answer. A transfer that has asked the payee for a credit finds out
// what came of it before it lets the hold go: see [Revoke].
//
// Money comes in and goes out through the account [Outside] of each currency, so that the entries
// of every captured transfer sum to zero. [Check] proves it (DESIGN.md I8).
//
//	desk.Do(ctx, ledger.Open{Tenant: "t1", Account: "tab-7", Currency: "EUR", Limit: 50_00})
//	desk.Do(ctx, ledger.Begin{Tenant: "t1", Key: "k-1", From: "tab-7", To: "takings", …})
//	t, _, err := ledger.LoadTransfer(store, "t1", "k-1") // owes t.Owes() to an account
//
// The package does no conversion between currencies and knows no fees.
package ledger
