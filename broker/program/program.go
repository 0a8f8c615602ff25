// Package program is the chit-broker command without its process, so that chit-broker and the tool
// chit run the same thing.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"chit/broker/service"
	"chit/config"
)

// ErrUsage marks wrong use: exit code 2.
var ErrUsage = errors.New("wrong use")

const help = `%[1]s takes orders in over HTTP and owes them to the kitchens' devices.

  %[1]s --config /etc/chit/broker.toml     run it
  %[1]s --sample-config                    print a configuration with every key and its default
  %[1]s --version

It stops at SIGTERM after what it promised is on disk, and may be killed at any moment. Environment
variables CHIT_BROKER_… override keys, such as CHIT_BROKER_HTTP_LISTEN for http.listen.

`

// Run parses the arguments and runs the broker until ctx ends.
func Run(ctx context.Context, name, version string, args []string, out, errOut io.Writer) error {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	path := flags.String("config", "/etc/chit/broker.toml", "configuration file")
	sample := flags.Bool("sample-config", false, "print a sample configuration and exit")
	showVersion := flags.Bool("version", false, "print the version and exit")
	debug := flags.Bool("debug", false, "log more")
	flags.Usage = func() {
		fmt.Fprintf(errOut, help, name)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%w: unexpected argument %q; see %s --help", ErrUsage, flags.Arg(0), name)
	case *showVersion:
		_, err := fmt.Fprintln(out, name, version)
		return err
	case *sample:
		_, err := out.Write(config.Sample(service.Config{}))
		return err
	}
	var conf service.Config
	if err := config.Load(*path, &conf, "CHIT_BROKER"); err != nil {
		return err
	}
	s, err := service.New(conf, NewLogger(errOut, *debug))
	if err != nil {
		return err
	}
	return s.Run(ctx)
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
