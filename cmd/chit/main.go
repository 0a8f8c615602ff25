// Command chit is the one tool for people: it runs the small restaurant's mode and the demo, sends
// tickets, traces them, and shows and redrives dead letters.
//
// Exit codes: 0 done, 1 failed, 2 wrong use.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

// errUsage marks wrong use: exit code 2.
var errUsage = errors.New("wrong use")

// hinted is an error with a line that says what to do about it.
type hinted struct {
	err  error
	hint string
}

func (h hinted) Error() string { return h.err.Error() }
func (h hinted) Unwrap() error { return h.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is the program without its process: arguments in, exit code out.
func run(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "chit: error:", err)
	var h hinted
	if errors.As(err, &h) && h.hint != "" {
		fmt.Fprintln(os.Stderr, "chit: hint:", h.hint)
	}
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "chit",
		Short: "A paid order becomes one kitchen ticket",
		Long: `Chit brings paid orders to kitchen printers: every order gives one ticket at each station,
and where the machines cannot know whether paper came out, the second one says so in large letters.

Start here:
  chit demo                                    watch it work and fail, without any hardware
  chit up --data /var/lib/chit --printer tcp://192.168.1.50:9100
                                               run a small restaurant on one machine
  chit send --data /var/lib/chit ticket.json   post a ticket
  chit trace --data /var/lib/chit 4711/1       its whole life`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return hinted{fmt.Errorf("%w: %w", errUsage, err), "see " + c.CommandPath() + " --help"}
	})
	root.AddCommand(newUp(), newDemo(), newPrinter(), newSend(), newTrace(), newDeadLetters(),
		newDevices(), newCheck(), newWire(), newBroker(), newDaemon())
	for _, c := range root.Commands() {
		wrapUsage(c)
	}
	return root
}

// wrapUsage gives a wrong number of arguments the exit code of wrong use.
func wrapUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return hinted{fmt.Errorf("%w: %w", errUsage, err), "see " + c.CommandPath() + " --help"}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapUsage(sub)
	}
}
