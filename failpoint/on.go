//go:build failpoint

package failpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled is true in a build with the tag.
const Enabled = true

// Variable is the environment variable that names the passage to die at.
const Variable = "CHIT_FAILPOINT"

var (
	file, fromFile = strings.CutPrefix(os.Getenv(Variable), "@")

	mu     sync.Mutex
	armed  = os.Getenv(Variable) // what passed counts for
	passed int64
)

// parse reads "name", "name:n" or "name:n:stop"; a malformed one stops the program, so that no test
// believes that it kills where it does not.
func parse(s string) (name string, n int64, signal syscall.Signal) {
	name, rest, ok := strings.Cut(s, ":")
	if !ok {
		return name, 1, syscall.SIGKILL
	}
	count, verb, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 || verb != "" && verb != "stop" {
		fail("%s=%q, want name, name:n with n from 1, or name:n:stop", Variable, s)
	}
	if verb == "stop" {
		return name, n, syscall.SIGSTOP
	}
	return name, n, syscall.SIGKILL
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "failpoint: "+format+"\n", args...)
	os.Exit(2)
}

// wanted is what to die at now. A file that was written anew counts from 0 again.
func wanted() string {
	if !fromFile {
		return armed
	}
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fail("%v", err)
	}
	if now := strings.TrimSpace(string(raw)); now != armed {
		armed, passed = now, 0
	}
	return armed
}

// stopTakes is longer than the kernel takes to bring SIGSTOP to every thread: until then this one
// would run on, past the point.
const stopTakes = 100 * time.Millisecond

// Here kills or stops the process at the wanted passage of the named point.
func Here(point string) {
	mu.Lock()
	defer mu.Unlock()
	name, left, signal := parse(wanted())
	if point != name || name == "" {
		return
	}
	if passed++; passed != left {
		return
	}
	if fromFile {
		if err := os.Remove(file); err != nil {
			fail("%v", err)
		}
	}
	// SIGKILL to oneself does not return control to user code of this process; SIGSTOP does so when
	// the process is continued.
	if err := syscall.Kill(os.Getpid(), signal); err != nil {
		panic("failpoint: " + err.Error())
	}
	if signal == syscall.SIGKILL {
		select {}
	}
	time.Sleep(stopTakes)
}
