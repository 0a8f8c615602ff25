package crashdisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// privateMark tells a process that it is inside.
const privateMark = "CHIT_CRASHDISK_PRIVATE"

// Private runs this program again, with the same arguments, in a mount namespace of its own, and
// returns its exit code. inside is true in that second run, which then does the work. The second
// dies with the first, also by SIGKILL, and with it all that it mounted.
func Private() (code int, inside bool, err error) {
	if os.Getenv(privateMark) != "" {
		return 0, true, nil
	}
	runtime.LockOSThread() // Pdeathsig is the parent thread's death.
	defer runtime.UnlockOSThread()
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Env = append(os.Environ(), privateMark+"=1")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
	}
	err = c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), false, nil
	}
	if err != nil {
		return 1, false, fmt.Errorf("crashdisk: entering a mount namespace: %w; it takes "+
			"CAP_SYS_ADMIN, in a container: --privileged", err)
	}
	return 0, false, nil
}
