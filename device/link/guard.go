package link

import (
	"errors"
	"fmt"

	"chit/device/wire"
)

// errFrame ends a connection whose engine sends what paho cannot take.
var errFrame = errors.New("link: the engine sent a packet out of bounds")

const (
	// packetMax is the largest packet taken: a message with its topic and headers. It leaves room for
	// one over its size, which the device owes a signed refusal; to end the connection instead would
	// have it handed over again and again, and keep all others out. paho would set up to 256 MB aside
	// on the word of a length field.
	packetMax = wire.OpenMax + 1024

	typeSuback = 9 // MQTT 3.1.1 §2.2.1
)

// guard watches the frames that an engine sends. It keeps a device alive that a broken engine
// would end: paho indexes the filters by the number of codes in a SUBACK and panics on one more.
type guard struct {
	filters int // in this connection's one SUBSCRIBE

	state  guardState
	kind   byte
	length int // remaining length, as far as it is read
	shift  uint
	left   int // bytes of the packet still to come
}

type guardState uint8

const (
	atType guardState = iota
	atLength
	atBody
)

// check reads the next bytes of the stream; an error wraps errFrame and is final.
func (g *guard) check(p []byte) error {
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
				return fmt.Errorf("%w: length of more than 4 bytes", errFrame) // §2.2.3
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

func (g *guard) judge() error {
	switch {
	case g.length > packetMax:
		return fmt.Errorf("%w: %d bytes, at most %d", errFrame, g.length, packetMax)
	case g.kind == typeSuback && g.length != 2+g.filters: // §3.9.3: one code for each filter.
		return fmt.Errorf("%w: SUBACK of %d bytes for %d filters", errFrame, g.length, g.filters)
	}
	return nil
}
