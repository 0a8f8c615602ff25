package delivery

import (
	"testing"

	"chit/device/wire"
)

// posts accepts a ticket of the grill that the pass gets a copy of.
func (s *shelf) posts(c wire.Content) {
	s.t.Helper()
	s.must(Accept{Tenant: "t1", Content: c, Data: data(s.t, c),
		Also: []Copy{{Station: "pass", Kitchen: "main"}}})
}

const copied = "o1/1/r1@pass"

func TestAStationGetsCopiesOfAnothersTickets(t *testing.T) {
	s := two(t)
	s.posts(content("o1/1", wire.KindNew, soup))
	s.posts(content("o1/1", wire.KindNew, soup)) // Again, as a door is asked again.
	s.wantMade(copied)
	bar := content("o1/1", wire.KindNew, steak)
	bar.Station = "bar"
	s.accept(bar)
	own, m := s.goes(id("o1", 1)), s.goes(copied)
	if own.CopyOf != "" || own.AlsoAt != "bar" {
		t.Errorf("copy of %q, also at %q", own.CopyOf, own.AlsoAt)
	}
	if m.CopyOf != "grill" || m.AlsoAt != "bar" || m.Station != "pass" || m.Number != "1" {
		t.Errorf("%+v", m)
	}
	said, err := wire.ParseContent(m.Data)
	if err != nil || said.Station != "pass" || len(said.Items) != 1 || wire.Digest(m.Data) !=
		s.delivery(copied).Digest {
		t.Errorf("%+v (%v)", said, err)
	}
	s.accept(content("o1/3", wire.KindNotice))
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	if m := s.goes(id("o1", 3)); m.AlsoAt != "" {
		t.Errorf("another mutation is also at %q", m.AlsoAt)
	}
}

func TestCopiesFollowTheirSourceInOrder(t *testing.T) {
	s := two(t)
	s.posts(content("o1/1", wire.KindNew, soup))
	s.goes(id("o1", 1))
	s.goes(copied)
	s.posts(content("o1/2", wire.KindChange, soup, steak))
	s.wantMade(copied, "o1/2/r1@pass")
	if _, err := s.dispatch("o1/2/r1@pass", "d1", "s-d1"); err == nil {
		t.Error("the copy of the change went before that of what it changes")
	}
	s.ack(copied, "d1", wire.OutcomePrinted)
	m := s.goes("o1/2/r1@pass")
	if m.Pred != copied || m.Changes == nil || m.Changes.Since != 1 || len(m.Changes.Added) != 1 {
		t.Errorf("%+v", m)
	}
	// What else the pass gets of the order stands for itself.
	own := content("o1/4", wire.KindNew, soup)
	own.Station = "pass"
	s.accept(own)
	if m := s.goes("o1/4@pass"); m.Pred != "" {
		t.Errorf("after %q", m.Pred)
	}
}

func TestWhatNoPrinterHadOfACopyCostsNoPaper(t *testing.T) {
	s := two(t)
	s.posts(content("o1/1", wire.KindNew, soup))
	s.posts(content("o1/2", wire.KindChange, steak))
	s.why(copied, ReasonReplaced)
	if m := s.goes("o1/2/r1@pass"); m.As != wire.KindNew {
		t.Errorf("as %q", m.As)
	}
	s.posts(content("o2/1", wire.KindNew, soup))
	s.goes(id("o2", 1)) // The source has one printer more.
	s.posts(content("o2/2", wire.KindVoid))
	s.want(id("o2", 2), Waiting)
	s.why("o2/1/r1@pass", ReasonVoided)
	s.why("o2/2/r1@pass", ReasonNoPaper)
}

func TestACancellationEndsTheCopiesToo(t *testing.T) {
	s := two(t)
	s.posts(content("o1/1", wire.KindNew, soup))
	s.goes(copied)
	s.ack(copied, "d1", wire.OutcomePrinted)
	done := s.withdraw(Withdraw{Order: "o1", Seq: 1, Station: "grill"})
	if len(done.Stations) != 2 || done.Stations[0].Outcome != EndedClean ||
		done.Stations[1].Outcome != EndedOnPaper {
		t.Fatalf("%+v", done)
	}
	m := s.goes(done.Stations[1].Voids[0])
	if said, err := wire.ParseContent(m.Data); err != nil || said.Kind != wire.KindVoid ||
		said.Station != "pass" || m.CopyOf != "grill" {
		t.Errorf("%+v, %+v (%v)", m, said, err)
	}
	// Again, it changes nothing.
	if again := s.withdraw(Withdraw{Order: "o1", Seq: 1}); again.Changed {
		t.Errorf("%+v", again)
	}
}

func TestACopyOnTwoPrintersIsVoidedOnBoth(t *testing.T) {
	s := two(t)
	s.posts(content("o1/1", wire.KindNew, soup))
	s.goes(copied)
	s.now = s.now.Add(SilentMax)
	s.moves(copied)
	s.goes(copied)
	s.ack(copied, "d2", wire.OutcomePrinted)
	s.posts(content("o1/2", wire.KindVoid))
	s.goes("o1/2/r1@pass")
	s.wantMade(copied, "o1/2/r1@pass", "o1/2/r2@pass")
	if m := s.goes("o1/2/r2@pass"); m.Device != "d2" || m.CopyOf != "grill" {
		t.Errorf("%+v", m)
	}
	s.ack(copied, "d1", wire.OutcomePrinted)
	s.wantMade(copied, "o1/2/r1@pass", "o1/2/r2@pass")
}
