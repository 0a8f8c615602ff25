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
	_ "time/tzdata" // Small systems have no zone files.

	"github.com/spf13/cobra"

	"chit/broker/program"
)

// version is set by the linker; empty stands for what the build knows of itself.
var version string

// wrongUse is an error of the command line: exit code 2. It reads as its cause.
type wrongUse struct{ error }

func (w wrongUse) Unwrap() error { return w.error }

// misuse is wrong use with what to do about it.
func misuse(hint, format string, args ...any) error {
	return hinted{wrongUse{fmt.Errorf(format, args...)}, hint}
}

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
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "chit: interrupted")
		return 1
	}
	fmt.Fprintln(os.Stderr, "chit: error:", err)
	var h hinted
	if errors.As(err, &h) && h.hint != "" {
		fmt.Fprintln(os.Stderr, "chit: hint:", h.hint)
	}
	var wrong wrongUse
	if errors.As(err, &wrong) {
		return 2
	}
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "chit",
		Short: "A paid order becomes one kitchen ticket",
		Long: `Chit brings paid orders to kitchen printers: every order gives one ticket at each
station, and where the machines cannot know whether paper came out, the second one says so in
large letters.

Flags that say which broker is meant can stand in the environment: CHIT_DATA, or CHIT_URL and
CHIT_TOKEN_FILE. Exit status: 0 done, 1 failed, 2 wrong use.`,
		Example: `  # watch it work and fail, without any hardware
  chit demo

  # run a small restaurant on one machine, on a real printer
  chit up --data /var/lib/chit --printer tcp://192.168.1.50:9100

  # post a ticket, and see its whole life
  chit send --data /var/lib/chit ticket.json
  chit trace --data /var/lib/chit 4711/1`,
		Version:       program.Version(version),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misuse("see "+c.CommandPath()+" --help", "%w", err)
	})
	root.AddCommand(newUp(), newDemo(), newPrinter(), newSend(), newTrace(), newDeadLetters(),
		newCancel(), newStale(), newAudit(), newAlarms(), newRhythm(), newDevices(),
		newCheck(), newWire(), newDay(), newSimulate(), newBroker(), newDaemon())
	asGroup(root)
	for _, c := range root.Commands() {
		wrapUsage(c)
	}
	return root
}

// asGroup makes a command that only holds others: alone it shows its help, and a word that it does
// not know is wrong use, with the nearest one that it does.
func asGroup(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		hint := "see " + c.CommandPath() + " --help"
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + c.CommandPath() + " " + near[0] + "?"
		}
		return misuse(hint, "%s has no command %q", c.CommandPath(), args[0])
	}
}

// wrapUsage gives a wrong number of arguments the exit code of wrong use.
func wrapUsage(c *cobra.Command) {
	if c.HasSubCommands() && !c.Runnable() {
		asGroup(c)
	} else if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return misuse("usage: "+c.UseLine(), "%w", err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapUsage(sub)
	}
}
