package crashdisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

const (
	fuseDevice  = "/dev/fuse"
	loopControl = "/dev/loop-control"
)

// Missing says what this machine lacks for the rig and how to get it; nil where it has all.
func Missing() error {
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("root: mounts need it; run the tests as root or in sudo"))
	}
	for _, device := range []struct{ path, how string }{
		{fuseDevice, "modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN"},
		{loopControl, "modprobe loop; in a container: --privileged, for it makes /dev/loop<n>, too"},
	} {
		f, err := os.OpenFile(device.path, os.O_RDWR, 0)
		if err != nil {
			missing = append(missing, fmt.Errorf("%s: %w; %s", device.path, err, device.how))
			continue
		}
		if err := f.Close(); err != nil {
			missing = append(missing, err)
		}
	}
	for _, program := range []string{"mkfs.ext4", "e2fsck"} {
		if _, err := find(program); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// find looks for a program of e2fsprogs, also where not every PATH does.
func find(program string) (string, error) {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + program); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: not found; apt-get install e2fsprogs", program)
}
