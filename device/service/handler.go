package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"chit/device/core"
	"chit/device/link"
	"chit/device/wire"
	"chit/failpoint"
)

// snapshot is what the link's goroutines may know of the machine. The core loop replaces it after
// every commit, so it never says more than what is on disk.
type snapshot struct {
	hello  wire.Hello
	status wire.Status
}

// handler stands between the link and the core loop: it verifies, and it never decides.
type handler struct {
	ctx    context.Context
	in     chan item
	who    who
	keys   func() wire.Keys
	signer *wire.Signer
	now    atomic.Pointer[snapshot]
	count  func(name, label string)
	log    *slog.Logger
}

// Session opens a session under a new random id.
func (h *handler) Session() (link.Session, error) {
	var b [12]byte
	_, _ = rand.Read(b[:]) // It never fails: crypto/rand ends the program first.
	id := hex.EncodeToString(b[:])
	offline := wire.Status{State: "offline", Session: id}
	will, err := wire.EncodeStatus(offline)
	return link.Session{ID: id, Will: will}, err
}

// Greeting is the birth and the hello of the session as they are now.
func (h *handler) Greeting(session string) (birth, hello []byte, err error) {
	failpoint.Here("device.hello.before")
	now := h.now.Load()
	status, greeting := now.status, now.hello
	status.State, status.Session, greeting.Session = "online", session, session
	if birth, err = wire.EncodeStatus(status); err != nil {
		return nil, nil, err
	}
	h.send(core.Greeted{Session: session}, nil) // Before its welcome can come.
	hello, err = h.signer.SignHello(greeting)
	return birth, hello, err
}

// HostEpoch verifies the broker's sign of life.
func (h *handler) HostEpoch(payload []byte) (string, bool) {
	host, err := h.keys().OpenHost(payload)
	if err != nil {
		h.bad(wire.LeafHost, err)
		return "", false
	}
	return host.Epoch, true
}

// Up and Down bound a session.
func (h *handler) Up(session string) { h.send(core.Connected{Session: session}, nil) }

// Down says that the session is over.
func (h *handler) Down(session string, cause error) {
	h.log.Info("session ended", "session", session, "err", cause)
	h.send(core.Disconnected{}, nil)
}

// errRetained says that a message that acts was retained: nobody of ours retains one.
var errRetained = errors.New("a retained message does not act")

// Deliver verifies a message and hands it to the core loop, with the duty to let its PUBACK go.
func (h *handler) Deliver(m link.Message) { h.deliver(m.Leaf, m.Payload, m.Retained, m.Ack) }

func (h *handler) deliver(leaf wire.Leaf, payload []byte, retained bool, ack func()) {
	var e core.Event
	var err error
	switch {
	case leaf == wire.LeafHost: // The link has seen to it.
		ack()
		return
	case retained:
		err = errRetained // And time is never taken from one.
	case leaf == wire.LeafTicket:
		e, err = h.ticket(payload)
	case leaf == wire.LeafRecall:
		e, err = h.recall(payload)
	case leaf == wire.LeafCommand:
		e, err = h.command(payload)
	}
	if err != nil {
		// Not from our broker, or nothing that can be answered: counted, and let go, because a
		// message that is never acknowledged holds back those after it.
		h.bad(leaf, err)
		ack()
		return
	}
	h.send(e, ack)
}

func (h *handler) send(e core.Event, ack func()) {
	select {
	case h.in <- item{event: e, ack: ack}:
	case <-h.ctx.Done():
	}
}

func (h *handler) bad(leaf wire.Leaf, err error) {
	h.count("bad_messages", wire.Reason(err))
	h.log.Warn("message was not taken", "leaf", string(leaf), "err", err)
}

func (h *handler) ticket(payload []byte) (core.Event, error) {
	t, err := h.keys().OpenTicket(payload)
	if err != nil {
		if t.ID == "" {
			return nil, err
		}
		// Signed by our broker and of no use to us: refused, signed, never dropped silently.
		h.bad(wire.LeafTicket, err)
		e := core.TicketUnusable{ID: t.ID, Attempt: max(t.Attempt, 1), Reason: wire.Reason(err)}
		if t.Data != nil {
			e.Digest = wire.Digest(t.Data)
		}
		return e, nil
	}
	e := core.TicketArrived{Ticket: t, Kind: t.As, Digest: wire.Digest(t.Data)}
	if err := h.addressed("ticket "+t.ID, t.Device, t.Source); err != nil {
		// It was handed to another device, and somebody brought it here: the broker, should it have
		// been the broker, hears of it, and no paper comes out twice.
		h.bad(wire.LeafTicket, err)
		return core.TicketUnusable{
			ID: t.ID, Attempt: t.Attempt, Digest: e.Digest, Reason: wire.Reason(err),
		}, nil
	}
	content, err := wire.ParseContent(t.Data)
	if err != nil {
		h.bad(wire.LeafTicket, err)
		return core.TicketUnusable{
			ID: t.ID, Attempt: t.Attempt, Digest: e.Digest, Reason: "content",
		}, nil
	}
	if e.Kind == "" {
		e.Kind = content.Kind
	}
	return e, nil
}

func (h *handler) recall(payload []byte) (core.Event, error) {
	r, err := h.keys().OpenRecall(payload)
	if err == nil {
		err = h.addressed("recall "+r.ID, r.Device, "")
	}
	return core.Recalled{Recall: r}, err
}

// command reads what comes on the command topic: a welcome or a command.
func (h *handler) command(payload []byte) (core.Event, error) {
	kind, _, err := wire.Peek(payload)
	if err != nil {
		return nil, err
	}
	if kind == wire.TypeWelcome {
		w, err := h.keys().OpenWelcome(payload)
		return core.Welcomed{Welcome: w}, err
	}
	c, err := h.keys().OpenCommand(payload)
	if err == nil {
		err = h.addressed("command "+c.ID, c.Device, "")
	}
	return core.CommandArrived{Command: c}, err
}

// addressed refuses a genuine message of our broker that speaks to another device, or, where source
// is given, comes from another tenant.
func (h *handler) addressed(what, device, source string) error {
	switch {
	case !wire.Addressed(device, h.who.device):
		return fmt.Errorf("%w: %s is for %s", wire.ErrForeign, what, device)
	case source != "" && source != "chit/"+h.who.tenant:
		return fmt.Errorf("%w: %s is from %s", wire.ErrForeign, what, source)
	}
	return nil
}
