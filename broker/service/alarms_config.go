package service

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"chit/broker/alarm"
	"chit/broker/alert"
	"chit/broker/kitchen"
	"chit/config"
	"chit/device/wire"
)

// Alarm is where a tenant's alarms of one level go.
type Alarm struct {
	Tenant     string   `toml:"tenant" default:"main"`
	Level      int      `toml:"level" default:"1" comment:"1: told at once; 2 and 3: told 5 and 10 minutes later, if nobody has acknowledged."`
	Kind       string   `toml:"kind" comment:"webhook, email or ntfy."`
	Name       string   `toml:"name" comment:"Unique for the tenant, in records and logs; kind and level where empty."`
	URL        string   `toml:"url" comment:"https://… of the webhook or the ntfy topic; smtp://host:587 or smtps://host:465 of the mail server."`
	SecretFile string   `toml:"secret_file" comment:"File with the webhook's whsec_… secret, the ntfy token or the mail password."`
	From       string   `toml:"from" comment:"email: the sender."`
	To         []string `toml:"to" comment:"email: the recipients."`
	User       string   `toml:"user" comment:"email: whose password it is; empty: no login."`
	CA         string   `toml:"ca" comment:"PEM file of authorities to trust instead of the machine's."`
	Private    bool     `toml:"private" comment:"webhook, ntfy: also addresses that are not on the Internet, and http://."`
	Link       string   `toml:"link" comment:"Put before an alarm's name to make the address that a message shows."`
}

// The kinds of destinations.
const (
	kindWebhook = "webhook"
	kindEmail   = "email"
	kindNtfy    = "ntfy"
)

func (c *Config) validateAlarms() error {
	if _, err := c.destinations(time.Now); err != nil {
		return err
	}
	return c.validateRecipients()
}

// validateRecipients finds alarms of a tenant that there is not: nothing would ever be told there.
// A broker with neither kitchens nor tokens has no tenants yet, and nothing is known to be
// misspelt.
func (c *Config) validateRecipients() error {
	tenants := map[string]bool{}
	for _, k := range c.Kitchens {
		tenants[k.Tenant] = true
	}
	for _, t := range c.Tokens {
		tenants[t.Tenant] = true
	}
	for i, a := range c.Alarms {
		if len(tenants) > 0 && !tenants[a.Tenant] {
			return config.Field(fmt.Sprintf("alarms[%d].tenant", i), "found %q, expected the tenant of a "+
				"kitchen or token: %s", a.Tenant, strings.Join(slices.Sorted(maps.Keys(tenants)), ", "))
		}
	}
	return nil
}

// destinations makes a sender of every [[alarms]] table; its errors name the field.
func (c *Config) destinations(now func() time.Time) ([]alert.Destination, error) {
	var out []alert.Destination
	names := map[string]string{}
	for i, a := range c.Alarms {
		key := fmt.Sprintf("alarms[%d]", i)
		made, err := a.destinations(key, now)
		if err != nil {
			return nil, err
		}
		for _, d := range made {
			if other, twice := names[d.Tenant+"/"+d.Name]; twice {
				return nil, config.Field(key+".name", "found %q, which %s has too; give each a name",
					d.Name, other)
			}
			names[d.Tenant+"/"+d.Name] = key
		}
		out = append(out, made...)
	}
	return out, nil
}

func (a Alarm) destinations(key string, now func() time.Time) ([]alert.Destination, error) {
	if err := wire.CheckID(a.Tenant); err != nil {
		return nil, config.Field(key+".tenant", "%v", err)
	}
	if a.Level < 1 || a.Level > alarm.LevelMax {
		return nil, config.Field(key+".level", "found %d, expected 1 to %d", a.Level, alarm.LevelMax)
	}
	if a.Name == "" {
		a.Name = fmt.Sprintf("%s-%d", a.Kind, a.Level)
	} else if err := wire.CheckID(a.Name); err != nil {
		return nil, config.Field(key+".name", "%v", err)
	}
	secret, err := a.secret(key)
	if err != nil {
		return nil, err
	}
	pool, err := a.pool(key)
	if err != nil {
		return nil, err
	}
	one := alert.Destination{Tenant: a.Tenant, Name: a.Name, Level: a.Level, Link: a.Link}
	switch a.Kind {
	case kindWebhook:
		one.Sender, err = alert.NewWebhook(a.URL, secret, a.Private, pool, now)
		if err != nil && alert.CheckURL(a.URL, a.Private) == nil {
			return nil, config.Field(key+".secret_file", "%v", err)
		}
	case kindNtfy:
		one.Sender, err = alert.NewNtfy(a.URL, secret, a.Private, pool)
	case kindEmail:
		return a.mailboxes(key, one, alert.EmailConfig{URL: a.URL, From: a.From, User: a.User,
			Password: secret, CA: pool, Now: now})
	default:
		return nil, config.Field(key+".kind", "found %q, expected %s, %s or %s", a.Kind, kindWebhook,
			kindEmail, kindNtfy)
	}
	if err == nil {
		err = alert.CheckHost(a.URL, a.Private)
	}
	if err != nil {
		return nil, config.Field(key+".url", "found %q, %v", a.URL, err)
	}
	return []alert.Destination{one}, nil
}

// mailboxes makes a destination of every recipient: one whose mailbox is full must not keep it from
// the others.
func (a Alarm) mailboxes(key string, one alert.Destination, conf alert.EmailConfig) (
	[]alert.Destination, error) {
	if err := alert.CheckMailbox(a.From); err != nil {
		return nil, config.Field(key+".from", "%v", err)
	}
	if len(a.To) == 0 {
		return nil, config.Field(key+".to", "found none, expected at least one address")
	}
	if a.User != "" && a.SecretFile == "" {
		return nil, config.Field(key+".secret_file", "found nothing, expected a file with the "+
			"password of %s", a.User)
	}
	var out []alert.Destination
	for i, to := range a.To {
		if err := alert.CheckMailbox(to); err != nil {
			return nil, config.Field(fmt.Sprintf("%s.to[%d]", key, i), "%v", err)
		}
		conf.To = to
		sender, err := alert.NewEmail(conf)
		if err != nil {
			return nil, config.Field(key+".url", "%v", err)
		}
		mine := one
		if mine.Sender = sender; len(a.To) > 1 {
			mine.Name = fmt.Sprintf("%s-to%d", one.Name, i+1)
		}
		out = append(out, mine)
	}
	return out, nil
}

func (a Alarm) secret(key string) (string, error) {
	if a.SecretFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(a.SecretFile)
	if err != nil {
		return "", config.Field(key+".secret_file", "expected a file with a secret: %v", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", config.Field(key+".secret_file", "found nothing in %s, expected a secret",
			a.SecretFile)
	}
	return secret, nil
}

func (a Alarm) pool(key string) (*x509.CertPool, error) {
	if a.CA == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, config.Field(key+".ca", "expected a PEM file: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, config.Field(key+".ca", "found no certificate in %s, expected PEM", a.CA)
	}
	return pool, nil
}

// validateOpen checks the opening hours.
func (k Kitchen) validateOpen(key string) error {
	for i, line := range k.Open {
		if _, err := kitchen.ParseHours([]string{line}); err != nil {
			return config.Field(fmt.Sprintf("%s.open[%d]", key, i), "%s", hoursProblem(err))
		}
	}
	return nil
}

// Bounds of a canary's lead.
const (
	canaryMin = time.Minute
	canaryMax = 2 * time.Hour
)

// validateMorning checks silence alarm and canary.
func (k Kitchen) validateMorning(key string) error {
	if s := k.SilenceSeverity; s != "" && s != string(alarm.P1) && s != string(alarm.P2) {
		return config.Field(key+".silence_severity", "found %q, expected P1 or P2", s)
	}
	if k.Canary == 0 {
		return nil
	}
	if k.Canary < canaryMin || k.Canary > canaryMax {
		return config.Field(key+".canary", "found %s, expected %s to %s before opening, or 0s: none",
			k.Canary, canaryMin, canaryMax)
	}
	hours, err := kitchen.ParseHours(k.Open)
	if err != nil {
		return config.Field(key+".open", "%s", hoursProblem(err))
	}
	// Any week will do: hours repeat.
	monday := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, ok := hours.Opening(monday, nil); !ok {
		return config.Field(key+".canary", "found %s, but %s.open says nothing of when the kitchen "+
			"opens, expected hours such as \"daily 11:00-23:00\"", k.Canary, key)
	}
	return nil
}

// hoursProblem is the problem without the sentinel's words, which the field's name says.
func hoursProblem(err error) string {
	return strings.TrimPrefix(err.Error(), kitchen.ErrHours.Error()+": ")
}

// places are the stations as the watch needs them.
func (k *kitchens) places() (map[alarm.StationKey]alarm.Place, error) {
	out := map[alarm.StationKey]alarm.Place{}
	var errs []error
	for name, p := range k.byStation {
		tenant, station, _ := strings.Cut(name, "/")
		hours, err := kitchen.ParseHours(p.kitchen.Open)
		errs = append(errs, err)
		out[alarm.StationKey{Tenant: tenant, Station: station}] = alarm.Place{
			Kitchen: p.kitchen.ID, Hours: hours, Zone: p.zone}
	}
	return out, errors.Join(errs...)
}
