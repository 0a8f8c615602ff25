package delivery

import (
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// TestATicketIsRememberedFromItsRelease: an order for a feast in six weeks must not expire before
// its kitchen should have it (I3), and its ids stay known although a later mutation ends earlier.
func TestATicketIsRememberedFromItsRelease(t *testing.T) {
	s := newShelf(t)
	ahead := content("o1/1", wire.KindNew)
	ahead.ReleaseAt = day.Add(42 * 24 * time.Hour).Format(time.RFC3339)
	s.accept(ahead)
	d := s.delivery(id("o1", 1))
	if want := d.Release.Add(ExpiresAfter); !d.Expires.Equal(want) || !d.WindowEnd.Before(want) {
		t.Errorf("expires %s, window %s; want %s and before", d.Expires, d.WindowEnd, want)
	}
	later := content("o1/2", wire.KindNotice)
	later.Note = "they are thirty now"
	commit := s.must(Accept{Tenant: "t1", Content: later, Data: data(t, later)})
	if s.delivery(id("o1", 2)).Expires.After(d.Expires) {
		t.Fatal("the notice outlives the order; the test is pointless")
	}
	for _, change := range commit.Changes {
		if change.Key == (entity.Key{Tenant: "t1", Kind: KindChain, ID: "o1"}) &&
			change.Expires.Before(d.Expires) {
			t.Errorf("the ids are forgotten on %s, before the first ticket on %s", change.Expires,
				d.Expires)
		}
	}
}
