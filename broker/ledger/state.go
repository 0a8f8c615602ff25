package ledger

// Phase is where a transfer stands.
//
//	Created   --reserved-->   Reserved   the payer's account granted the hold
//	Created   --failed-->     Failed     it refused, or was told not to before it granted
//	Created   --confirmed-->  Created    nobody need confirm any more
//	Created   --ended-->      Created    to be taken back once the account says how the hold stands
//	Reserved  --confirmed-->  Reserved
//	Reserved  --ended-->      Reserved   cancelled, refused by the payee, or past the hold's end
//	Reserved  --credited-->   Credited   the payee has the money: from here there is no way back
//	Reserved  --releasing-->  Releasing  the payee does not have it and never will
//	Credited  --captured-->   Captured
//	Captured  --claimed-->    Captured   a refund counts against it
//	Captured  --returned-->   Captured   a refund came to nothing
//	Releasing --released-->   Released
type Phase string

// The phases. Captured, Failed and Released are final.
const (
	// Created: the payer's account is being asked for a hold.
	Created Phase = "created"
	// Reserved: the amount is held; the payee's account is being asked for the credit, or, where
	// the transfer waits, somebody to confirm it.
	Reserved Phase = "reserved"
	// Credited: the payer's account is being told to capture the hold.
	Credited Phase = "credited"
	// Captured: both entries are posted.
	Captured Phase = "captured"
	// Failed: nothing was ever held.
	Failed Phase = "failed"
	// Releasing: the payer's account is being told to let the hold go.
	Releasing Phase = "releasing"
	// Released: nothing is held any more and nothing was moved.
	Released Phase = "released"
)

// Final reports whether the transfer is over.
func (p Phase) Final() bool { return p == Captured || p == Failed || p == Released }

// LegState is where a leg stands.
//
//	""   --held-->     Held      the payer's side alone
//	""   --posted-->   Posted    the payee's side alone
//	""   --refused-->  Refused
//	""   --revoked-->  Revoked   told not to before it was asked to
//	Held --asked-->    Held      its end has passed
//	Held --posted-->   Posted    captured
//	Held --released--> Freed
type LegState string

// The states of a leg. Only Held is not final.
const (
	Held    LegState = "held"
	Posted  LegState = "posted"
	Refused LegState = "refused"
	Revoked LegState = "revoked"
	Freed   LegState = "released"
)

// Word names an event, in the past tense. Those of a leg are also what its account says.
type Word string

// The events of a transfer.
const (
	Began          Word = "began"
	SaidReserved   Word = "reserved"
	SaidFailed     Word = "failed"
	Confirmed      Word = "confirmed"
	Ended          Word = "ended"
	SaidCredited   Word = "credited"
	BeganReleasing Word = "releasing"
	SaidCaptured   Word = "captured"
	SaidReleased   Word = "released"
	Claimed        Word = "claimed"
	Returned       Word = "returned"
)

// The events of a leg.
const (
	WasHeld     Word = "held"
	WasPosted   Word = "posted"
	WasRefused  Word = "refused"
	WasRevoked  Word = "revoked"
	WasReleased Word = "released"
	// WasAsked: the hold is past its end and its account asks the transfer what to do.
	WasAsked Word = "asked"
)

type arc[S ~string] struct {
	from S
	what Word
}

// transferArcs and legArcs are the drawings as data. Evolve panics where an event happens
// elsewhere, because then Decide is wrong.
var transferArcs = map[arc[Phase]]Phase{
	{"", Began}:                Created,
	{Created, SaidReserved}:    Reserved,
	{Created, SaidFailed}:      Failed,
	{Created, Confirmed}:       Created,
	{Created, Ended}:           Created,
	{Reserved, Confirmed}:      Reserved,
	{Reserved, Ended}:          Reserved,
	{Reserved, SaidCredited}:   Credited,
	{Reserved, BeganReleasing}: Releasing,
	{Credited, SaidCaptured}:   Captured,
	{Captured, Claimed}:        Captured,
	{Captured, Returned}:       Captured,
	{Releasing, SaidReleased}:  Released,
}

var legArcs = map[arc[LegState]]LegState{
	{"", WasHeld}:       Held,
	{"", WasPosted}:     Posted,
	{"", WasRefused}:    Refused,
	{"", WasRevoked}:    Revoked,
	{Held, WasAsked}:    Held,
	{Held, WasPosted}:   Posted,
	{Held, WasReleased}: Freed,
}
