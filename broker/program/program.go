// Package program is the chit-broker command without its process, so that chit-broker and the tool
// chit run the same thing.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"chit/broker/service"
	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/config"
)

// ErrUsage marks wrong use: exit code 2. Nothing was run and nothing told yet.
var ErrUsage = errors.New("wrong use")

// usage is wrong use; it reads as its cause.
type usage struct{ error }

func (u usage) Is(target error) bool { return target == ErrUsage }
func (u usage) Unwrap() error        { return u.error }

const help = `%[1]s takes orders in over HTTP and owes them to the kitchens' devices.

  %[1]s --config /etc/chit/broker.toml          run it (systemd does this)
  %[1]s check --config /etc/chit/broker.toml    check the configuration and stop
  %[1]s restored --config /etc/chit/broker.toml say that the data folder was set back as a whole
  %[1]s sample                                  print a configuration with every key and its default
  %[1]s --version                               print the version

  A copy of broker.db that is put back, or comes from another machine, is noticed by itself. What
  cannot be noticed is a disk or machine that was set back as a whole (a snapshot): stop the broker
  and say "restored" before it starts, once for each time that this copy was used on the same day.
  Running numbers then jump by 1000, and the next ticket says "previous unknown (restored)".

  --debug adds the steps of each ticket to the log.

It stops at SIGTERM after what it promised is on disk, and may be killed at any moment. Environment
variables CHIT_BROKER_… override keys, such as CHIT_BROKER_HTTP_LISTEN for http.listen.

Exit status: 0 done, 1 failed, 2 wrong use.
`

// line is what the command line says.
type line struct {
	command, config                string
	version, sample, debug, asHelp bool
}

func parse(name string, args []string) (line, error) {
	var l line
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		l.command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&l.config, "config", "/etc/chit/broker.toml", "")
	flags.BoolVar(&l.sample, "sample-config", false, "")
	flags.BoolVar(&l.version, "version", false, "")
	flags.BoolVar(&l.debug, "debug", false, "")
	err := flags.Parse(args)
	l.asHelp = errors.Is(err, flag.ErrHelp)
	switch {
	case l.asHelp:
		return l, nil
	case err != nil:
		return l, usage{err}
	case flags.NArg() > 0:
		return l, usage{fmt.Errorf("unexpected argument %q", flags.Arg(0))}
	}
	switch l.command {
	case "", "check", "sample", "restored":
		return l, nil
	case "help":
		l.asHelp = true
		return l, nil
	}
	return l, usage{fmt.Errorf("unknown command %q, expected check, restored, sample or none",
		l.command)}
}

// Main is the whole command: signals and arguments in, exit code out. It tells errors with a hint.
func Main(name, version string, args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := Run(ctx, name, version, args, out, errOut)
	if err == nil {
		return 0
	}
	fmt.Fprintf(errOut, "%s: error: %v\n", name, err)
	if hint := Hint(name, err); hint != "" {
		fmt.Fprintf(errOut, "%s: hint: %s\n", name, hint)
	}
	if errors.Is(err, ErrUsage) {
		return 2
	}
	return 1
}

// Run parses the arguments and does what they say; it runs the broker until ctx ends.
func Run(ctx context.Context, name, version string, args []string, out, errOut io.Writer) error {
	l, err := parse(name, args)
	switch {
	case err != nil:
		return err
	case l.asHelp:
		_, err := fmt.Fprintf(out, help, name)
		return err
	case l.version:
		_, err := fmt.Fprintln(out, name, Version(version))
		return err
	case l.sample || l.command == "sample":
		_, err := out.Write(config.Sample(service.Config{}))
		return err
	}
	var conf service.Config
	if err := config.Load(l.config, &conf, "CHIT_BROKER"); err != nil {
		return err
	}
	if l.command == "check" {
		_, err := fmt.Fprintf(out, "%s: good, %s\n", l.config, conf.Count())
		return err
	}
	if l.command == "restored" {
		origin, err := service.Renew(conf)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s: generation %d, was %d; the next number of each station jumps\n",
				conf.Data, origin.Is, origin.Was)
		}
		return err
	}
	s, err := service.New(conf, NewLogger(errOut, l.debug))
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// Version is what the linker set, or what the build knows of itself.
func Version(linked string) string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// Hint says what to do about an error of [Run], or nothing.
func Hint(name string, err error) string {
	switch {
	case errors.Is(err, ErrUsage):
		return "see " + name + " --help"
	case errors.Is(err, config.ErrConfig):
		return name + " sample shows every key with its unit and default"
	case errors.Is(err, fs.ErrNotExist):
		return name + " sample > broker.toml makes a file to start from"
	case errors.Is(err, store.ErrDamaged):
		return "move broker.db aside and restore a copy of it in its place"
	case errors.Is(err, service.ErrNoStore):
		return "put the copy in its place first, or name the folder with data = in the configuration"
	case errors.Is(err, bolt.ErrInUse):
		return "a broker runs on this folder; stop it first"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program has the port; is a broker running already?"
	}
	return ""
}

// NewLogger logs JSON under systemd and text on a terminal.
func NewLogger(w io.Writer, debug bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if debug {
		options.Level = slog.LevelDebug
	}
	if os.Getenv("JOURNAL_STREAM") != "" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
