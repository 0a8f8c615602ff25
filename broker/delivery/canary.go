package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"chit/device/wire"
)

// NewCanary is the ticket that proves before the day's first order that a printer works: paper that
// a cook understands, brought the way of every order. day is that of the opening, "2006-01-02",
// expiresAfter until when it says anything.
//
// It is no order: it has no running number, goes to no backup, is never late or stale, and what
// would make another ticket a dead letter cancels it. One that is accepted again is the same one.
func NewCanary(tenant, kitchen, station, day string, expiresAfter time.Duration) (Accept, error) {
	c := wire.Content{ID: canaryOrder(kitchen, day) + "/1", Kitchen: kitchen, Station: station,
		Kind: wire.KindNotice, Order: "Good morning",
		Note: "This printer works. Nothing to cook."}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		return Accept{}, fmt.Errorf("delivery: making a canary of %s: %w", station, err)
	}
	return Accept{Tenant: tenant, Content: c, Data: data, ExpiresAfter: expiresAfter,
		Canary: true}, nil
}

// Ticket is the id of the ticket that is taken in.
func (a Accept) Ticket() string { return a.Content.ID + "@" + a.Content.Station }

// canaryOrder is the order id of a kitchen's canaries of one day. A kitchen whose id leaves no room
// is named by its digest.
func canaryOrder(kitchen, day string) string {
	order := "canary-" + day + "-" + kitchen
	if len(order) <= wire.IDMax {
		return order
	}
	sum := sha256.Sum256([]byte(kitchen))
	return "canary-" + day + "-" + hex.EncodeToString(sum[:8])
}

// unburied makes cancellations of a canary's deaths: nobody has to redrive it.
func (d Delivery) unburied(events []Event) []Event {
	if d.Canary {
		for i := range events {
			if events[i].What == Buried {
				events[i].What = CancelDone
			}
		}
	}
	return events
}

// Proven reports whether paper is known to be there: that of a canary is all there is to prove.
func (d Delivery) Proven() bool { return d.State == Settled && d.Evidence.Rank() > 0 }
