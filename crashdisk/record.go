package crashdisk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Workload is what runs on a disk until it is killed.
type Workload struct {
	// Base is the disk's content before; it is not changed.
	Base []byte
	// Command makes the process, given the folder that is on the disk and the file for its promises
	// (see [OpenWord]). It must not end by itself.
	Command func(folder, word string) *exec.Cmd
	// Entries is how many the log has when the process is killed, at least.
	Entries int
}

// Record runs a workload on a disk mounted below dir, kills it, and returns the disk's log from
// before the mount on. Whatever was mounted is unmounted, also where an error is returned.
func Record(ctx context.Context, dir string, w Workload) (log Log, err error) {
	files, folder := filepath.Join(dir, "fuse"), filepath.Join(dir, "ext4")
	if err := errors.Join(os.MkdirAll(files, 0o700), os.MkdirAll(folder, 0o700)); err != nil {
		return nil, fmt.Errorf("crashdisk: recording: %w", err)
	}
	disk, err := NewDisk(files, slices.Clone(w.Base))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	disk.Record()
	if err := disk.Mount(folder); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, Unmount(folder)) }()
	if err := w.run(ctx, disk, folder); err != nil {
		return nil, err
	}
	return disk.Stop(), nil
}

// run starts the process and kills it when the log is long enough.
func (w Workload) run(ctx context.Context, disk *Disk, folder string) error {
	c := w.Command(folder, disk.WordPath())
	var complaints bytes.Buffer
	c.Stderr = &complaints
	if err := c.Start(); err != nil {
		return fmt.Errorf("crashdisk: starting the workload: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		cancel() // Nobody waits for a log that nobody writes.
	}()
	grown := disk.Grown(ctx, w.Entries)
	killed := c.Process.Kill()
	err := <-ended
	if grown != nil || killed != nil {
		return fmt.Errorf("crashdisk: the workload ended by itself: %w: %s",
			errors.Join(err, grown, killed), complaints.Bytes())
	}
	return nil
}
