package session

import (
	"context"
	"errors"
	"fmt"

	"chit/printer/escpos"
	"chit/printer/status"
)

// Print brings one document to paper and returns when its outcome is known, or when ctx ends, the
// link is lost or the printer stays silent: then the outcome is unknown and Resolve may still find
// it out. While the printer reports paper end or an open cover, Print waits without a time-out.
//
// A printer that is held or absent before the first byte is not written to: Err is then ErrHeld and
// Started false, and a later State says when to try again.
func (s *Session) Print(ctx context.Context, job Job) Result {
	if !job.Token.Valid() {
		return Result{Err: fmt.Errorf("session: printing: %w: %q", ErrToken, job.Token[:])}
	}
	result := Result{}
	err := s.submit(ctx, s.orders, &order{do: func(ctx context.Context, l *link) error {
		result = s.print(ctx, l, job)
		return nil
	}})
	var held heldError
	switch {
	case errors.As(err, &held):
		return Result{Err: fmt.Errorf("session: printing: %w", err), Hold: held.hold}
	case err != nil:
		return Result{Err: fmt.Errorf("session: printing: %w", err)}
	case result.Err != nil:
		result.Err = fmt.Errorf("session: printing: %w", result.Err)
	}
	return result
}

func (s *Session) print(ctx context.Context, l *link, job Job) Result {
	ctx, end, err := s.begin(ctx, job.Token, false)
	if err != nil {
		return Result{Err: err, Counters: s.unit.Counters}
	}
	defer end()
	if err := s.preflight(ctx, l, job); err != nil {
		r := Result{Err: err, Counters: s.unit.Counters}
		var held heldError
		if errors.As(err, &held) {
			r.Hold = held.hold
		}
		return r
	}
	before := s.unit.Counters
	r := Result{Started: true}
	for _, step := range plan(s.unit, job) {
		var err error
		r.Evidence, r.CutFault, err = s.take(ctx, l, job.Token, step)
		if err != nil {
			r.Evidence, r.Err = None, err
			s.abandon(l, err)
			return r
		}
		if r.CutFault {
			break
		}
	}
	if s.unit.TwoWay {
		s.finish(ctx, l, job, before, &r)
	}
	return r
}

// preflight makes sure that the printer can print now, by answers that it gives now: the first
// write to a printer that was switched off and on succeeds and vanishes (research/escpos.md 2.11).
func (s *Session) preflight(ctx context.Context, l *link, job Job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// A token that was used before has had its answers; those to come are this document's. Journals
	// never reuse one, a device without a journal has nothing else.
	s.proofs = s.proofs.without(job.Token)
	if !s.unit.TwoWay {
		w := wait{limit: s.config.Timing.Answer}
		return s.await(ctx, l, w, func() bool { return !l.writing })
	}
	err := s.examine(ctx, l)
	if err == nil {
		if hold := l.health.hold(); hold != HoldNone {
			return heldError{hold}
		}
		if len(l.fences) > 0 {
			// An earlier document's fence is open, and its answer would be taken for this one's.
			err = s.sync(ctx, l)
		}
	}
	if err == nil && l.touched {
		err = s.readCounters(ctx, l, false)
	}
	if err == nil && l.writing {
		err = errNoAnswer // The link does not even take a question.
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.fail(silence(err))
		hold := HoldSilent
		if errors.Is(err, ErrLink) {
			hold = HoldAbsent
		}
		return fmt.Errorf("%w: %w", heldError{hold}, err)
	}
	if now := s.unit.Counters; job.Before.Known && now.Known && now != job.Before {
		return ErrMoved
	}
	return nil
}

// take writes one step and waits for its proof. A cutter error after the body was proven ends the
// wait: the ticket can be read, and only a person can free the blade.
//
// A GS r that is not answered is never asked again, though models that are offline forget it: a
// printer that was reset forgot the document with it, and would answer the second one all the same.
func (s *Session) take(
	ctx context.Context, l *link, token escpos.Token, step step,
) (evidence Evidence, cutFault bool, err error) {
	l.document = token
	rest, err := s.feed(ctx, l, step)
	if err != nil {
		return None, false, s.accepted(err)
	}
	if step.fence.part != nothing {
		l.expectFence(step.fence)
	}
	l.start(rest)
	w := wait{limit: s.config.Timing.Fence, patient: true}
	if step.until == nothing {
		err := s.await(ctx, l, w, func() bool { return !l.writing })
		return Sent, false, s.accepted(err)
	}
	proven := func() bool {
		var printed part
		printed, evidence = s.proofs.of(token)
		cutFault = printed >= body && l.health.hold() == HoldCutter
		return !l.writing && (printed >= step.until || cutFault)
	}
	err = s.await(ctx, l, w, proven)
	return evidence, cutFault, s.accepted(err)
}

// accepted names the silence after a document.
func (s *Session) accepted(err error) error {
	if errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%w within %v", ErrSilence, s.config.Timing.Fence)
	}
	return err
}

// abandon leaves a document in doubt. The link is kept for a late answer unless it is stuck in the
// write itself.
func (s *Session) abandon(l *link, err error) {
	if l.writing {
		l.fail(fmt.Errorf("%w: given up while writing: %w", ErrLink, err))
	}
}

// askCutter asks for errors. Where a hold stood when the document came out everything is asked, so
// that no half of it stays believed until the next poll.
func (s *Session) askCutter(ctx context.Context, l *link, w wait) error {
	if l.health.hold() != HoldNone {
		return s.examine(ctx, l)
	}
	l.chain = 1
	defer func() { l.chain = 0 }()
	_, err := ask[status.Error](ctx, s, l, w, status.ExpectError, escpos.RealtimeStatus(3))
	return err
}

// finish asks what cannot change the document's evidence any more: the cutter and the odometer. It
// does not wait out a hold, since the document is on paper.
func (s *Session) finish(ctx context.Context, l *link, job Job, before Counters, r *Result) {
	w := wait{limit: s.config.Timing.Answer}
	if s.unit.Realtime&(1<<3) != 0 && len(job.Paper.Cut) > 0 && !r.CutFault && r.Evidence > Sent {
		if err := s.askCutter(ctx, l, w); err == nil {
			r.CutFault = l.health.cutter
		}
	}
	if !s.unit.Odometer || r.CutFault || r.Evidence <= Sent || l.err != nil {
		l.touched = l.touched || s.unit.Odometer
		s.unit.Counters = Counters{}
		return
	}
	moved := l.touched // A roll was changed meanwhile: feeding by hand is not the odometer's fault.
	if err := s.readCounters(ctx, l, false); err != nil {
		return
	}
	r.Counters = s.unit.Counters
	if !moved {
		s.unit.Trust = s.unit.Trust.After(
			job.Paper.Raster, before, r.Counters, job.Paper.LineFeeds, job.Paper.Cuts)
		s.former = s.unit
	}
}
