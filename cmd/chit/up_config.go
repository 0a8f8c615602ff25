package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"chit/broker/program"
	broker "chit/broker/service"
	"chit/config"
	device "chit/device/service"
	"chit/printer/profile"
	"chit/printer/transport"
	"chit/printer/transport/open"
	"chit/printer/virtual/serve"
)

// upConfig is the optional file of chit up: more stations, more printers.
type upConfig struct {
	Kitchens []broker.Kitchen `toml:"kitchens" comment:"Kitchens and their stations; one kitchen main with one station kitchen where empty."`
	Printers []device.Printer `toml:"printers" comment:"Printers; the one of --printer, named main, where empty."`
	Alarms   []broker.Alarm   `toml:"alarms" comment:"One table for each destination of alarms."`
	Device   device.Config    `toml:"device" comment:"What else chitd's configuration knows, such as the panel's pins."`
}

// Validate names the first field that cannot be, so that a broken file is told with its line.
func (c *upConfig) Validate() error {
	switch {
	case len(c.Device.Printers) > 0:
		return config.Field("device.printers", "found %d, expected [[printers]] at the top of the file",
			len(c.Device.Printers))
	case c.Device.State != stateDefault():
		return config.Field("device.state", "found %q, expected nothing: it is in the folder of --data",
			c.Device.State)
	}
	d := c.Device
	d.Printers = []device.Printer{{Name: mainPrinter, URL: "file:///dev/null",
		Profile: profile.Safe80().Name}}
	if err := d.Validate(); err != nil {
		return under("device", err)
	}
	if len(c.Printers) > 0 {
		d.Printers, d.Virtual = c.Printers, onlyParsed
		if err := d.Validate(); err != nil {
			return err
		}
	}
	b := broker.Config{Data: "-", Kitchens: c.Kitchens, Alarms: c.Alarms,
		MQTT: broker.MQTT{Names: []string{"-"}}}
	if err := b.Validate(); err != nil {
		return err
	}
	return c.validateStations()
}

// validateStations refuses what only this mode refuses: another tenant, and a station whose printer
// is not here.
func (c *upConfig) validateStations() error {
	var printers []string
	for _, p := range c.Printers {
		printers = append(printers, p.Name)
	}
	if len(printers) == 0 {
		printers = []string{mainPrinter}
	}
	for i, a := range c.Alarms {
		if a.Tenant != upTenant {
			return config.Field(fmt.Sprintf("alarms[%d].tenant", i), "found %q, expected %q: chit up "+
				"serves one owner", a.Tenant, upTenant)
		}
	}
	for i, k := range c.Kitchens {
		key := fmt.Sprintf("kitchens[%d]", i)
		if k.Tenant != upTenant {
			return config.Field(key+".tenant", "found %q, expected %q: chit up serves one owner",
				k.Tenant, upTenant)
		}
		if len(k.Stations) == 0 {
			return config.Field(key+".stations", "found none, expected at least one")
		}
		for j, s := range k.Stations {
			if !slices.Contains(printers, s.Printer) {
				return config.Field(fmt.Sprintf("%s.stations[%d].printer", key, j),
					"found %q, expected one of %s", s.Printer, strings.Join(printers, ", "))
			}
		}
	}
	return nil
}

// stateDefault is what device.state says where the file is silent.
func stateDefault() string {
	var silent struct {
		Device device.Config `toml:"device"`
	}
	if err := config.Load("", &silent, ""); err != nil {
		return ""
	}
	return silent.Device.State
}

// onlyParsed checks a virtual: URL and starts nothing.
func onlyParsed(rest string) (transport.Dialer, error) {
	_, err := serve.FromURL(rest)
	return nil, err
}

// under puts a table's name before the key of a field.
func under(table string, err error) error {
	var field *config.FieldError
	if errors.As(err, &field) {
		return config.Field(table+"."+field.Key, "%s", field.Problem)
	}
	return err
}

const printerHint = "such as --printer tcp://192.168.1.50:9100, or --printer virtual: to try " +
	"it; chit printer find lists what is there"

// The small restaurant's names.
const (
	upTenant    = "main" // its only tenant
	mainPrinter = "main" // the printer of --printer
	mainStation = "kitchen"
)

// configure checks the flags, reads the file and fills in the small restaurant's defaults, so
// that a mistake is told before anything runs.
func (u *up) configure() error {
	if err := u.checkFlags(); err != nil {
		return err
	}
	if err := config.Load(u.file, &u.conf, "CHIT_UP"); err != nil {
		return err
	}
	switch printers := len(u.conf.Printers); {
	case printers > 0 && u.printer != "":
		return misuse("take --printer away, or the [[printers]] tables",
			"--printer and %s both name printers", u.file)
	case printers == 0 && u.printer == "":
		return misuse(printerHint, "--printer is missing, and %s names no printers", u.file)
	case printers == 0:
		u.conf.Printers = []device.Printer{{Name: mainPrinter, URL: u.printer, Profile: u.profile}}
	}
	if len(u.conf.Kitchens) == 0 {
		var kitchen broker.Kitchen
		if err := config.Load("", &kitchen, "CHIT_UP_KITCHEN"); err != nil {
			return err
		}
		kitchen.Stations = []broker.Station{{ID: mainStation, Printer: u.conf.Printers[0].Name}}
		kitchen.Zone = localZone(u.zone)
		u.conf.Kitchens = []broker.Kitchen{kitchen}
	}
	d := &u.conf.Device
	d.State, d.Printers, d.Virtual = filepath.Join(u.dir, "device"), u.conf.Printers, u.virtual.Dialer
	d.InProcess, d.Version = true, program.Version(version)
	if d.Zone == "" && u.zone != "Local" {
		d.Zone = u.zone // Unasked, times stay on paper as the order gives them.
	}
	// Both halves are on one machine: there is no crowd to spread.
	d.RetryFirst, d.RetryMax = 250*time.Millisecond, 5*time.Second
	return d.Validate()
}

// checkFlags names the flag that cannot be.
func (u *up) checkFlags() error {
	if u.dir == "" {
		return misuse("such as --data /var/lib/chit", "--data is missing")
	}
	if u.printer == "" && u.file == "" {
		return misuse(printerHint, "--printer is missing")
	}
	if u.printer != "" {
		switch _, err := open.Parse(u.printer, onlyParsed); {
		case errors.Is(err, transport.ErrNotBuilt):
			return hinted{fmt.Errorf("--printer: %w", err),
				"tcp://, file:// and virtual: printers work on every system"}
		case err != nil:
			return misuse(printerHint, "--printer: %w", err)
		}
	}
	if _, err := profile.ByName(u.profile); err != nil {
		return misuse("safe-80 and safe-58 suit every printer", "--profile: %w", err)
	}
	if _, err := time.LoadLocation(u.zone); err != nil {
		return misuse("", "--zone: found %q, expected an IANA time zone such as Europe/Berlin", u.zone)
	}
	return checkAddress("--http", u.http)
}

// localZone is the IANA name of "Local", as far as the machine tells it.
func localZone(zone string) string {
	if zone != "Local" {
		return zone
	}
	if tz := os.Getenv("TZ"); tz != "" {
		if _, err := time.LoadLocation(tz); err == nil {
			return tz
		}
	}
	if raw, err := os.ReadFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(raw)); name != "" {
			return name
		}
	}
	return "UTC"
}
