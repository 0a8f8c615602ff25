// Package program is the chitd command without its process, so that chitd and the tool chit run the
// same thing.
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
	"syscall"

	"chit/config"
	"chit/device/health"
	"chit/device/identity"
	"chit/device/journal"
	"chit/device/service"
)

const help = `%[1]s is the kitchen daemon: it turns paid orders into paper, once.

  %[1]s --config /etc/chit/device.toml                  run (systemd does this)
  %[1]s pair --config F --url https://broker:8443 CODE  pair this device with its broker
  %[1]s check --config F                                check the configuration and stop
  %[1]s press --config F                                stand for the button: the tickets printed
                                                        since the last press are seen;
                                                        needs "listen" in F
  %[1]s press --long --config F                         stand for holding it: print what is stale
  %[1]s retire --config F --yes                         end this device: delete its keys, put its
                                                        journal aside; it can be paired anew then
  %[1]s sample                                          print a configuration with every key
  %[1]s --version                                       print the version

  --verbose adds every answer to the log.

A device is paired once: the owner makes a code at the broker ("chit devices pair"), a person gives
it to "%[1]s pair". A running daemon notices and connects. Its keys, its certificate and its memory
are in the folder "state" of the configuration; never copy that folder to another machine.

Every key can be overridden by an environment variable: CHIT_STATE, CHIT_RETRY_MAX, CHIT_CALL …

Exit status: 0 done, 1 failed, 2 wrong use.
`

// ErrUsage marks wrong use: exit code 2. Nothing was run and nothing told yet.
var ErrUsage = errors.New("wrong use")

// usage is wrong use; it reads as its cause.
type usage struct{ error }

func (u usage) Is(target error) bool { return target == ErrUsage }
func (u usage) Unwrap() error        { return u.error }

// line is what the command line says.
type line struct {
	command, config, url, code string
	version, verbose, asHelp   bool
	yes                        bool // retire: a person means it
	long                       bool // press: the button is held
}

func parse(name string, args []string) (line, error) {
	var l line
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		l.command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&l.config, "config", "/etc/chit/device.toml", "")
	flags.StringVar(&l.url, "url", "", "")
	flags.BoolVar(&l.yes, "yes", false, "")
	flags.BoolVar(&l.long, "long", false, "")
	flags.BoolVar(&l.version, "version", false, "")
	flags.BoolVar(&l.verbose, "verbose", false, "")
	err := flags.Parse(args)
	l.asHelp = errors.Is(err, flag.ErrHelp) || l.command == "help"
	switch {
	case l.asHelp:
		return l, nil
	case err != nil:
		return l, usage{err}
	}
	return l, l.check(name, flags.Args())
}

// check looks at the words that are left behind the flags.
func (l *line) check(name string, words []string) error {
	if l.yes && l.command != "retire" {
		return usage{errors.New("--yes is for retire only")}
	}
	if l.long && l.command != "press" {
		return usage{errors.New("--long is for press only")}
	}
	switch l.command {
	case "pair":
		if len(words) != 1 || l.url == "" {
			return usage{fmt.Errorf("pair needs the broker's door and one pairing string: "+
				"%s pair --config F --url https://broker:8443 CODE", name)}
		}
		l.code = words[0]
		return nil
	case "", "check", "sample", "retire", "press":
		if len(words) > 0 {
			return usage{fmt.Errorf("unexpected argument %q", words[0])}
		}
		if l.command == "retire" && !l.yes {
			return usage{fmt.Errorf("retire deletes this device's keys for good and puts its memory of "+
				"tickets aside: say %s retire --config F --yes", name)}
		}
		return nil
	}
	return usage{fmt.Errorf("unknown command %q, expected pair, check, press, retire, sample or none",
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

// Run parses the arguments and does what they say; it runs the daemon until ctx ends.
func Run(ctx context.Context, name, version string, args []string, out, errOut io.Writer) error {
	l, err := parse(name, args)
	switch {
	case err != nil:
		return err
	case l.asHelp:
		_, err := fmt.Fprintf(out, help, name)
		return err
	case l.version:
		if version == "" {
			version = service.Version()
		}
		_, err := fmt.Fprintln(out, name, version)
		return err
	case l.command == "sample":
		_, err := out.Write(config.Sample(service.Config{Printers: []service.Printer{{}}}))
		return err
	}
	var conf service.Config
	if err := config.Load(l.config, &conf, "CHIT"); err != nil {
		return err
	}
	conf.Version = version
	switch l.command {
	case "check":
		_, err := fmt.Fprintf(out, "%s: good, %d printers\n", l.config, len(conf.Printers))
		return err
	case "pair":
		return pair(ctx, conf, l, out)
	case "press":
		return press(ctx, conf, l.long, out)
	case "retire":
		return retire(conf, out)
	}
	s, err := service.New(conf, logger(errOut, l.verbose))
	if err != nil {
		return err
	}
	return s.Run(ctx)
}

// pair enrols the device; a daemon that waits for it goes on by itself.
func pair(ctx context.Context, conf service.Config, l line, out io.Writer) error {
	if err := os.MkdirAll(conf.State, 0o700); err != nil {
		return fmt.Errorf("pairing: state folder: %w", err)
	}
	var printers []string
	for _, p := range conf.Printers {
		printers = append(printers, p.Name)
	}
	id, err := identity.Enrol(ctx, identity.Request{
		Dir: conf.IdentityDir(), URL: l.url, Pairing: l.code, Serial: health.Serial(),
		Version: conf.Version, Printers: printers,
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
func Hint(name string, err error) string {
	switch {
	case errors.Is(err, ErrUsage):
		return "see " + name + " --help"
	case errors.Is(err, config.ErrConfig):
		return name + " sample shows every key with its unit and default"
	case errors.Is(err, errNoDoor):
		return `set listen = "unix:/run/chitd/http" in the configuration and start the daemon anew`
	case errors.Is(err, errPress):
		return "press where the daemon runs, as its user or root: systemctl status chitd"
	case errors.Is(err, identity.ErrEnrolled):
		return "a device belongs to one broker; " + name + " retire ends that"
	case errors.Is(err, journal.ErrInUse):
		return "stop the daemon first: systemctl stop chitd"
	case errors.Is(err, identity.ErrRefused):
		return "make a new pairing string at the broker (chit devices pair): it lives 10 minutes and " +
			"works once"
	case errors.Is(err, fs.ErrNotExist):
		return name + " sample > device.toml makes a file to start from"
	}
	return ""
}
