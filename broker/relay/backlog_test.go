package relay_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/wire"
)

// asks is a world whose stations ask after half an hour, and a device that remembers the commands.
func asks(t *testing.T, story func(w *world, d *device)) {
	build(t, func(w *world) {
		for name, s := range w.serves {
			s.OnStale, s.StaleAfter = wire.OnStaleAsk, 30*time.Minute
			w.serves[name] = s
		}
		story(w, w.fleet["d1"])
	})
}

// lists are the ids of each backlog command that came, joined by blanks.
func (d *device) lists() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lists []string
	for _, c := range d.commands {
		var lines []wire.BacklogLine
		if err := json.Unmarshal([]byte(c.Args["tickets"]), &lines); err != nil {
			d.w.t.Fatalf("%+v: %v", c, err)
		}
		ids := []string{c.Args["station"] + ":"}
		for _, l := range lines {
			ids = append(ids, l.ID)
		}
		lists = append(lists, strings.Join(ids, " "))
	}
	d.commands = nil
	return lists
}

func (d *device) wantLists(want ...string) {
	d.w.t.Helper()
	got := d.lists()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		d.w.t.Fatalf("told %q, want %q", got, want)
	}
}

// presses answers the newest command as a cook's long press does.
func (d *device) presses(c wire.Command, tickets string) {
	d.w.t.Helper()
	d.mu.Lock()
	d.n++
	reply := wire.Reply{Device: d.id, Command: c.ID, OK: true, Journal: d.journal, Boot: d.boot,
		N: d.n, IssuedAt: time.Now().Unix(),
		Result: map[string]string{"answer": "print", "tickets": tickets}}
	d.mu.Unlock()
	raw, err := d.signer.SignReply(reply)
	if err != nil {
		d.w.t.Fatal(err)
	}
	d.w.relay.Heard("t1", d.id, "ack", raw, false)
	d.w.settle()
}

func TestADeviceThatComesBackIsToldOnceWhatIsStaleAndAPressHandsItOver(t *testing.T) {
	asks(t, func(w *world, d *device) {
		d.answer = d.prints
		w.accept("o1/1", "grill", "bar")
		w.accept("o2/1")
		w.advance(time.Hour)
		w.accept("o3/1")
		d.connect()
		w.advance(time.Second)
		d.wantTickets("o3/1@grill")
		d.wantLists()
		w.want("o1/1", delivery.Stale, 0)
		w.advance(5 * time.Second)
		d.mu.Lock()
		command := d.commands[len(d.commands)-1]
		d.mu.Unlock()
		d.wantLists("bar: o1/1@bar", "grill: o1/1@grill o2/1@grill")
		w.advance(2 * time.Hour)
		d.wantLists()
		t.Logf("# the word of the cook names what it is about")
		d.presses(command, "o2/1@grill")
		w.want("o2/1", delivery.Settled, 0)
		w.want("o1/1", delivery.Stale, 0)
		d.wantTickets("o3/1@grill", "o2/1@grill")
		w.advance(time.Minute)
		d.wantLists("grill: o1/1@grill")
		d.presses(command, "o2/1@grill,o1/1@grill")
		w.want("o1/1", delivery.Settled, 0)
		w.advance(time.Minute)
		d.wantLists("grill:")
		moments := w.delivery("o1/1").Timeline
		found := false
		for _, m := range moments {
			found = found || m.What == "approved" && m.Who == "button" && m.Device == "d1"
		}
		if !found {
			t.Errorf("no word of who said so: %+v", moments)
		}
	})
}

func TestANewSessionAndANewBrokerTellWhatIsStillStale(t *testing.T) {
	asks(t, func(w *world, d *device) {
		w.accept("o1/1")
		w.advance(time.Hour)
		d.connect()
		w.advance(3 * time.Second)
		d.wantLists("grill: o1/1@grill")
		d.drop()
		d.connect()
		w.advance(3 * time.Second)
		d.wantLists("grill: o1/1@grill")
		w.restart()
		d.connect()
		w.advance(3 * time.Second)
		d.wantLists("grill: o1/1@grill")
	})
}

func TestALongerListIsNotToldTooOften(t *testing.T) {
	asks(t, func(w *world, d *device) {
		w.accept("o1/1")
		w.advance(time.Hour)
		d.connect()
		w.advance(3 * time.Second)
		d.wantLists("grill: o1/1@grill")
		w.accept("o2/1")
		w.advance(time.Second)
		d.mu.Lock()
		d.say(wire.Ack{Ticket: "o2/1@grill", Attempt: 1, Digest: w.delivery("o2/1").Digest,
			Outcome: wire.OutcomeHeld, Reason: "stale"})
		d.mu.Unlock()
		w.advance(9 * time.Minute)
		w.want("o2/1", delivery.Stale, 0)
		d.wantLists()
		w.advance(time.Minute)
		d.wantLists("grill: o1/1@grill o2/1@grill")
	})
}

func TestAReplyOfADeviceThatDoesNotServeTheStationIsNoWord(t *testing.T) {
	asks(t, func(w *world, d *device) {
		other := w.add("d2", "pass")
		w.accept("o1/1")
		w.advance(time.Hour)
		d.connect()
		other.connect()
		w.advance(3 * time.Second)
		d.mu.Lock()
		command := d.commands[0]
		d.mu.Unlock()
		other.presses(command, "o1/1@grill")
		w.want("o1/1", delivery.Stale, 0)
		w.wantBad("station", 1)
		other.presses(wire.Command{ID: "something"}, "o1/1@grill")
		w.wantBad("unasked", 1)
	})
}

func TestStaleTicketsTakeNoRoomAtAPrinter(t *testing.T) {
	asks(t, func(w *world, d *device) {
		for i := range 3 * relay.WindowMax {
			w.accept("o" + string(rune('a'+i)) + "/1")
		}
		w.advance(time.Hour)
		d.answer = d.prints
		d.connect()
		w.accept("new/1")
		d.wantTickets("new/1@grill")
	})
}
