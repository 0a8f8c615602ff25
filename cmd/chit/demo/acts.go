package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chit/printer/virtual"
)

// act is one plug that the demo pulls. It uses up the orders it needs and says how many.
type act struct {
	name string
	play func(s *show, ctx context.Context, orders []order) (int, error)
}

// acts are played in this order.
var acts = []act{
	{"kill_device_between_paper_and_ack", (*show).killDevice},
	{"paper_out", (*show).paperOut},
	{"network_cut", (*show).networkCut},
	{"kill_broker", (*show).killBroker},
}

// killDevice lets the printer answer late, so that paper is out and nobody knows it yet, and kills
// the daemon there.
func (s *show) killDevice(ctx context.Context, orders []order) (int, error) {
	o := orders[0]
	return 1, s.withBound(ctx, func(ctx context.Context) error {
		printer := s.rig.Printers[o.content.Station]
		// A slow mechanism gives time to hold the answers back once the ticket is under the head.
		if err := printer.Raise(virtual.Fault{Name: virtual.Slow, LinesPerSecond: 20}); err != nil {
			return err
		}
		before := len(printer.Sheets())
		if err := s.post(ctx, o); err != nil {
			return err
		}
		err := s.rig.Until(ctx, "the printer to begin", func(context.Context) bool {
			hanging, err := printer.Pending()
			return err == nil && !hanging.Blank()
		})
		if err != nil {
			return err
		}
		late := virtual.Fault{Name: virtual.LateAnswers, Wait: 4 * time.Second}
		if err := errors.Join(printer.Raise(late), printer.Clear(virtual.Slow)); err != nil {
			return err
		}
		err = printer.Wait(ctx, func(sheets []virtual.Sheet) bool { return len(sheets) > before })
		if err != nil {
			return fmt.Errorf("waiting for paper: %w", err)
		}
		s.teller.say("PLUG  paper of %s is out; killing the device before it can say so", o.content.ID)
		if err := s.rig.Device.Kill(); err != nil {
			return err
		}
		if err := printer.Clear(virtual.LateAnswers); err != nil {
			return err
		}
		if err := s.rig.Device.Start(); err != nil {
			return err
		}
		return s.over(ctx, o)
	})
}

// paperOut takes the roll in the middle of a ticket and brings a new one when the device has said
// so.
func (s *show) paperOut(ctx context.Context, orders []order) (int, error) {
	o := orders[0]
	return 1, s.withBound(ctx, func(ctx context.Context) error {
		printer := s.rig.Printers[o.content.Station]
		out := virtual.Fault{Name: virtual.PaperOut, After: 4, HasAfter: true}
		if err := printer.Raise(out); err != nil {
			return err
		}
		if err := s.post(ctx, o); err != nil {
			return err
		}
		err := s.rig.Until(ctx, "the device to hold the ticket", func(ctx context.Context) bool {
			t, err := s.rig.Ticket(ctx, o.content.ID, o.content.Station)
			return err == nil && t.Outcome == "held"
		})
		if err != nil {
			return err
		}
		s.teller.say("PLUG  the roll of the %s ran out in the middle of %s: held, the alarm sounds",
			o.content.Station, o.content.ID)
		if err := printer.Clear(virtual.PaperOut); err != nil {
			return err
		}
		s.teller.say("      a new roll is in; the printer goes on with what it has")
		return s.over(ctx, o)
	})
}

// networkCut takes the device off the network, sends what there is and brings it back.
func (s *show) networkCut(ctx context.Context, orders []order) (int, error) {
	used := min(2, len(orders))
	return used, s.withBound(ctx, func(ctx context.Context) error {
		s.rig.Cable.Cut()
		s.teller.say("PLUG  the device is off the network")
		for _, o := range orders[:used] {
			if err := s.post(ctx, o); err != nil {
				return err
			}
			err := s.rig.Until(ctx, "the broker to park the ticket", func(ctx context.Context) bool {
				t, err := s.rig.Ticket(ctx, o.content.ID, o.content.Station)
				return err == nil && t.State == "parked"
			})
			if err != nil {
				return err
			}
			s.teller.say("      %s is accepted and parked: waiting costs no attempt", o.content.ID)
		}
		s.rig.Cable.Mend()
		s.teller.say("      the network is back")
		for _, o := range orders[:used] {
			if err := s.over(ctx, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// killBroker kills the broker right after its promise.
func (s *show) killBroker(ctx context.Context, orders []order) (int, error) {
	o := orders[0]
	return 1, s.withBound(ctx, func(ctx context.Context) error {
		if err := s.post(ctx, o); err != nil {
			return err
		}
		if err := s.rig.Broker.Kill(); err != nil {
			return err
		}
		s.teller.say("PLUG  the broker was killed right after it promised %s", o.content.ID)
		if err := s.rig.Broker.Start(); err != nil {
			return err
		}
		return s.over(ctx, o)
	})
}
