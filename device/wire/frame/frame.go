// Package frame watches the MQTT 3.1.1 packets that an engine sends, for both clients of ours, and
// tells what paho could not take: it keeps a program alive that a broken engine would end.
//
//	g := frame.Guard{Filters: 3, Max: frame.Max}
//	err := g.Check(bytes) // every byte of the stream, in order
package frame

import (
	"errors"
	"fmt"

	"chit/device/wire"
)

// ErrFrame ends a connection whose engine sends what paho cannot take.
var ErrFrame = errors.New("the engine sent a packet out of bounds")

const (
	// Max is the largest packet that a device takes: a message with its topic and headers. It leaves
	// room for one over its size, which the device owes a signed refusal; to end the connection
	// instead would have it handed over again and again, and keep all others out. paho would set up
	// to 256 MB aside on the word of a length field.
	Max = wire.OpenMax + 1024

	typeSuback = 9 // MQTT 3.1.1 §2.2.1
)

// Guard watches one connection. paho indexes the filters by the number of codes in a SUBACK and
// panics on one more, and believes every length.
type Guard struct {
	Filters int // in this connection's one SUBSCRIBE
	Max     int // bytes of the largest packet after its fixed header

	state  state
	kind   byte
	length int // remaining length, as far as it is read
	shift  uint
	left   int // bytes of the packet still to come
}

type state uint8

const (
	atType state = iota
	atLength
	atBody
)

// Check reads the next bytes of the stream; an error wraps ErrFrame and is final.
func (g *Guard) Check(p []byte) error {
	for len(p) > 0 {
		switch g.state {
		case atType:
			g.kind, g.length, g.shift, g.state = p[0]>>4, 0, 0, atLength
			p = p[1:]
		case atLength:
			g.length |= int(p[0]&0x7f) << g.shift
			g.shift += 7
			last := p[0]&0x80 == 0
			p = p[1:]
			if !last && g.shift > 21 {
				return fmt.Errorf("%w: length of more than 4 bytes", ErrFrame) // §2.2.3
			}
			if last {
				if err := g.judge(); err != nil {
					return err
				}
				g.left, g.state = g.length, atBody
			}
		case atBody:
			n := min(g.left, len(p))
			g.left -= n
			p = p[n:]
		}
		if g.state == atBody && g.left == 0 {
			g.state = atType
		}
	}
	return nil
}

func (g *Guard) judge() error {
	switch {
	case g.length > g.Max:
		return fmt.Errorf("%w: %d bytes, at most %d", ErrFrame, g.length, g.Max)
	case g.kind == typeSuback && g.length != 2+g.Filters: // §3.9.3: one code for each filter.
		return fmt.Errorf("%w: SUBACK of %d bytes for %d filters", ErrFrame, g.length, g.Filters)
	}
	return nil
}
