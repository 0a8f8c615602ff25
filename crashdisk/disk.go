package crashdisk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// The files that a disk shows: the disk itself, and where its users say what they promise.
const (
	diskName = "disk"
	wordName = "word"
)

// writeMax is the largest write that the kernel sends at once, in bytes.
const writeMax = 1 << 20

// Disk is a disk with a volatile write cache, as files in a folder of its own.
type Disk struct {
	dir    string
	server *fuse.Server

	mu      sync.Mutex
	content []byte
	logging bool
	log     []Entry
	grown   chan struct{} // closed and made anew with every entry
}

// NewDisk mounts a disk with this content, which it takes over, in the empty folder dir.
func NewDisk(dir string, content []byte) (*Disk, error) {
	d := &Disk{dir: dir, content: content, grown: make(chan struct{})}
	server, err := fs.Mount(dir, &folder{disk: d}, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMount: true, DirectMountStrict: true, MaxWrite: writeMax,
		FsName: "crashdisk", Name: "crashdisk",
		// All it has to say is that the kernel hung up while it was being unmounted.
		Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}})
	if err != nil {
		return nil, fmt.Errorf("crashdisk: mounting the disk: %w", err)
	}
	d.server = server
	return d, nil
}

// Path is the file to put a loop device on.
func (d *Disk) Path() string { return filepath.Join(d.dir, diskName) }

// WordPath is the file to write words to. A write that has returned is in the log.
func (d *Disk) WordPath() string { return filepath.Join(d.dir, wordName) }

// Record begins a new log.
func (d *Disk) Record() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log, d.logging = nil, true
}

// Stop ends the log and returns it. What is written after it is in no log.
func (d *Disk) Stop() Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logging = false
	return d.log
}

// Grown waits until the log has n entries or ctx ends.
func (d *Disk) Grown(ctx context.Context, n int) error {
	for {
		d.mu.Lock()
		have, grown := len(d.log), d.grown
		d.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("crashdisk: %d of %d entries: %w", have, n, ctx.Err())
		}
	}
}

// Close unmounts the disk; whatever stood on it must be gone.
func (d *Disk) Close() error {
	if err := d.server.Unmount(); err != nil {
		err = errors.Join(err, syscall.Unmount(d.dir, syscall.MNT_DETACH))
		return fmt.Errorf("crashdisk: unmounting the disk: %w", err)
	}
	return nil
}

// note appends to the log. The caller holds mu.
func (d *Disk) note(e Entry) {
	if d.logging {
		d.log = append(d.log, e)
		close(d.grown)
		d.grown = make(chan struct{})
	}
}

// folder is the root of the mounted file system.
type folder struct {
	fs.Inode
	disk *Disk
}

// OnAdd implements [fs.NodeOnAdder].
func (f *folder) OnAdd(ctx context.Context) {
	for name, node := range map[string]fs.InodeEmbedder{
		diskName: &blocks{disk: f.disk}, wordName: &words{disk: f.disk},
	} {
		f.AddChild(name, f.NewPersistentInode(ctx, node, fs.StableAttr{Mode: syscall.S_IFREG}), false)
	}
}

// blocks is the file that is the disk.
type blocks struct {
	fs.Inode
	disk *Disk
}

// Getattr implements [fs.NodeGetattrer].
func (b *blocks) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Nlink = syscall.S_IFREG|0o600, uint64(len(b.disk.content)), 1
	return 0
}

// Open implements [fs.NodeOpener]: the kernel must not cache what the log is to see.
func (b *blocks) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Read implements [fs.NodeReader]: a disk reads from its cache.
func (b *blocks) Read(_ context.Context, _ fs.FileHandle, out []byte, off int64) (
	fuse.ReadResult, syscall.Errno) {
	b.disk.mu.Lock()
	defer b.disk.mu.Unlock()
	if off < 0 || off > int64(len(b.disk.content)) {
		return nil, syscall.EINVAL
	}
	return fuse.ReadResultData(out[:copy(out, b.disk.content[off:])]), 0
}

// Write implements [fs.NodeWriter].
func (b *blocks) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (
	uint32, syscall.Errno) {
	b.disk.mu.Lock()
	defer b.disk.mu.Unlock()
	if off < 0 || off+int64(len(data)) > int64(len(b.disk.content)) {
		return 0, syscall.ENOSPC
	}
	copy(b.disk.content[off:], data)
	b.disk.note(Entry{Kind: Wrote, Offset: off, Data: slices.Clone(data)})
	return uint32(len(data)), 0
}

// Fsync implements [fs.NodeFsyncer]: the loop driver makes it of every flush of the block layer.
func (b *blocks) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	b.disk.mu.Lock()
	defer b.disk.mu.Unlock()
	b.disk.note(Entry{Kind: Flushed})
	return 0
}

// words is the file that promises are written to. It is no pipe, because the promise must be in
// the log before the program goes on: behind a pipe it could be noted after later writes, and a
// cut between would not hold the program to it.
type words struct {
	fs.Inode
	disk *Disk
}

// Getattr implements [fs.NodeGetattrer].
func (w *words) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Nlink = syscall.S_IFREG|0o600, 1
	return 0
}

// Open implements [fs.NodeOpener].
func (w *words) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

// Write implements [fs.NodeWriter]. One write is one entry.
func (w *words) Write(_ context.Context, _ fs.FileHandle, data []byte, _ int64) (
	uint32, syscall.Errno) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	w.disk.note(Entry{Kind: Said, Data: slices.Clone(data)})
	return uint32(len(data)), 0
}

// OpenWord opens the file at path to say promises.
func OpenWord(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
