package bolt

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// born names a file by its time of birth, which no copy can take over: also not one that was given
// the inode of the file it replaces, as ext4 likes to do. File systems that know no birth
// (statx(2), STATX_BTIME) give the inode.
func born(path string) (string, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME|unix.STATX_INO, &st)
	switch {
	case err != nil:
		return "", fmt.Errorf("statx %s: %w", path, err)
	case st.Mask&unix.STATX_BTIME != 0 && st.Btime.Sec != 0:
		return fmt.Sprintf("born-%d.%09d", st.Btime.Sec, st.Btime.Nsec), nil
	}
	return fmt.Sprintf("inode-%d", st.Ino), nil
}
