// Package health tells systemd and people how the daemon is: readiness, watchdog, clock, telemetry.
package health

import (
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Systemd speaks to the service manager, sd_notify(3). Without one it says nothing. The zero value
// works.
type Systemd struct{}

// Ready says that the daemon works: its core loop runs.
func (Systemd) Ready() { notify(daemon.SdNotifyReady) }

// Stopping says that the daemon ends on purpose.
func (Systemd) Stopping() { notify(daemon.SdNotifyStopping) }

// Status shows a line in systemctl status.
func (Systemd) Status(line string) { notify("STATUS=" + line) }

// Feed holds the watchdog off, WATCHDOG=1. It must be called by the loop that does the work and by
// nothing else: a ticker of its own would hide a loop that hangs.
func (Systemd) Feed() { notify(daemon.SdNotifyWatchdog) }

// Every is how often to feed: a third of WatchdogSec, or def where there is no watchdog.
func (Systemd) Every(def time.Duration) time.Duration {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval <= 0 {
		return def
	}
	return interval / 3
}

// notify drops the error on purpose: a manager that does not listen is no reason to stop printing.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }
