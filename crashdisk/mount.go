package crashdisk

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of the waits for the kernel.
const (
	loopTries    = 50 // for a loop device that nobody else takes first
	unmountTries = 500
	unmountPause = 2 * time.Millisecond
)

// Mount mounts the ext4 in the disk's file on dir.
func (d *Disk) Mount(dir string) error {
	file, err := os.OpenFile(d.Path(), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("crashdisk: opening the disk: %w", err)
	}
	return errors.Join(mountOn(file, dir), file.Close())
}

// mountOn mounts an ext4 through a loop device that frees itself with the mount. noatime, as a Pi's
// data partition has it; an error of the file system makes it read-only instead of going unnoticed.
func mountOn(file *os.File, dir string) error {
	loop, err := attach(file)
	if err != nil {
		return err
	}
	err = unix.Mount(loop.Name(), dir, "ext4", unix.MS_NOATIME, "errors=remount-ro")
	if err != nil {
		err = fmt.Errorf("crashdisk: mounting ext4: %w", err)
	}
	return errors.Join(err, loop.Close())
}

// attach puts a free loop device on file. Closed without a mount, it is free again.
func attach(file *os.File) (*os.File, error) {
	control, err := os.OpenFile(loopControl, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("crashdisk: %w", err)
	}
	defer func() { _ = control.Close() }() // Only asked, never written.
	config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{
		Flags: unix.LO_FLAGS_AUTOCLEAR,
	}}
	for range loopTries {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("crashdisk: asking for a loop device: %w", err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("crashdisk: %w", err)
		}
		if err = unix.IoctlLoopConfigure(int(loop.Fd()), &config); err == nil {
			return loop, nil
		}
		if closed := loop.Close(); !errors.Is(err, unix.EBUSY) || closed != nil {
			return nil, errors.Join(fmt.Errorf("crashdisk: setting %s up: %w", loop.Name(), err), closed)
		}
	}
	return nil, errors.New("crashdisk: others took every free loop device first")
}

// Unmount takes the mount from dir. A process that was killed may hold it a moment longer.
func Unmount(dir string) error {
	var err error
	for range unmountTries {
		if err = unix.Unmount(dir, 0); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(unmountPause)
	}
	if err != nil {
		err = errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
		return fmt.Errorf("crashdisk: unmounting %s: %w", dir, err)
	}
	return nil
}
