package health

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestSystemdHearsReadyFeedAndStopping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	var s Systemd
	s.Ready()
	s.Feed()
	s.Status("one printer held")
	s.Stopping()
	for _, want := range []string{"READY=1", "WATCHDOG=1", "STATUS=one printer held", "STOPPING=1"} {
		b := make([]byte, 100)
		if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(b)
		if err != nil || string(b[:n]) != want {
			t.Errorf("heard %q, %v; want %q", b[:n], err, want)
		}
	}
}

func TestWatchdogIsFedThreeTimesInItsInterval(t *testing.T) {
	var s Systemd
	t.Setenv("WATCHDOG_USEC", "")
	if got := s.Every(time.Minute); got != time.Minute {
		t.Errorf("without a watchdog every %v, want the default", got)
	}
	t.Setenv("WATCHDOG_USEC", "9000000")
	t.Setenv("WATCHDOG_PID", "")
	if got := s.Every(time.Minute); got != 3*time.Second {
		t.Errorf("every %v, want 3s", got)
	}
}

func TestMachineMeasuresWhatItCan(t *testing.T) {
	if Up() <= 0 || KernelBoot() == "" {
		t.Errorf("up %v, boot %q", Up(), KernelBoot())
	}
	m := Telemetry(t.TempDir(), Up()-90*time.Second, map[string]uint64{"printed": 3})
	if m.Uptime != 90 || m.RSS == nil || *m.RSS == 0 || m.DiskFree == nil || m.ClockSynced == nil {
		t.Errorf("telemetry %+v", m)
	}
	if Telemetry("/nowhere", 0, nil).DiskFree != nil {
		t.Error("an unknown disk is not nil")
	}
}
