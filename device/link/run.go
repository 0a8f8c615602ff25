package link

import (
	"context"
	"errors"
	"time"
)

// Run connects and reconnects until ctx ends; then it publishes the planned offline, disconnects
// and returns nil. It may be called once.
func (l *Link) Run(ctx context.Context) error {
	if l.running.Swap(true) {
		return errors.New("link: Run called twice")
	}
	wait := backoff{first: l.conf.WaitFirst, max: l.conf.WaitMax}
	var last string
	for ctx.Err() == nil {
		up, err := l.connectOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		l.count(func(s *Stats) { s.Failures++ })
		wait.stood(up, l.conf.StableAfter)
		pause := wait.next(l.conf.Jitter)
		// The first failure and every different one are logged, repetitions are not.
		if text := err.Error(); text != last || up > 0 {
			last = text
			l.conf.Log.Warn("link is down", "device", l.conf.Device, "error", err,
				"up", up, "retry_in", pause)
		}
		sleep(ctx, pause)
	}
	return nil
}

// connectOnce runs one connection to its end and says how long it stood and why it ended.
func (l *Link) connectOnce(ctx context.Context) (up time.Duration, err error) {
	session, err := l.handler.Session()
	if err != nil {
		return 0, err
	}
	c, err := l.open(ctx, session)
	if err != nil {
		return 0, err
	}
	defer c.close()
	if err := c.subscribe(ctx); err != nil {
		return 0, err
	}
	if err := c.sayHello(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	l.current.Store(c)
	l.count(func(s *Stats) { s.Connects++ })
	l.conf.Log.Info("link is up", "device", l.conf.Device, "session", session.ID)
	l.handler.Up(session.ID)
	c.startDelivery()

	err = c.serve(ctx)

	l.current.Store(nil)
	if ctx.Err() != nil {
		c.farewell()
	}
	c.close()
	l.handler.Down(session.ID, err)
	return time.Since(start), err
}

// serve waits for the end of a standing connection and says hello again where that is asked for.
func (c *connection) serve(ctx context.Context) error {
	due := time.NewTimer(time.Hour)
	due.Stop()
	defer due.Stop()
	planned := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.lost:
			return err
		case <-c.link.greet:
			// Jitter, because a broker that starts again is seen by all its devices at once.
			if !planned {
				planned = true
				due.Reset(c.link.conf.Jitter(c.link.conf.GreetWithin))
			}
		case <-due.C:
			planned = false
			if err := c.sayHello(ctx); err != nil {
				return err
			}
			c.link.count(func(s *Stats) { s.Greetings++ })
		}
	}
}

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
