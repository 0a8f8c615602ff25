package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

func TestATicketIsAcceptedOnce(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew, wire.Item{Quantity: 2, Name: "margherita"})
	want := Result{Ticket: id("o1", 1), State: Waiting, Changed: true}
	if got := s.accept(c); got != want {
		t.Errorf("got %+v", got)
	}
	s.want(id("o1", 1), Waiting)

	again := s.must(Accept{Tenant: "t1", Content: c, Data: data(t, c)})
	want.Changed = false
	if !again.Repeat || !again.Empty() || s.result(again) != want {
		t.Errorf("repeat: %+v", again)
	}
	other := c
	other.Note = "no onions"
	_, err := s.do(Accept{Tenant: "t1", Content: other, Data: data(t, other)})
	if !errors.Is(err, ErrConflict) || !errors.Is(err, entity.ErrConflict) {
		t.Errorf("other content: %v", err)
	}
	if _, err := s.do(Accept{Tenant: "t2", Content: other, Data: data(t, other)}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	stored, ok, err := LoadContent(s, "t1", id("o1", 1))
	if err != nil || !ok || !bytes.Equal(stored.Data, data(t, c)) {
		t.Errorf("content %q, %v", stored.Data, err)
	}
}

func TestARepeatTellsWhereTheTicketStandsNow(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew)
	s.accept(c)
	s.hello("d1", "s1")
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	if got := s.accept(c); got.State != Settled || got.Changed {
		t.Errorf("got %+v", got)
	}
}

func TestBadIDsAreRefusedAtTheDoor(t *testing.T) {
	s := newShelf(t)
	for _, bad := range []wire.Content{
		content("o1", wire.KindNew), content("o1/0", wire.KindNew), content("/1", wire.KindNew),
		{ID: "o1/1", Kind: wire.KindNew}, {ID: "o1/1", Station: "GRILL"},
		{ID: "o1/1", Station: "grill", ReleaseAt: "tomorrow"},
	} {
		if _, err := s.do(Accept{Tenant: "t1", Content: bad, Data: data(t, bad)}); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestAnOrderHasABoundedNumberOfTickets(t *testing.T) {
	s := newShelf(t)
	for seq := range MutationsMax {
		s.accept(content(fmt.Sprintf("o1/%d", seq+1), wire.KindNotice))
	}
	c := content(fmt.Sprintf("o1/%d", MutationsMax+1), wire.KindNotice)
	_, err := s.do(Accept{Tenant: "t1", Content: c, Data: data(t, c)})
	if !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
	s.accept(content("o1/1", wire.KindNotice)) // A repeat still finds its answer.
	ids, err := Tickets(s, "t1", "o1", 7)
	if err != nil || !reflect.DeepEqual(ids, []string{id("o1", 7)}) {
		t.Errorf("tickets %v, %v", ids, err)
	}
}

func TestALaterReleaseMovesTheWindow(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew)
	c.ReleaseAt = "2026-03-14T19:30:00+01:00"
	s.accept(c)
	d := s.delivery(id("o1", 1))
	release := time.Date(2026, 3, 14, 18, 30, 0, 0, time.UTC)
	if !d.Release.Equal(release) || !d.Due.Equal(release) || !d.WindowEnd.Equal(release.Add(Window)) {
		t.Errorf("%+v", d)
	}
	s.hello("d1", "s1")
	if _, err := s.dispatch(d.Ticket, "d1", "s1"); !errors.Is(err, ErrNotDue) {
		t.Errorf("dispatched early: %v", err)
	}
	c = content("o2/1", wire.KindNew)
	c.ReleaseAt = "2020-01-01T00:00:00Z"
	s.accept(c)
	if d := s.delivery(id("o2", 1)); !d.Release.Equal(day) {
		t.Errorf("a release in the past: %v", d.Release)
	}
}

func TestARequestedRedriveIsRememberedByItsIdentity(t *testing.T) {
	one := Redrive{Tenant: "t1", Ticket: id("o1", 1), Request: "r1"}.Identity()
	if one.ID == "" || one.For != RequestFor || one.Digest != id("o1", 1) {
		t.Errorf("%+v", one)
	}
	if (Redrive{Tenant: "t1", Ticket: "x"}).Identity() != (entity.Identity{}) {
		t.Error("without a request it must not be remembered")
	}
}

func TestARedrivenTicketIsOwedAgain(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
	s.want(id("o1", 1), Dead)
	redrive := Redrive{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Why: "fixed"}
	if r := s.result(s.must(redrive)); !r.Changed || r.State != Waiting {
		t.Errorf("%+v", r)
	}
	s.want(id("o1", 1), Waiting)
	if r := s.result(s.must(redrive)); r.Changed || r.State != Waiting {
		t.Errorf("%+v", r)
	}
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.want(id("o1", 1), Settled)
	if r := s.result(s.must(redrive)); r.Changed || r.State != Settled {
		t.Errorf("%+v", r)
	}
	if _, err := s.do(Redrive{Tenant: "t1", Ticket: id("o9", 1)}); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
}

func TestAnotherFormatIsRefused(t *testing.T) {
	s := newShelf(t)
	s.states[Key("t1", id("o1", 1))] = entity.State{Version: 1, Data: []byte(`{"v":2}`)}
	if _, _, err := Load(s, "t1", id("o1", 1)); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
	s.states[Key("t1", id("o1", 1))] = entity.State{Version: 1, Data: []byte(`not json`)}
	if _, _, err := Load(s, "t1", id("o1", 1)); err == nil {
		t.Error("read nonsense")
	}
	for _, stored := range []string{"", "{}\nx", `{"v":2}` + "\nx", "x\nx"} {
		if _, err := decodeContent([]byte(stored)); err == nil {
			t.Errorf("read content %q", stored)
		}
	}
}
