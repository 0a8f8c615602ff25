package crashdisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Size is a disk's, in bytes: room for a journal, its reserve, a store and ext4's own journal.
const Size = 32 << 20

// Image is a disk's content in memory that a loop device can stand on.
type Image struct {
	file    *os.File
	Content []byte
}

// NewImage makes an image full of zeros.
func NewImage() (*Image, error) {
	fd, err := unix.MemfdCreate("crashdisk", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("crashdisk: making an image: %w", err)
	}
	file := os.NewFile(uintptr(fd), "image")
	if err := file.Truncate(Size); err != nil {
		return nil, errors.Join(fmt.Errorf("crashdisk: making an image: %w", err), file.Close())
	}
	content, err := unix.Mmap(fd, 0, Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("crashdisk: mapping an image: %w", err), file.Close())
	}
	return &Image{file: file, Content: content}, nil
}

// Mount mounts the image on dir.
func (i *Image) Mount(dir string) error { return mountOn(i.file, dir) }

// Repair is what a boot with fsck.repair=yes does before the mount, as Raspberry Pi OS has it on
// its command line.
//
// It is needed after one kind of cut. The superblock lies in two sectors and is written in place,
// past ext4's journal, by every mount and unmount; torn between them, its checksum does not fit,
// the kernel refuses the mount (EBADMSG), and so does e2fsck -p. Only e2fsck -y takes the copy.
func (i *Image) Repair() error {
	fsck, err := find("e2fsck")
	if err != nil {
		return err
	}
	c := exec.Command(fsck, "-y", "/proc/self/fd/3")
	c.ExtraFiles = []*os.File{i.file}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == fsckCorrected {
		return nil
	}
	if err != nil {
		return fmt.Errorf("crashdisk: repairing: %w: %s", err, out)
	}
	return nil
}

// fsckCorrected is e2fsck's exit code for "errors corrected".
const fsckCorrected = 1

// Close gives the memory back; the image must not be mounted.
func (i *Image) Close() error { return errors.Join(unix.Munmap(i.Content), i.file.Close()) }

// The kinds of ext4 that [Format] makes.
var (
	// Small has blocks of 1 KiB, which mkfs takes for a disk as small as ours, and copies of its
	// superblock.
	Small = []string{"-b", "1024"}
	// Large has blocks of 4 KiB, as the partitions in the field. A disk of this size holds no copy
	// of such a superblock, so it has no checksum that a torn write could break.
	Large = []string{"-b", "4096", "-O", "^metadata_csum"}
)

// Format is the content of a fresh ext4 of this kind, made in dir. All of it is written at once:
// what the kernel would do lazily, after the mount, would be in every log.
func Format(dir string, kind []string) ([]byte, error) {
	path := filepath.Join(dir, "fresh.img")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, fmt.Errorf("crashdisk: formatting: %w", err)
	}
	if err := os.Truncate(path, Size); err != nil {
		return nil, fmt.Errorf("crashdisk: formatting: %w", err)
	}
	mkfs, err := find("mkfs.ext4")
	if err != nil {
		return nil, err
	}
	args := append([]string{"-q", "-F", "-m", "0", "-E",
		"lazy_itable_init=0,lazy_journal_init=0,nodiscard"}, kind...)
	out, err := exec.Command(mkfs, append(args, path)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("crashdisk: %s: %w: %s", mkfs, err, out)
	}
	content, err := os.ReadFile(path)
	return content, errors.Join(err, os.Remove(path))
}
