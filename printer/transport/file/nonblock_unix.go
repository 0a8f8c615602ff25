//go:build unix

package file

import "syscall"

// nonblock lets Go's poller wait for the path, so that a deadline and Close end a stuck write.
const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
