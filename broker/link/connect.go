package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// What a CONNECT is refused for.
var (
	errNotConnect   = errors.New("first packet is not CONNECT")
	errLevel        = errors.New("protocol level is not 4 (MQTT 3.1.1)")
	errClientID     = errors.New("client id is not the device of the certificate")
	errUsername     = errors.New("user name is not the device of the certificate")
	errCleanSession = errors.New("clean session is off")
	errKeepAlive    = errors.New("keep-alive is not 1 to 60 s")
	errWill         = errors.New("will is not on the device's status, retained, at QoS 0 or 1")
	errBusy         = errors.New("the device's older connection does not end")
)

// CONNACK return codes, MQTT 3.1.1 §3.2.2.3.
const (
	connackLevel         = 1
	connackNotAuthorized = 5
)

const (
	keepAliveMax = 60 // seconds

	// packetMax is the largest packet: a message of 64 KiB with its topic and headers.
	packetMax = 64<<10 + 1024
)

// readConnect reads the first packet up to the protocol level and returns what it read.
//
// Other levels are refused here, before mochi sees a byte: its decoder of MQTT 5 packets panics on
// foreign bytes (mochi#501).
func readConnect(r io.Reader) (prefix []byte, err error) {
	buf := make([]byte, 0, 12)
	next := func(n int) ([]byte, error) {
		at := len(buf)
		buf = buf[:at+n]
		_, err := io.ReadFull(r, buf[at:])
		return buf[at:], err
	}
	b, err := next(1)
	if err != nil {
		return nil, err
	}
	if b[0] != packets.Connect<<4 { // §2.2.2: the flags of CONNECT are reserved and 0.
		return nil, errNotConnect
	}
	length := 0
	for shift := 0; ; shift += 7 {
		if shift > 21 {
			return nil, fmt.Errorf("%w: remaining length over 4 bytes", errNotConnect) // §2.2.3
		}
		if b, err = next(1); err != nil {
			return nil, err
		}
		length |= int(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			break
		}
	}
	if length < 10 || length > packetMax {
		return nil, fmt.Errorf("%w: %d bytes", errNotConnect, length)
	}
	if b, err = next(7); err != nil {
		return nil, err
	}
	if string(b) != "\x00\x04MQTT\x04" {
		return nil, errLevel
	}
	return buf, nil
}

// refuse answers a CONNECT that mochi will not see.
func refuse(conn net.Conn, code byte) {
	_ = conn.SetWriteDeadline(time.Now().Add(goodbyeMax))
	_, _ = conn.Write([]byte{packets.Connack << 4, 2, 0, code})
}

// checkConnect tells why a device's CONNECT is refused, or nil.
func checkConnect(g grant, cl *mqtt.Client, pk packets.Packet) error {
	c := pk.Connect
	switch {
	case pk.ProtocolVersion != 4:
		return errLevel
	case c.ClientIdentifier != g.device:
		return errClientID
	case string(c.Username) != g.device:
		return errUsername
	case !c.Clean:
		return errCleanSession
	case c.Keepalive < 1 || c.Keepalive > keepAliveMax:
		return fmt.Errorf("%w: %d", errKeepAlive, c.Keepalive)
	case c.WillFlag && (c.WillQos > 1 || !g.wills(c.WillTopic, c.WillRetain)):
		return errWill
	}
	return nil
}
