package network

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"chit/printer/transport"
	"chit/printer/transport/transporttest"
)

func TestTheUserTimeOutIsOffWhileThePrinterIsWaitedFor(t *testing.T) {
	dialer, accept := listen(t)
	opened, err := dialer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	accept()
	for _, c := range []struct {
		patient bool
		want    time.Duration
	}{{false, UserTimeout}, {true, 0}, {false, UserTimeout}} {
		if err := opened.(transport.Patient).SetPatient(c.patient); err != nil {
			t.Fatal(err)
		}
		got, err := userTimeout(opened.(*conn).TCPConn)
		if err != nil || got != c.want {
			t.Errorf("patient %v: user time-out %v, %v, want %v", c.patient, got, err, c.want)
		}
	}
}

// This is why SetPatient exists: Linux ends a connection whose peer answers every window probe.
func TestLinuxHangsUpOnAClosedWindow(t *testing.T) {
	dialer, accept := listen(t)
	opened, err := dialer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	accept() // and never read: the printer is out of paper
	if err := setUserTimeout(opened.(*conn).TCPConn, 300*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := opened.SetWriteDeadline(time.Now().Add(transporttest.Patience)); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := opened.Write(make([]byte, 1<<20))
		if err == nil {
			continue
		}
		if !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("got %v, want ETIMEDOUT: then SetPatient is not needed any more", err)
		}
		return
	}
}
