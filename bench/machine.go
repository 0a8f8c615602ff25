package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// machine names what was measured on, without telling whose it is: CPU, cores, memory, kernel, the
// kind of disk under dir, and Go.
func machine(dir string) string {
	var name unix.Utsname
	kernel := "unknown"
	if unix.Uname(&name) == nil {
		// Who built it follows the first hyphen.
		kernel, _, _ = strings.Cut(unix.ByteSliceToString(name.Release[:]), "-")
	}
	virtual := ""
	if strings.Contains(field("/proc/cpuinfo", "flags"), " hypervisor") {
		virtual = ", virtual machine"
	}
	memory := "unknown"
	var kib int
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib); err == nil {
		memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
	}
	return fmt.Sprintf("%s, %d cores%s, %s memory, Linux %s, %s, %s %s/%s",
		field("/proc/cpuinfo", "model name"), runtime.NumCPU(), virtual, memory, kernel, disk(dir),
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// field is the value of the first line "name: value" of a file of the kernel.
func field(file, name string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(raw)) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// fileSystems by the magic numbers of statfs(2).
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.XFS_SUPER_MAGIC: "xfs",
	unix.F2FS_SUPER_MAGIC: "f2fs", unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
}

// disk is the file system under dir and what kind of block device bears it.
func disk(dir string) string {
	var fs unix.Statfs_t
	kind := "unknown file system"
	if unix.Statfs(dir, &fs) == nil {
		if name, ok := fileSystems[int64(fs.Type)]; ok {
			kind = name
		}
	}
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return kind
	}
	link := fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	path, err := filepath.EvalSymlinks(link)
	if err != nil {
		return kind
	}
	for ; path != "/sys"; path = filepath.Dir(path) { // A partition has its disk above it.
		raw, err := os.ReadFile(filepath.Join(path, "queue/rotational"))
		if err != nil {
			continue
		}
		bus := busOf(filepath.Base(path))
		if turns := strings.TrimSpace(string(raw)) == "1"; turns && bus == "SCSI or SATA disk" {
			bus += " that rotates" // Others say so without knowing.
		}
		return kind + " on a " + bus
	}
	return kind
}

func busOf(name string) string {
	for prefix, bus := range map[string]string{
		"vd": "virtio disk", "nvme": "NVMe disk", "mmcblk": "SD card or eMMC",
		"sd": "SCSI or SATA disk", "xvd": "Xen disk", "dm-": "mapped disk", "md": "RAID",
	} {
		if strings.HasPrefix(name, prefix) {
			return bus
		}
	}
	return "disk"
}

func loadAverage() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}
