package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/device/core"
	"chit/device/core/coretest"
	"chit/device/wire"
)

// Bug is a fault of ours, planted to see that the simulation finds it.
type Bug string

// The bugs.
const (
	BugNone             Bug = ""
	BugAckBeforeCommit  Bug = "ack-before-commit"       // a device's effects leave before its commit
	BugPubackFirst      Bug = "puback-before-commit"    // of them only the PUBACK
	BugForgetEarly      Bug = "forget-early"            // the journal does not find answered ids
	BugOldWill          Bug = "old-will-accepted"       // a will of any session ends the present one
	BugWallClockLease   Bug = "lease-by-wall-clock"     // ends are judged by a clock that jumps
	BugForgetIntent     Bug = "intent-forgotten"        // a start does not see the open intent
	BugNoIntent         Bug = "no-intent"               // paper without an intent on disk
	BugSharedIntent     Bug = "two-intents-one-reading" // an intent keeps the counters of the last
	BugDuplicateEarly   Bug = "duplicate-of-unfinished" // "duplicate" said of a stored ticket
	BugSessionEndCounts Bug = "session-end-counts"      // the end of a session spends an attempt
	BugJournalReplaced  Bug = "journal-replaced"        // a start begins an empty journal, same id
	BugUnmarkedReprint  Bug = "unmarked-reprint"        // the second paper carries no mark
	BugGuess            Bug = "resolve-guesses"         // an interrupted document is taken for printed
	BugFenceIgnored     Bug = "fence-ignored"           // accepted bytes count as printed
	BugSendBeforeCommit Bug = "send-before-commit"      // the broker's effects leave too early
	BugLostRow          Bug = "lost-row"                // what is owed is not listed
	BugNumbersAgain     Bug = "n-not-reserved"          // a start begins n where the last one did
	BugPromiseEarly     Bug = "accepted-before-commit"  // the door answers before the commit
	BugRefusesForGood   Bug = "refuses-for-good"        // a full disk's refusal is permanent
	BugMerged           Bug = "other-content-merged"    // other content is no conflict
	BugOlderUnsaid      Bug = "older-unsaid"            // answered ones are not compared
	BugHelloOnce        Bug = "hello-said-once"         // a lost hello or welcome is never made good
	BugHostOnce         Bug = "host-said-once"          // nor a lost host message
	BugPressLate        Bug = "press-late"              // a press speaks for what prints after it
	BugBootPerOpening   Bug = "boot-per-opening"        // opening the journal again looks like a crash
	BugCopiesUnseen     Bug = "copies-unseen"           // the broker does not remember who spoke
)

// rareBugs can be planted and hunted, but no story that is told of them in a test shows them.
// BugOlderUnsaid became rare when a change that was never handed over began to end the lower ones,
// and BugLateUnvoided takes a cancellation between a handing-over and its first answer.
var rareBugs = []Bug{BugOlderUnsaid, BugLateUnvoided}

// Bugs lists those that are seen to be found.
func Bugs() []Bug {
	return append([]Bug{
		BugAckBeforeCommit, BugPubackFirst, BugForgetEarly, BugOldWill, BugWallClockLease,
		BugForgetIntent, BugNoIntent, BugSharedIntent, BugDuplicateEarly, BugSessionEndCounts,
		BugJournalReplaced, BugUnmarkedReprint, BugGuess, BugFenceIgnored, BugSendBeforeCommit,
		BugLostRow, BugNumbersAgain, BugPromiseEarly, BugRefusesForGood, BugMerged, BugHelloOnce,
		BugHostOnce, BugBootPerOpening, BugPressLate, BugCopiesUnseen,
	}, moveBugs()...)
}

// ErrBug is returned for a bug of an unknown name.
var ErrBug = errors.New("simulate: unknown bug")

// ParseBug reads the name of a bug; empty is none. Errors wrap [ErrBug].
func ParseBug(text string) (Bug, error) {
	if text == "" || slices.Contains(Bugs(), Bug(text)) || slices.Contains(rareBugs, Bug(text)) {
		return Bug(text), nil
	}
	return BugNone, fmt.Errorf("%w: found %q, expected one of %v, or rarer %v", ErrBug, text, Bugs(),
		rareBugs)
}

// changes is what a bug lets through to the card.
func (b Bug) changes(all []core.Change) []core.Change {
	return slices.DeleteFunc(slices.Clone(all), func(c core.Change) bool {
		switch c.(type) {
		case core.PutIntent:
			return b == BugNoIntent
		case core.PutMeta:
			return b == BugNumbersAgain
		}
		return false
	})
}

// ack is what a bug makes of an answer.
func (b Bug) ack(a wire.Ack) wire.Ack {
	if b == BugDuplicateEarly && a.Outcome == wire.OutcomeStored {
		a.Outcome, a.Evidence = wire.OutcomeDuplicate, wire.EvidenceSent
	}
	if b == BugRefusesForGood && a.Outcome == wire.OutcomeRefused {
		a.Permanent = true
	}
	return a
}

// shareReading gives each intent the odometer as the one before it read it.
func (d *device) shareReading(all []core.Change) []core.Change {
	all = slices.Clone(all)
	for i, c := range all {
		if put, ok := c.(core.PutIntent); ok {
			before := put.Intent.Before
			if d.reading.Known {
				put.Intent.Before = d.reading
			}
			d.reading = before
			all[i] = put
		}
	}
	return all
}

// early lets effects leave before the commit.
func (l *loop) early() {
	d := l.d
	var rest []core.Effect
	for _, e := range l.then {
		if _, ok := e.(core.Puback); ok || d.w.options.Bug == BugAckBeforeCommit {
			l.perform(e)
			continue
		}
		rest = append(rest, e)
	}
	l.then = rest
}

// replaceJournal begins an empty journal that pretends to be the old one.
func (d *device) replaceJournal() {
	was := d.journal.Meta
	d.journal = coretest.NewMemory(was.Journal)
	d.journal.Meta.Boot, d.journal.Meta.NReserved = was.Boot, was.NReserved
	d.journal.Meta.Tokens = was.Tokens
}

// forgeWill makes a will speak of the present session.
func (b *broker) forgeWill(tenant, device string, payload []byte) []byte {
	status, err := wire.DecodeStatus(payload)
	if err != nil || status.State != "offline" {
		return payload
	}
	record, _, err := delivery.LoadDevice(b.disk, tenant, device)
	if err != nil {
		return payload
	}
	status.Session = record.Session
	if payload, err = wire.EncodeStatus(status); err != nil {
		panic("simulate: " + err.Error())
	}
	return payload
}

// countSessionEnd makes the end of a session a failed attempt.
func (b *broker) countSessionEnd(c entity.Command) entity.Command {
	advance, ok := c.(delivery.Advance)
	if !ok {
		return c
	}
	if _, leave := advance.Action.(delivery.Leave); !leave {
		return c
	}
	d, _, err := delivery.Load(b.disk, advance.Tenant, advance.Ticket)
	if err != nil || d.Lease == nil {
		return c
	}
	advance.Action = delivery.Birth{Device: d.Lease.Device, Journal: d.Lease.Journal,
		Boot: d.Lease.Boot + 1}
	return advance
}

// loseRows forgets every seventh row that is owed.
func loseRows(batch []entity.Commit) []entity.Commit {
	batch = slices.Clone(batch)
	for i := range batch {
		if n := len(batch[i].Owed); n > 0 && batch[i].Owed[0].At.UnixMilli()%7 == 0 {
			batch[i].Owed = nil
		}
	}
	return batch
}

// forgetCopies stores devices without what tells two of them apart.
func forgetCopies(batch []entity.Commit) []entity.Commit {
	batch = slices.Clone(batch)
	for i := range batch {
		batch[i].Changes = slices.Clone(batch[i].Changes)
		for c, change := range batch[i].Changes {
			var record delivery.Device
			if change.Key.Kind != delivery.KindDevice || json.Unmarshal(change.Data, &record) != nil {
				continue
			}
			record.Copies = delivery.Copies{}
			data, err := json.Marshal(record)
			if err != nil {
				panic("simulate: " + err.Error())
			}
			batch[i].Changes[c].Data = data
		}
	}
	return batch
}

// rawSkew is a wall clock that nobody holds to monotonic time.
func (w *world) rawSkew() time.Duration {
	return time.Duration(int(w.now/(17*time.Second))%5-2) * 9 * time.Second
}
