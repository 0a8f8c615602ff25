package link_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"chit/broker/link"
	"chit/broker/link/linktest"
)

// switchedGate admits until it is switched off, and says when it was asked.
type switchedGate struct {
	off   *atomic.Bool
	asked chan struct{}
}

func (g switchedGate) Admit(cert *x509.Certificate) (tenant, device string, err error) {
	defer func() {
		select {
		case g.asked <- struct{}{}:
		default:
		}
	}()
	if g.off.Load() {
		return "", "", errors.New("revoked")
	}
	return linktest.Tenant, cert.Subject.CommonName, nil
}

// TestADeviceRevokedInTheMiddleOfItsConnectStaysOut: it was let through the gate, then revoked, and
// Disconnect found no connection to end.
func TestADeviceRevokedInTheMiddleOfItsConnectStaysOut(t *testing.T) {
	g := switchedGate{off: &atomic.Bool{}, asked: make(chan struct{}, 1)}
	rig, e := embedded(t, func(c *link.EmbeddedConfig) { c.Gate = g })
	conn, err := tls.Dial("tcp", rig.Address, rig.Authority.Client("d1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var connect bytes.Buffer
	if err := linktest.Connect("d1").Write(&connect); err != nil {
		t.Fatal(err)
	}
	half := connect.Len() - 3
	if _, err := conn.Write(connect.Bytes()[:half]); err != nil {
		t.Fatal(err)
	}
	within(t, g.asked, "the gate to be asked")
	g.off.Store(true)
	if err := e.Disconnect("d1"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(connect.Bytes()[half:]); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(conn, answer); err != nil || answer[3] != 5 {
		t.Fatalf("CONNACK %v, %v; want code 5", answer, err)
	}
	if s := e.Stats(); s.Accepted != 0 || s.Refused != 1 {
		t.Errorf("stats %+v", s)
	}
}

// TestOneAddressCannotTakeEveryPlace opens connections that say nothing, and a device of another
// address still gets in.
func TestOneAddressCannotTakeEveryPlace(t *testing.T) {
	rig, e := embedded(t, func(c *link.EmbeddedConfig) {
		c.ConnectsMax = 4
		c.ConnectTimeout = time.Minute // Nobody is freed by waiting.
	})
	stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for range 8 {
		conn, err := stranger.DialContext(t.Context(), "tcp", rig.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	rig.Device(t, "d1").Ping()
	eventually(t, "the others were closed", func() bool { return e.Stats().HandshakeFailed == 5 })
}
