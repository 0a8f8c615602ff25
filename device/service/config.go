package service

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"chit/config"
	"chit/device/panel"
	"chit/device/wire"
	"chit/printer/session"
	"chit/printer/transport/open"
)

// Config is what /etc/chit/device.toml says.
type Config struct {
	State    string    `toml:"state" default:"/var/lib/chitd" comment:"Folder of the keys and the journal."`
	Printers []Printer `toml:"printers" comment:"One table for each printer; a ticket without a printer goes to the first."`

	RetryFirst time.Duration `toml:"retry_first" default:"10s" unit:"duration" comment:"The first retry of a lost connection is at random before it; then it doubles."`
	RetryMax   time.Duration `toml:"retry_max" default:"2m" unit:"duration" comment:"Where the doubling ends."`
	AckQoS     int           `toml:"ack_qos" default:"0" comment:"QoS of answers: 0 on the embedded engine, 1 on others."`

	Call         string `toml:"call" comment:"Whom to call, printed when the storage fails."`
	Zone         string `toml:"zone" comment:"IANA time zone of the times on paper; empty: as the order gives them."`
	ShowCustomer bool   `toml:"show_customer" comment:"Print the customer's name and phone."`
	Language     string `toml:"language" default:"en" comment:"Of the fixed words and the allergens on paper: en, de, fr, es, it, pt, nl, pl, tr, el, ar, he, th, zh-Hans, ja, hi or uk."`
	Size         string `toml:"size" default:"normal" comment:"Of what a cook reads while cooking: normal, large or huge."`
	Templates    string `toml:"templates" comment:"Folder of templates, one for each station: grill.toml. Empty: the usual paper."`
	QRAddress    string `toml:"qr_address" comment:"Put before the ticket's id in its QR code, such as https://example.com/t/; empty: chit: and the id."`

	Listen string `toml:"listen" comment:"Where /metrics and /healthz are served: unix:/run/chitd/http or 127.0.0.1:9200; chitd press needs it; empty: nowhere."`
	Panel  Panel  `toml:"panel" comment:"Buzzer, lamp and button."`

	// Virtual makes dialers of virtual: URLs; nil refuses them. It is for programs that bring their
	// own printer, such as chit up.
	Virtual open.Virtual `toml:"-"`
	// Timing of the printers' sessions; zero fields take session's defaults.
	Timing session.Timing `toml:"-"`
	// Version shown to the broker; the build's own where empty.
	Version string `toml:"-"`
	// Hardware replaces the panel's pins, for tests and simulations.
	Hardware *panel.Hardware `toml:"-"`
	// InProcess is set by a program that holds more than this daemon: systemd is left to it.
	InProcess bool `toml:"-"`
}

// Panel is what stands beside the printer, and how much of an answer it wants.
type Panel struct {
	panel.Pins
	Insist time.Duration `toml:"insist" default:"0s" unit:"duration" comment:"Repeat the pattern of a ticket in this pause until somebody presses the button (or runs chitd press), for 10 min at most; 0s: sound it once."`
}

// Limits of insist: a pattern may be 10 s long, and a rarer one nobody takes for a call.
const (
	insistMin = 15 * time.Second
	insistMax = 5 * time.Minute
)

func (p Panel) validate() error {
	if p.Insist == 0 || p.Insist >= insistMin && p.Insist <= insistMax {
		return nil
	}
	return config.Field("panel.insist", "found %s, expected 0s, or %s to %s", p.Insist, insistMin,
		insistMax)
}

// Printer is one printer of the device.
type Printer struct {
	Name    string `toml:"name" default:"main" comment:"The broker's stations name it."`
	URL     string `toml:"url" comment:"tcp://host[:9100], usb:04b8:0202[:serial], usb:port=1-1.2, serial:///dev/serial/by-id/…, or file:///path; chit printer find lists what is there."`
	Profile string `toml:"profile" default:"safe-80" comment:"Model; chit printer profiles lists them. auto: what the printer's answers prove it to be, else the safe one for paper_mm."`
	PaperMM int    `toml:"paper_mm" default:"80" unit:"mm" comment:"Width of the paper where profile is auto, which no printer tells: 58, 76 (needles) or 80."`

	Language string `toml:"language" comment:"Instead of the device's; empty: that."`
	Size     string `toml:"size" comment:"Instead of the device's; empty: that."`
	Template string `toml:"template" comment:"File of a template for tickets of stations that have none in templates."`
}

// IdentityDir is where the device's keys and enrolment are.
func (c Config) IdentityDir() string { return filepath.Join(c.State, "identity") }

// JournalPath is the journal's file.
func (c Config) JournalPath() string { return filepath.Join(c.State, "journal.db") }

// Validate names the first field that cannot be.
func (c Config) Validate() error {
	if c.State == "" {
		return config.Field("state", "is empty, expected a folder")
	}
	if len(c.Printers) == 0 {
		return config.Field("printers", "is empty, expected at least one [[printers]] table")
	}
	names, urls := map[string]bool{}, map[string]string{}
	for i, p := range c.Printers {
		key := fmt.Sprintf("printers[%d]", i)
		if err := c.validatePrinter(key, p, names); err != nil {
			return err
		}
		names[p.Name] = true
		url := oneSpelling(p.URL)
		if other, twice := urls[url]; twice && url != nowhere {
			return config.Field(key+".url", "found %q, expected a printer of its own: %s has this one, "+
				"and a printer has one owner", p.URL, other)
		}
		urls[url] = key
	}
	if err := c.validateRetry(); err != nil {
		return err
	}
	if c.AckQoS != 0 && c.AckQoS != 1 {
		return config.Field("ack_qos", "found %d, expected 0 or 1", c.AckQoS)
	}
	if _, err := time.LoadLocation(c.Zone); err != nil {
		return config.Field("zone", "found %q, expected an IANA zone such as Europe/Berlin", c.Zone)
	}
	if err := c.Panel.validate(); err != nil {
		return err
	}
	if err := c.validatePaper(); err != nil {
		return err
	}
	return c.validateListen()
}

// nowhere is the one file that any number of printers may share.
const nowhere = "file:///dev/null"

// oneSpelling makes URLs of one printer equal, such as tcp://host and tcp://HOST:9100.
func oneSpelling(url string) string {
	if strings.HasPrefix(url, "virtual:") {
		return url // Its dialer is the program's own.
	}
	dialer, err := open.Parse(url, nil)
	if err != nil {
		return url
	}
	name, _, _ := strings.Cut(dialer.Name(), "?") // Other settings make no other printer.
	if strings.HasPrefix(name, "tcp:") {
		return strings.ToLower(name) // Hosts have no case, paths do.
	}
	return name
}

func (c Config) validateRetry() error {
	for key, found := range map[string]time.Duration{
		"retry_first": c.RetryFirst, "retry_max": c.RetryMax,
	} {
		if found <= 0 {
			return config.Field(key, "found %s, expected more than 0s", found)
		}
	}
	if c.RetryFirst > c.RetryMax {
		return config.Field("retry_first", "found %s, expected at most retry_max, which is %s",
			c.RetryFirst, c.RetryMax)
	}
	return nil
}

func (c Config) validatePrinter(key string, p Printer, names map[string]bool) error {
	if err := wire.CheckPrinter(p.Name); err != nil {
		return config.Field(key+".name", "%v", err)
	}
	if names[p.Name] {
		return config.Field(key+".name", "%q is there twice", p.Name)
	}
	if _, err := p.facts(key + "."); err != nil {
		return err
	}
	if _, err := open.Parse(p.URL, c.Virtual); err != nil {
		return config.Field(key+".url", "%v", err)
	}
	return nil
}

// validateListen lets only this machine ask: the metrics name tickets' stations and times.
func (c Config) validateListen() error {
	if c.Listen == "" || strings.HasPrefix(c.Listen, "unix:/") {
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	ip := net.ParseIP(host)
	if err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return config.Field("listen", "found %q, expected unix:/path or a loopback address and port",
			c.Listen)
	}
	return nil
}
