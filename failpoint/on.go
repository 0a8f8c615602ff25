//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Enabled is true in a build with the tag.
const Enabled = true

// Variable is the environment variable that names the passage to die at.
const Variable = "CHIT_FAILPOINT"

var (
	name, left = parse(os.Getenv(Variable))
	passed     atomic.Int64
)

// parse reads "name" or "name:n"; a malformed count stops the program, so that no test believes that
// it kills where it does not.
func parse(s string) (string, int64) {
	name, count, ok := strings.Cut(s, ":")
	if !ok {
		return name, 1
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		fmt.Fprintf(os.Stderr, "failpoint: %s=%q, want name or name:n with n from 1\n", Variable, s)
		os.Exit(2)
	}
	return name, n
}

// Here kills the process at the wanted passage of the named point.
func Here(point string) {
	if point != name || name == "" || passed.Add(1) != left {
		return
	}
	// SIGKILL to oneself does not return control to user code of this process.
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic("failpoint: " + err.Error())
	}
	select {}
}
