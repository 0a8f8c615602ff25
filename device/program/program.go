// Package program is the chitd command without its process, so that chitd and the tool chit run the
// same thing.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"chit/config"
	"chit/device/health"
	"chit/device/identity"
	"chit/device/service"
)

const help = `chitd is the kitchen daemon: it turns paid orders into paper, once.

  chitd --config /etc/chit/device.toml                 run (systemd does this)
  chitd pair --config F --url https://broker:8443 CODE pair this device with its broker
  chitd check --config F                               check the configuration and stop
  chitd sample                                         print a configuration file with every key
  chitd --version                                      print the version

A device is paired once: the owner makes a code at the broker, a person gives it to "chitd pair".
A running chitd notices and connects. Its keys, its certificate and its memory are in the folder
"state" of the configuration; never copy that folder to another machine.

Every key can be overridden by an environment variable: CHIT_STATE, CHIT_RETRY_MAX, CHIT_CALL …

Exit status: 0 done, 1 failed, 2 wrong use.
`

// ErrUse says that the command line is wrong; the text was printed already.
var ErrUse = errors.New("wrong use")

// Run parses the arguments and does what they say, until ctx ends. Errors wrapping [ErrUse] were told
// already.
func Run(ctx context.Context, args []string, out, errOut io.Writer) error {
	command := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("chitd", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() { _, _ = io.WriteString(errOut, help) }
	file := flags.String("config", "/etc/chit/device.toml", "configuration file")
	version := flags.Bool("version", false, "print the version")
	url := flags.String("url", "", "pair: the broker's door, https://host:port")
	verbose := flags.Bool("verbose", false, "log every answer")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return ErrUse
	case *version:
		_, err := fmt.Fprintln(out, "chitd", service.Version())
		return err
	}
	switch command {
	case "sample":
		_, err := out.Write(config.Sample(service.Config{Printers: []service.Printer{{}}}))
		return err
	case "", "pair", "check":
	default:
		_, _ = fmt.Fprintf(errOut, "chitd: unknown command %q\n\n%s", command, help)
		return ErrUse
	}
	var conf service.Config
	if err := config.Load(*file, &conf, "CHIT"); err != nil {
		return err
	}
	switch {
	case command == "check":
		_, err := fmt.Fprintf(out, "%s: good, %d printers\n", *file, len(conf.Printers))
		return err
	case command == "pair":
		return pair(ctx, conf, *url, flags.Args(), out, errOut)
	case flags.NArg() > 0:
		_, _ = fmt.Fprintf(errOut, "chitd: unexpected %q\n\n%s", flags.Arg(0), help)
		return ErrUse
	}
	s, err := service.New(conf, logger(errOut, *verbose))
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// pair enrols the device; a chitd that waits for it goes on by itself.
func pair(ctx context.Context, conf service.Config, url string, args []string, out, errOut io.Writer,
) error {
	if len(args) != 1 || url == "" {
		_, _ = fmt.Fprintln(errOut, "chitd: want: chitd pair --config F --url https://broker:8443 CODE")
		return ErrUse
	}
	if err := os.MkdirAll(conf.State, 0o700); err != nil {
		return err
	}
	var printers []string
	for _, p := range conf.Printers {
		printers = append(printers, p.Name)
	}
	id, err := identity.Enrol(ctx, identity.Request{
		Dir: conf.IdentityDir(), URL: url, Pairing: args[0], Serial: health.Serial(),
		Version: service.Version(), Printers: printers,
	})
	if err != nil {
		return fmt.Errorf("pairing: %w", err)
	}
	_, err = fmt.Fprintf(out, "paired: device %s of tenant %s\n", id.Device(), id.Tenant())
	return err
}

// logger writes JSON under systemd and lines for people elsewhere.
func logger(w io.Writer, verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	if os.Getenv("JOURNAL_STREAM") != "" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Hint says what to do about an error of [Run], or nothing.
func Hint(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "chitd sample > device.toml makes a file to start from"
	case errors.Is(err, config.ErrConfig):
		return "chitd sample shows every key with its unit and default"
	case errors.Is(err, identity.ErrEnrolled):
		return "a device belongs to one broker; retire its keys first"
	case errors.Is(err, identity.ErrRefused):
		return "make a new pairing code at the broker: a code lives 10 minutes and works once"
	}
	return ""
}
