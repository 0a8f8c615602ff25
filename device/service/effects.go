package service

import (
	"log/slog"

	"chit/device/core"
	"chit/device/panel"
	"chit/device/wire"
)

// effects carries out what the core decided. Its perform is called by the core loop and never
// blocks.
type effects struct {
	signer *wire.Signer
	out    *outbox
	panel  *panel.Panel
	count  func(name, label string)
	log    *slog.Logger
}

func (f *effects) perform(effect core.Effect, l *loop) {
	switch e := effect.(type) {
	case core.Puback:
		if ack := l.handles[e.Handle]; ack != nil {
			delete(l.handles, e.Handle)
			f.out.put(outgoing{ack: ack})
		}
	case core.Answer:
		f.answer(e.Ack, l)
	case core.Reply:
		signed, err := f.signer.SignReply(e.Reply)
		f.send(wire.LeafAck, signed, err, l)
	case core.Print:
		f.order(e, e.Printer, l)
	case core.Resolve:
		f.order(e, e.Printer, l)
	case core.ClearPrinter:
		f.order(e, e.Printer, l)
	case core.Greet:
		if e.Renew {
			f.out.voice.Renew()
			return
		}
		l.greet()
	case core.Sound:
		f.panel.Play(panel.Sound(e.Pattern))
	case core.Lamp:
		f.panel.Light(lamp(e.Light))
	case core.Pressed:
		f.pressed(e, l)
	case core.StatusChanged:
		payload, err := wire.EncodeStatus(e.Status)
		f.send(wire.LeafStatus, payload, err, l)
	}
}

func (f *effects) answer(a wire.Ack, l *loop) {
	label := string(a.Outcome)
	if a.Outcome == wire.OutcomeRefused || a.Outcome == wire.OutcomeHeld {
		label += ":" + a.Reason
	}
	f.count("answers", label)
	f.log.Debug("answer", "ticket", a.Ticket, "attempt", a.Attempt, "outcome", string(a.Outcome),
		"reason", a.Reason, "evidence", string(a.Evidence), "n", a.N)
	signed, err := f.signer.SignAck(a)
	f.send(wire.LeafAck, signed, err, l)
}

func (f *effects) send(leaf wire.Leaf, payload []byte, err error, l *loop) {
	if err != nil {
		f.log.Error("message of ours cannot be signed", "leaf", string(leaf), "err", err)
		f.count("unsent", "encoding")
		return
	}
	f.out.put(outgoing{leaf: leaf, payload: payload, session: l.machine.Status().Session})
}

func (f *effects) order(e core.Effect, printer string, l *loop) {
	w := l.workers[printer]
	if w == nil {
		return // No longer configured: shown as waiting for an absent printer.
	}
	if !w.order(e) {
		f.log.Error("printer's line is full", "printer", printer)
	}
}

// lamp says with one light what the core tells apart by five: steady is well, slow blinking is work
// that waits, fast blinking asks for a person, and a device without a broker flashes.
func lamp(l core.Light) panel.Light {
	switch l {
	case core.LightReady:
		return panel.LightOn
	case core.LightWaiting:
		return panel.LightSlow
	case core.LightHeld, core.LightAlarm:
		return panel.LightFast
	case core.LightOffline:
		return panel.LightFlash
	}
	return panel.LightOff
}

// pressed tells whoever waits for it what a press did.
func (f *effects) pressed(e core.Pressed, l *loop) {
	if e.Seen > 0 {
		f.log.Info("tickets seen", "tickets", e.Seen)
	}
	if told := l.presses[e.Handle]; told != nil {
		delete(l.presses, e.Handle)
		told(e)
	}
}
