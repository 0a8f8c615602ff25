package relay_test

import (
	"slices"
	"testing"

	"chit/broker/delivery"
	"chit/device/wire"
)

func mutation(id string, kind wire.Kind) wire.Content {
	return wire.Content{ID: id, Kitchen: "main", Station: "grill", Kind: kind,
		Items: []wire.Item{{Quantity: 1, Name: "soup"}}}
}

func TestAVoidAfterAMoveIsPrintedAtBothPrinters(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		w.want("o1/1", delivery.Settled, 1)
		grill.answer = grill.prints
		w.post(mutation("o1/2", wire.KindVoid))
		w.advance(delivery.VoidWait)
		grill.wantTickets("o1/1@grill", "o1/2@grill")
		bar.wantTickets("o1/1@grill", "o1/2/r1@grill")
		w.want("o1/2", delivery.Settled, 0)
		w.want("o1/2/r1@grill", delivery.Settled, 0)
	})
}

func TestATwinWaitsForItsOwnPrinter(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		grill.answer = grill.prints
		bar.drop()
		w.post(mutation("o1/2", wire.KindChange))
		w.advance(2 * delivery.HeldMax)
		w.want("o1/2", delivery.Settled, 0)
		w.want("o1/2/r1@grill", delivery.Parked, 0) // It is for that printer alone.
		w.restart()
		bar.connect()
		grill.connect()
		bar.wantTickets("o1/1@grill", "o1/2/r1@grill")
	})
}

func TestTwoPapersAreToldAtBothPrinters(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		grill.mu.Lock()
		grill.answer = grill.prints
		grill.say(grill.prints(grill.got[0])[1])
		grill.mu.Unlock()
		w.settle()
		bar.wantTickets("o1/1@grill", "o1/1/r1@grill")
		grill.wantTickets("o1/1@grill", "o1/1/r2@grill")
		for _, d := range []*device{bar, grill} {
			said, err := wire.ParseContent(d.wantMarks().Data)
			want := "1 of order o1 was printed at THE BAR and at GRILL. Make it once."
			if err != nil || said.Note != want {
				t.Errorf("%q (%v), want %q", said.Note, err, want)
			}
		}
	})
}

func TestACopyWaitsForTheOneBelowItAtItsStation(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		grill.answer, bar.answer = grill.prints, nil
		also := []delivery.Copy{{Station: "bar", Kitchen: "main"}}
		for _, c := range []wire.Content{mutation("o1/1", wire.KindNew),
			mutation("o1/2", wire.KindChange)} {
			w.postTo(c, also)
			w.settle()
		}
		grill.wantTickets("o1/1@grill", "o1/2@grill")
		bar.wantTickets("o1/1/r1@bar")
		bar.mu.Lock()
		bar.answer = bar.prints
		bar.say(bar.prints(bar.got[0])[1])
		bar.mu.Unlock()
		w.settle()
		bar.wantTickets("o1/1/r1@bar", "o1/2/r1@bar")
		if last := bar.wantMarks(); last.CopyOf != "grill" || last.Number != "2" ||
			!slices.Equal(last.Data, canonicalAt(t, mutation("o1/2", wire.KindChange), "bar")) {
			t.Errorf("%+v", last)
		}
	})
}

func canonicalAt(t *testing.T, c wire.Content, station string) []byte {
	t.Helper()
	c.Station = station
	data, err := wire.CanonicalContent(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
