package session

import (
	"context"
	"errors"
)

// decide says what became of the document of intent, from the answers heard so far and the odometer
// now. It never guesses: what fits nothing is evidence None.
//
//	answer to its own token, or to its GS r after the cut   -> came out
//	answer to the fence after its body                      -> came out, the cut may be missing
//	both counters grown by exactly the document, trusted    -> came out
//	lines grown, cut not                                    -> torn, print again
//	anything else                                           -> print again
func decide(intent Intent, unit Unit, heard proofs, now Counters) Resolution {
	r := Resolution{Counters: now}
	sameUnit := intent.Fingerprint != "" && intent.Fingerprint == unit.Fingerprint &&
		intent.Before.Known && now.Known
	uncut := intent.Cuts > 0 && !(sameUnit && now.Cuts > intent.Before.Cuts)
	printed, evidence := heard.of(intent.Token)
	switch {
	case printed == whole:
		r.Evidence = evidence
	case printed == body:
		r.Evidence, r.Torn = evidence, uncut
	case sameUnit && intent.Trusted && (intent.LineFeeds > 0 || intent.Cuts > 0) &&
		grownBy(intent.Before, now, intent.LineFeeds, intent.Cuts):
		r.Evidence = Counted
	case sameUnit && intent.Cuts > 0:
		r.Torn = now.LineFeeds > intent.Before.LineFeeds && now.Cuts == intent.Before.Cuts
	}
	return r
}

// Resolve finds out what became of an interrupted document: by the printer's late answer, or by its
// odometer. It waits until the printer is there and has printed what it held. Call it once after a
// restart before the first Print, or after a Print whose outcome is unknown.
func (s *Session) Resolve(ctx context.Context, intent Intent) Resolution {
	for {
		var r Resolution
		s.cleared(ctx)
		err := s.submit(ctx, s.questions, &order{do: func(ctx context.Context, l *link) error {
			ctx, end, err := s.begin(ctx, intent.Token, true)
			if err != nil {
				return err
			}
			defer end()
			r, err = s.resolve(ctx, l, intent)
			return err
		}})
		switch {
		case err == nil:
			return r
		case ctx.Err() != nil:
			return Resolution{Err: context.Cause(ctx)}
		case errors.Is(err, ErrEnded):
			return Resolution{Err: err}
		}
		// The link was lost or fell silent while asking, and the next connection is asked again; or
		// the document is being taken back, and the printer is asked after that.
	}
}

func (s *Session) resolve(ctx context.Context, l *link, intent Intent) (Resolution, error) {
	if !s.unit.TwoWay {
		return decide(intent, s.unit, s.proofs, Counters{}), nil
	}
	r, err := s.askResolve(ctx, l, intent)
	if err != nil && ctx.Err() == nil {
		l.fail(silence(err))
	}
	return r, err
}

func (s *Session) askResolve(
	ctx context.Context, l *link, intent Intent,
) (Resolution, error) {
	// Whatever answers this was queued behind the document, so that all answers that can still come
	// have come.
	if err := s.sync(ctx, l); err != nil {
		return Resolution{}, err
	}
	if err := s.readCounters(ctx, l, true); err != nil {
		return Resolution{}, err
	}
	r := decide(intent, s.unit, s.proofs, s.unit.Counters)
	r.Untouched = l.cleared == intent.Token && r.Evidence == None &&
		untouched(intent, s.unit, s.unit.Counters)
	return r, nil
}

// untouched is true where the odometer says that nothing of the document came out. That is only
// worth something where no power was lost since: a unit may forget what it counted last, and where
// nothing of it can follow; see [Resolution].
func untouched(intent Intent, unit Unit, now Counters) bool {
	return intent.Fingerprint != "" && intent.Fingerprint == unit.Fingerprint && intent.Trusted &&
		intent.Before.Known && now == intent.Before && intent.LineFeeds > 0
}
