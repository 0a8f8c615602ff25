package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"chit/printer/escpos"
	"chit/printer/status"
	"chit/printer/transport"
)

// The n of GS I (Epson, "Printer information B").
const (
	askFirmware = 65
	askMaker    = 66
	askModel    = 67
	askSerial   = 68
)

// open finds out who is at the other end and what it can do, and brings the stream to a known
// point: when it returns nil, all that was sent on earlier connections is printed or lost. It waits
// out a hold. A unit that answered once and does not now is errSilent; one that never did is mute.
func (s *Session) open(ctx context.Context, l *link) error {
	s.opened = false
	l.inbox, l.chain = l.inbox[:0], 1 // What the first answer alone says is not published.
	spoke, err := s.hello(ctx, l)
	switch {
	case err != nil:
		return err
	case !spoke && s.unit.TwoWay:
		return errSilent
	case !spoke:
		s.unit = Unit{}
		l.inbox, l.chain = l.inbox[:0], 0
		s.opened = true
		return nil
	}
	known, err := s.recognise(ctx, l)
	if err != nil {
		return err
	}
	if !known {
		if err := s.probe(ctx, l); err != nil {
			return err
		}
	}
	if err := s.wanted(l); err != nil {
		return err
	}
	if s.unit.Pushes {
		if err := s.tell(ctx, l, escpos.EnableASB()); err != nil {
			return err
		}
	}
	if err := s.examine(ctx, l); err != nil {
		return silence(err)
	}
	if err := s.readCounters(ctx, l, true); err != nil {
		return silence(err)
	}
	s.opened, s.former = true, s.unit
	place, moved := "", false
	if p, ok := l.conn.(transport.Placed); ok {
		place, moved = p.Place()
	}
	if moved {
		s.config.Log.Warn("printer has moved: write its new address into the configuration, or let "+
			"the router give it a fixed one", "printer", s.config.Dialer.Name(), "at", place)
	}
	s.config.Log.Info("printer connected", "printer", s.config.Dialer.Name(), "at", place,
		"known", known, "process_id", s.unit.ProcessID, "fence", s.unit.Fence,
		"odometer", s.unit.Odometer, "pushes", s.unit.Pushes)
	return nil
}

// tell sends bytes that have no answer.
func (s *Session) tell(ctx context.Context, l *link, p []byte) error {
	written := func() bool { return !l.writing }
	w := wait{limit: s.config.Timing.Fence, patient: true}
	if err := s.await(ctx, l, w, written); err != nil {
		return silence(err)
	}
	l.start(p)
	return silence(s.await(ctx, l, w, written))
}

// hello asks DLE EOT 1, and where nothing comes, once more after NULs enough to end a strip that an
// earlier connection left half sent.
func (s *Session) hello(ctx context.Context, l *link) (spoke bool, err error) {
	if !s.config.Dialer.TwoWay() {
		return false, nil
	}
	w := wait{limit: s.config.Timing.Hello}
	err = s.askRealtime(ctx, l, 1, w)
	if !errors.Is(err, errNoAnswer) {
		return err == nil, err
	}
	l.stream.Cancel(status.ExpectPrinter)
	if l.writing {
		return false, nil // It takes no bytes at all.
	}
	l.start(escpos.NULs(StripBytes))
	err = s.await(ctx, l, wait{limit: s.config.Timing.Answer}, func() bool { return !l.writing })
	if err == nil {
		err = s.askRealtime(ctx, l, 1, w)
	}
	switch {
	case errors.Is(err, errNoAnswer):
		l.stream.Cancel(status.ExpectPrinter)
		return false, nil
	case err != nil:
		return false, err
	}
	// The first question's answer may only be late: it must not be taken for a later one's.
	return true, s.quiet(ctx, l)
}

// recognise asks a unit that is remembered one queued question that it is known to answer, and its
// identity where it has one. It tells whether this still looks like the same unit.
func (s *Session) recognise(ctx context.Context, l *link) (bool, error) {
	if !strings.Contains(s.unit.Fingerprint, "#") || s.unit.Realtime == 0 {
		return false, nil // Never probed to the end.
	}
	// Its condition comes first: a held printer answers no queued question, and is waited for.
	err := s.examine(ctx, l)
	if err == nil {
		err = s.syncWithin(ctx, l, s.config.Timing.Answer)
	}
	if errors.Is(err, errNoAnswer) {
		// Either it still prints, or it takes our questions for the rest of a strip.
		if err := s.tell(ctx, l, escpos.NULs(StripBytes)); err != nil {
			return false, err
		}
		err = s.syncWithin(ctx, l, s.config.Timing.Fence)
	}
	switch {
	case errors.Is(err, errNoAnswer):
		l.stream.Reset()
		l.forgetFences()
		return false, nil
	case err != nil:
		return false, err
	case !s.unit.Identity:
		return true, nil
	}
	identity, err := s.identify(ctx, l)
	before, _, _ := strings.Cut(s.unit.Fingerprint, "#")
	return identity == before, err
}

// probe finds out from scratch what the unit answers (identity strings lie). A question that is not
// understood may leave stray characters in the unit's line, so that ESC @ ends the probing.
func (s *Session) probe(ctx context.Context, l *link) error {
	s.unit = Unit{TwoWay: true, Realtime: 1 << 1}
	for n := byte(2); int(n) < len(realtimeKinds); n++ {
		err := s.askRealtime(ctx, l, n, wait{limit: s.config.Timing.Hello})
		switch {
		case err == nil:
			s.unit.Realtime |= 1 << n
		case !errors.Is(err, errNoAnswer):
			return err
		default:
			l.stream.Cancel(realtimeKinds[n])
		}
	}
	l.chain = 0
	identity, err := s.identify(ctx, l)
	if err == nil && identity == "" {
		// Perhaps the question ended as the rest of a strip.
		if err = s.tell(ctx, l, escpos.NULs(StripBytes)); err == nil {
			identity, err = s.identify(ctx, l)
		}
	}
	if err != nil {
		return err
	}
	s.unit.Identity = identity != ""
	for _, one := range []func(context.Context, *link) error{
		s.probeOdometer, s.probeFence, s.probeProcessID, s.probeASB,
	} {
		if err := one(ctx, l); err != nil {
			return err
		}
	}
	s.unit.Fingerprint = identity + "#" + s.unit.letters()
	if s.unit.Fingerprint == s.former.Fingerprint {
		// What its odometer and its clearing taught stays true.
		s.unit.Trust, s.unit.Clears = s.former.Trust, s.former.Clears
	}
	return s.tell(ctx, l, escpos.Initialise())
}

// letters says in short what a unit answers, for its fingerprint.
func (u Unit) letters() string {
	letters := ""
	for _, x := range []struct {
		has    bool
		letter string
	}{{u.ProcessID, "h"}, {u.Fence, "r"}, {u.Odometer, "g"}, {u.Cumulative, "c"}, {u.Pushes, "a"}} {
		if x.has {
			letters += x.letter
		}
	}
	return letters
}

// answered turns an unanswered probe into false.
func answered(err error) (bool, error) {
	if errors.Is(err, errNoAnswer) {
		return false, nil
	}
	return err == nil, err
}

// probing is the wait for the answer to one probe. It waits out a hold, during which queued
// questions are not answered by units that can.
func (s *Session) probing() wait { return wait{limit: s.config.Timing.Answer, patient: true} }

// identify reads the GS I strings, joined; empty where there are none.
func (s *Session) identify(ctx context.Context, l *link) (string, error) {
	var texts []string
	for _, n := range []byte{askModel, askMaker, askFirmware, askSerial} {
		a, err := ask[status.Identity](
			ctx, s, l, s.probing(), status.ExpectIdentity, escpos.Identity(n))
		ok, err := answered(err)
		switch {
		case err != nil:
			return "", err
		case ok:
			texts = append(texts, transport.Plain(a.Text))
			continue
		}
		l.stream.Cancel(status.ExpectIdentity)
		if n == askModel {
			return "", nil
		}
		texts = append(texts, "")
	}
	return strings.Join(texts, "/"), nil
}

// wanted asks a cable that is meant for one certain unit whether this is it. A stranger ends the
// link before anything is printed there.
func (s *Session) wanted(l *link) error {
	r, certain := l.conn.(transport.Recogniser)
	if !certain || !s.unit.Identity {
		return nil
	}
	identity, _, _ := strings.Cut(s.unit.Fingerprint, "#")
	if err := r.Recognise(identity[strings.LastIndexByte(identity, '/')+1:]); err != nil {
		s.unit = s.former // What was learned is of another unit.
		return fmt.Errorf("%w: %w", ErrLink, err)
	}
	return nil
}

func (s *Session) probeOdometer(ctx context.Context, l *link) error {
	for _, cumulative := range []bool{true, false} {
		s.unit.Cumulative = cumulative
		both := 0
		for _, question := range [][]byte{s.unit.askLineFeeds(), s.unit.askCuts()} {
			_, err := ask[status.Counter](ctx, s, l, s.probing(), status.ExpectCounter, question)
			ok, err := answered(err)
			if err != nil {
				return err
			}
			if !ok {
				l.stream.Cancel(status.ExpectCounter)
				break
			}
			both++
		}
		if both == 2 {
			s.unit.Odometer = true
			return nil
		}
	}
	s.unit.Cumulative = false
	return nil
}

func (s *Session) probeFence(ctx context.Context, l *link) error {
	ok, err := answered(s.askFence(ctx, l, s.probing()))
	if !ok {
		l.forgetFences()
	}
	s.unit.Fence = ok
	return err
}

func (s *Session) probeProcessID(ctx context.Context, l *link) (err error) {
	s.unit.ProcessID, err = answered(s.askProcessID(ctx, l, s.probing()))
	return err
}

func (s *Session) probeASB(ctx context.Context, l *link) (err error) {
	_, err = ask[status.ASB](ctx, s, l, wait{limit: s.config.Timing.Answer}, 0, escpos.EnableASB())
	s.unit.Pushes, err = answered(err)
	return err
}
