//go:build !linux

package bolt

import (
	"fmt"
	"os"
	"syscall"
)

// born names a file by its inode.
func born(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("inode-%d", st.Ino), nil
	}
	return "", nil
}
