package delivery

import (
	"errors"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

var (
	// ErrFormat is returned for stored data of another format.
	ErrFormat = errors.New("delivery: unknown format")
	// ErrUnknown is returned for a ticket that was never accepted (HTTP: 404).
	ErrUnknown = errors.New("delivery: unknown ticket")
	// ErrConflict is returned for a known ticket with another digest (HTTP: 409).
	ErrConflict = entity.ErrConflict
	// ErrTooMany is returned for an order with more than MutationsMax tickets (HTTP: 422).
	ErrTooMany = errors.New("delivery: too many tickets of one order")
	// ErrExpired is returned for a redrive past the ticket's expires (HTTP: 409); a later wish to
	// print is a reprint.
	ErrExpired = errors.New("delivery: expired")
	// ErrMoved refuses a command decided on an older epoch of the delivery.
	ErrMoved = errors.New("delivery: moved on since it was read")
)

// Accept takes a ticket in. The door has checked the content and the station.
type Accept struct {
	Tenant  string
	Content wire.Content
	Data    []byte // wire.Canonical's bytes of Content
	// Also are the stations that get a copy each.
	Also []Copy
	// ExpiresAfter is how long the event is remembered from its release; ExpiresAfter (30 days) where
	// 0.
	ExpiresAfter time.Duration
	// Canary is true for what [NewCanary] made.
	Canary bool
}

// Copy is a station that gets a copy of every ticket of another one, such as the pass.
type Copy struct{ Station, Kitchen string }

// Redrive goes on with a dead letter: the same row with a new budget and window. Repeated, or asked
// of a delivery that is not dead, it changes nothing.
type Redrive struct {
	Tenant, Ticket string
	Who, Why       string
	// Request makes repetitions recognisable for RequestFor, even when the delivery died again
	// meanwhile; it may be empty.
	Request string
}

// Cancel ends a delivery that is no longer wanted.
type Cancel struct {
	Tenant, Ticket string
	Who, Reason    string
	// Epoch is the delivery's as it was read; 0 cancels whatever it is by now.
	Epoch uint64
}

// Result is what Accept, Redrive and Cancel answer, as JSON.
type Result struct {
	Ticket string `json:"ticket"`
	State  State  `json:"state"`
	// Changed is false where the command found nothing to do.
	Changed bool `json:"changed"`
}

// Changed is the effect that tells the relay where a delivery stands now.
type Changed struct {
	Key      entity.Key
	Delivery Delivery
	// What are the events' words, such as "settled", for counters.
	What []Word
}

// Send is the effect that hands a ticket over; its lease is durable.
type Send struct {
	Key     entity.Key
	Epoch   uint64
	Lease   Lease
	Message wire.Ticket
}
