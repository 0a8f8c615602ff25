package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// handedOver is how many bytes a process has given to write calls, wchar of proc_pid_io(5); those
// to sockets are among them.
func handedOver(pid int) (float64, error) { return kernelNumber(pid, "io", "wchar", 1) }

// accounted is what the kernel puts on a process's account for the disk, write_bytes. Where the
// page cache holds large folios (ext4 of newer kernels) it counts a whole folio for each page
// written: measured, 4 KiB overwrites of a file that was written in pieces of 64 KiB count 16 times
// what the disk receives, and wchar is what the disk receives within 5 %.
func accounted(pid int) (float64, error) { return kernelNumber(pid, "io", "write_bytes", 1) }

// anonymous is the process's resident memory that no file backs, RssAnon of proc_pid_status(5), in
// MB of 10^6 bytes.
func anonymous(pid int) (float64, error) {
	return kernelNumber(pid, "status", "RssAnon", 1024.0/1e6)
}

// ticksPerSecond is USER_HZ, 100 on everything that we run on.
const ticksPerSecond = 100

// processor is the CPU time that a process has used, user and system, in milliseconds: utime and
// stime of proc_pid_stat(5).
func processor(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field is a name in parentheses that may hold anything.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	const user, system = 11, 12 // from the third field on
	var ticks [2]float64
	for i, at := range []int{user, system} {
		if at >= len(fields) {
			return 0, fmt.Errorf("stat of process %d has %d fields", pid, len(fields))
		}
		if ticks[i], err = strconv.ParseFloat(fields[at], 64); err != nil {
			return 0, fmt.Errorf("stat of process %d: %w", pid, err)
		}
	}
	return (ticks[0] + ticks[1]) * 1000 / ticksPerSecond, nil
}

func kernelNumber(pid int, file, name string, scale float64) (float64, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	var n float64
	if _, err := fmt.Sscan(field(path, name), &n); err != nil {
		return 0, fmt.Errorf("%s of %s: %w", name, path, err)
	}
	return n * scale, nil
}

// prober flushes 4 KiB at a time on the disk of a folder: the least that any commit costs there.
type prober struct {
	file *os.File
	page [4096]byte
}

func newProber(dir string) (*prober, error) {
	f, err := os.OpenFile(filepath.Join(dir, "probe"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	p := &prober{file: f}
	// The file has its size before it is measured, as a database file has.
	if _, err := f.Write(p.page[:]); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, f.Sync()
}

// flush writes the page over and waits until it is on the disk.
func (p *prober) flush() (time.Duration, error) {
	p.page[0]++
	start := time.Now()
	if _, err := p.file.WriteAt(p.page[:], 0); err != nil {
		return 0, err
	}
	err := unix.Fdatasync(int(p.file.Fd()))
	return time.Since(start), err
}

// probeFlushes is how many flushes make one pass of a probe between other measurements.
const probeFlushes = 20

// probed are passes of the flush probe that were taken between other measurements, so that these
// can be seen beside what the disk gave at the time.
type probed struct{ passes }

// take adds a pass.
func (p *probed) take(dir string) (err error) {
	probe, err := newProber(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, probe.Close()) }()
	var s sample
	for range probeFlushes {
		took, err := probe.flush()
		if err != nil {
			return err
		}
		s.add(took)
	}
	p.passes = append(p.passes, s)
	return nil
}

func (p *probed) row() row { return timed("flush probe, between these measurements", p.passes) }

func (p *prober) Close() error { return p.file.Close() }
