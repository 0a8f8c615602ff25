package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	device "chit/device/service"
)

// presser is the daemon's button.
type presser interface {
	Press(ctx context.Context) (device.Seen, error)
}

// atTerminal is true where a person can press Enter at a program. Reading in the background of a
// shell must not stop it: with SIGTTIN ignored such a read fails, and the key is not there.
func atTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	signal.Ignore(syscall.SIGTTIN)
	return true
}

// pressByEnter makes each line of in a press of the button, until in or ctx ends. A read from a
// terminal cannot be taken back: whoever starts it does not wait for its end.
func pressByEnter(ctx context.Context, in io.Reader, out io.Writer, button presser) {
	for lines := bufio.NewScanner(in); lines.Scan() && ctx.Err() == nil; {
		seen, err := button.Press(ctx)
		if err != nil {
			fmt.Fprintln(out, "not pressed:", err)
			continue
		}
		fmt.Fprintln(out, seen)
	}
}
