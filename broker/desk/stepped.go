package desk

import "chit/broker/entity"

// Stepped is a desk without goroutines, for an owner of the time such as the simulator: it decides
// as [Desk.Run] does, and leaves to its owner when a batch is flushed and what becomes of it.
//
//	s := desk.NewStepped(conf)      // s.Desk().Submit queues commands
//	err := s.Decide()               // into the open batch
//	commits, ok := s.Begin()        // the batch's flush begins; one at a time
//	s.End(store.Commit(commits))    // its answers and effects leave, or it is refused
//
// It is not safe for use by several goroutines.
type Stepped struct {
	desk         *Desk
	open, flight *batch
}

// NewStepped makes a desk that is stepped by hand; its Run must not be called.
func NewStepped(conf Config) *Stepped {
	return &Stepped{desk: New(conf), open: &batch{number: 1}}
}

// Desk is the desk itself, to submit commands to.
func (s *Stepped) Desk() *Desk { return s.desk }

// Decide decides on what is queued, as far as the open batch has room. The error is of the store;
// the desk must stop then.
func (s *Stepped) Decide() error {
	for len(s.open.decided) < s.desk.conf.BatchMax {
		select {
		case r := <-s.desk.queue:
			if err := s.desk.drain(s.open, r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// Begin hands the open batch over to be made durable; the next commands are decided behind it. ok
// is false where nothing was decided or a batch is in flight. A batch may hold no commits and
// answers all the same.
func (s *Stepped) Begin() (commits []entity.Commit, ok bool) {
	if s.flight != nil || len(s.open.decided) == 0 {
		return nil, false
	}
	s.flight, s.open = s.open, &batch{number: s.open.number + 1}
	return s.flight.commits, true
}

// End says what became of the batch in flight. Durable, its effects and answers leave; otherwise
// its outcome is unknown, and the desk stops.
func (s *Stepped) End(err error) {
	b := s.flight
	s.flight = nil
	if err != nil {
		b.refuse(ErrStopped)
		s.Stop()
		return
	}
	if len(b.effects) > 0 && s.desk.conf.Effects != nil {
		s.desk.conf.Effects(b.effects)
	}
	for _, one := range b.decided {
		one.done(one.answer, one.err)
	}
	s.desk.view.durable(b)
}

// Stop refuses whatever was not made durable, and whatever comes.
func (s *Stepped) Stop() {
	if s.flight != nil {
		s.flight.refuse(ErrStopped)
		s.flight = nil
	}
	s.desk.stop()
	s.open.refuse(ErrStopped)
	s.open = &batch{number: s.open.number + 1}
}
