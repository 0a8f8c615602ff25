package health

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"chit/device/wire"
)

// Up is the machine's running time, CLOCK_BOOTTIME: it counts suspend and starts again with the
// kernel.
func Up() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0 // Linux has it since 2.6.39; without it every start looks like a power cut.
	}
	return time.Duration(t.Nano())
}

// KernelBoot is the kernel's boot id, "" if it cannot be read.
func KernelBoot() string { return readWord("/proc/sys/kernel/random/boot_id") }

// ClockSynced tells whether the system clock is synchronised, as adjtimex(2) sees it.
func ClockSynced() bool {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return err == nil && state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
}

// Serial is the machine's serial number, "" where it has none that we may read. It must belong to
// the board and not to the card, so /etc/machine-id does not do.
func Serial() string {
	for _, path := range []string{
		"/proc/device-tree/serial-number", "/sys/class/dmi/id/product_uuid",
		"/sys/class/dmi/id/board_serial",
	} {
		if s := readWord(path); s != "" {
			return s
		}
	}
	return ""
}

func readWord(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(bytes.Trim(b, "\x00 \n\t"))
}

// Telemetry measures the machine; what cannot be measured stays nil, never 0. dir is on the disk
// whose room counts.
func Telemetry(dir string, started time.Duration, counters map[string]uint64) wire.Telemetry {
	synced := ClockSynced()
	return wire.Telemetry{
		Uptime: int64((Up() - started) / time.Second), Counters: counters, ClockSynced: &synced,
		Temperature: temperature(), UnderVoltage: underVoltage(), DiskFree: diskFree(dir), RSS: rss(),
	}
}

func temperature() *float64 {
	milli, err := strconv.ParseFloat(readWord("/sys/class/thermal/thermal_zone0/temp"), 64)
	if err != nil {
		return nil
	}
	celsius := milli / 1000
	return &celsius
}

// underVoltage reads the Pi firmware's alarm (driver raspberrypi-hwmon, in0_lcrit_alarm).
func underVoltage() *bool {
	paths, err := filepath.Glob("/sys/class/hwmon/hwmon*/in0_lcrit_alarm")
	if err != nil || len(paths) == 0 {
		return nil
	}
	low := readWord(paths[0]) == "1"
	return &low
}

func diskFree(dir string) *uint64 {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil
	}
	free := fs.Bavail * uint64(fs.Bsize)
	return &free
}

// rss is the resident set of this process in bytes, the second field of /proc/self/statm.
func rss() *uint64 {
	fields := strings.Fields(readWord("/proc/self/statm"))
	if len(fields) < 2 {
		return nil
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return nil
	}
	bytes := pages * uint64(os.Getpagesize())
	return &bytes
}
