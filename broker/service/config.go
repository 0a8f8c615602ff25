package service

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"chit/broker/intake"
	"chit/broker/link"
	"chit/config"
	"chit/device/wire"
)

// Config is what /etc/chit/broker.toml says.
type Config struct {
	Data string `toml:"data" default:"/var/lib/chit-broker" comment:"Folder of the store, the CA and the server's key."`

	HTTP  HTTP  `toml:"http" comment:"The plain door, for this machine and proxies on it."`
	HTTPS HTTPS `toml:"https" comment:"The door with TLS by the installation's own CA; devices pair here."`
	MQTT  MQTT  `toml:"mqtt" comment:"The MQTT listener of the embedded engine."`

	Outside Outside `toml:"outside" comment:"An MQTT engine of yours, in place of the embedded one."`

	Tokens   []Token   `toml:"tokens" comment:"Owners' API tokens; the file keeps their digests, not the tokens."`
	Kitchens []Kitchen `toml:"kitchens" comment:"One table for each kitchen, with its stations."`

	Alarms []Alarm `toml:"alarms" comment:"One table for each destination of alarms; chit alarms test tries them."`

	Rate float64 `toml:"dispatch_rate" default:"200" unit:"tickets per second and tenant" comment:"More than 0; 0 is the default."`
	// Tenants take turns below Total.
	Total float64 `toml:"dispatch_total" default:"1000" unit:"tickets per second, all tenants" comment:"More than 0; 0 is the default."`
}

// HTTP is the door without TLS.
type HTTP struct {
	Listen string `toml:"listen" default:"127.0.0.1:8080" comment:"Loopback only; empty closes it."`
}

// HTTPS is the door with TLS.
type HTTPS struct {
	Listen string `toml:"listen" default:":8443" comment:"Empty closes it."`
}

// MQTT is the embedded engine's listener.
type MQTT struct {
	Listen string   `toml:"listen" default:":8883"`
	Public string   `toml:"public" comment:"What devices are told to connect to, tls://host:port; empty: the first name and the listener's port."`
	Names  []string `toml:"names" default:"localhost,127.0.0.1" comment:"DNS names and IP addresses that devices reach this broker by; they go into its certificate."`
}

// Outside is an operator's engine.
type Outside struct {
	Address     string `toml:"address" comment:"tls://host:port, or tcp://host:port on loopback; empty uses the embedded engine."`
	Certificate string `toml:"certificate" comment:"PEM file."`
	Key         string `toml:"key" comment:"PEM file."`
	CA          string `toml:"ca" comment:"PEM file of the engine's CA."`
}

// Token is one owner's token.
type Token struct {
	SHA256 string `toml:"sha256" comment:"Hex SHA-256 of the token: printf %s TOKEN | sha256sum."`
	File   string `toml:"file" comment:"Or a file that holds the token itself, such as a systemd credential."`
	Tenant string `toml:"tenant" default:"main"`
	Who    string `toml:"who" default:"owner" comment:"What the audit calls its holder."`
}

// Kitchen is one place.
type Kitchen struct {
	ID              string        `toml:"id" default:"main"`
	Tenant          string        `toml:"tenant" default:"main"`
	Zone            string        `toml:"zone" default:"UTC" comment:"IANA time zone."`
	DayCut          time.Duration `toml:"day_cut" default:"4h" unit:"duration after midnight" comment:"When the business day begins, 0s to 24h."`
	DaySlip         bool          `toml:"day_slip" comment:"Print at the end of a business day, at each station, what became of its numbers."`
	Stale           time.Duration `toml:"stale_after" default:"30m" unit:"duration from release" comment:"Age from which a ticket is stale, at most 576h; 0s: never."`
	OnStale         string        `toml:"stale" default:"ask" comment:"What becomes of a stale ticket: ask (a person says print or drop), print (marked LATE) or drop-to-dead-letter."`
	Lease           time.Duration `toml:"lease" default:"30s" unit:"duration" comment:"How long an answer of the device is waited for, 1s to 1h."`
	Open            []string      `toml:"open" comment:"Opening hours, such as \"mon-fri 11:00-14:30\", \"daily 11:00-23:00\", \"fri-sat 18:00-02:00\"; empty: always. Alarms for late tickets are raised while it is open."`
	SilenceAlarm    bool          `toml:"silence_alarm" default:"false" comment:"true: learn how many orders each hour of the week usually has, and warn when a busy hour has none, such as when the shop's website no longer reaches this broker. It begins to warn after three weeks."`
	SilenceSeverity string        `toml:"silence_severity" default:"P2" comment:"How loud that is: P2 (told once) or P1 (told to others until somebody answers)."`
	Canary          time.Duration `toml:"canary" default:"0s" unit:"duration before opening" comment:"10m: ten minutes before the kitchen opens every printer prints a short ticket, Good morning, nothing to cook. Where one does not come out, somebody is told before the first guest waits. 1m to 2h; 0s: none. It needs opening hours."`
	Stations        []Station     `toml:"stations"`
}

// Station is one job in a kitchen.
type Station struct {
	ID      string `toml:"id" default:"kitchen" comment:"Unique for the tenant."`
	Name    string `toml:"name" comment:"For people; the id where empty."`
	Printer string `toml:"printer" default:"main" comment:"The printer's name at the device that is paired for it."`
	Backup  string `toml:"backup" comment:"Another station of the tenant: its device and printer take over when this one's are silent for 15s, away for 5s, held for 60s or degraded; empty: none."`
	// Also get a copy of every ticket.
	Also []string `toml:"also" comment:"Other stations of the tenant, such as the pass: each prints a copy of every ticket of this one."`
}

// Validate names the first field that is wrong, what it holds and what was expected.
func (c *Config) Validate() error {
	if c.Data == "" {
		return config.Field("data", "found nothing, expected a folder")
	}
	if err := loopback("http.listen", c.HTTP.Listen); err != nil {
		return err
	}
	for key, addr := range map[string]string{"https.listen": c.HTTPS.Listen,
		"mqtt.listen": c.MQTT.Listen} {
		if addr != "" && !hasPort(addr, 0) {
			return config.Field(key, "found %q, expected host:port or :port, the port 0 to 65535", addr)
		}
	}
	if p := c.MQTT.Public; p != "" {
		if at, ok := strings.CutPrefix(p, "tls://"); !ok || !hasPort(at, 1) || at[0] == ':' {
			return config.Field("mqtt.public", "found %q, expected tls://host:port, the port 1 to 65535",
				p)
		}
	}
	if len(c.MQTT.Names) == 0 {
		return config.Field("mqtt.names", "found none, expected at least one name or address")
	}
	if a := c.Outside.Address; a != "" {
		_, at, _ := strings.Cut(a, "://")
		if link.CheckAddress(a) != nil || !hasPort(at, 1) {
			return config.Field("outside.address", "found %q, expected tls://host:port, or "+
				"tcp://host:port on loopback, the port 1 to 65535", a)
		}
	}
	for _, rate := range []struct {
		key   string
		found float64
	}{{"dispatch_rate", c.Rate}, {"dispatch_total", c.Total}} {
		if !(rate.found >= 0) || math.IsInf(rate.found, 0) { // NaN is not >= 0 either.
			return config.Field(rate.key, "found %v, expected more than 0, or 0 for the default",
				rate.found)
		}
	}
	if err := c.validateTokens(); err != nil {
		return err
	}
	if err := c.validateAlarms(); err != nil {
		return err
	}
	return c.validateKitchens()
}

// Count says how much of each kind was read, so that a table that was forgotten is missed: "1
// kitchens, 1 tokens, 2 stations, 3 alarms, 1 backups, 1 kitchens with opening hours".
func (c *Config) Count() string {
	stations, backups, hours := 0, 0, 0
	for _, k := range c.Kitchens {
		stations += len(k.Stations)
		if len(k.Open) > 0 {
			hours++
		}
		for _, s := range k.Stations {
			if s.Backup != "" {
				backups++
			}
		}
	}
	return fmt.Sprintf("%d kitchens, %d tokens, %d stations, %d alarms, %d backups, %d kitchens with "+
		"opening hours", len(c.Kitchens), len(c.Tokens), stations, len(c.Alarms), backups, hours)
}

// digest is the token's SHA-256 in hex, of what the file holds where there is one.
func (t Token) digest() (string, error) {
	if t.File == "" {
		return t.SHA256, nil
	}
	raw, err := os.ReadFile(t.File)
	if err != nil {
		return "", fmt.Errorf("expected a file with a token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" {
		return "", fmt.Errorf("found nothing in %s, expected a token", t.File)
	}
	return intake.TokenDigest(token), nil
}

func (c *Config) validateTokens() error {
	for i, t := range c.Tokens {
		key := fmt.Sprintf("tokens[%d]", i)
		switch {
		case (t.SHA256 == "") == (t.File == ""):
			return config.Field(key, "found %d of sha256 and file, expected one of them",
				map[bool]int{true: 0, false: 2}[t.SHA256 == ""])
		case t.SHA256 != "":
			entry := intake.TokenList{{SHA256: t.SHA256, Tenant: t.Tenant}}
			if err := entry.Check(); err != nil {
				return config.Field(key+".sha256", "found %d characters, expected 64 of 0-9 a-f",
					len(t.SHA256))
			}
		default:
			if _, err := t.digest(); err != nil {
				return config.Field(key+".file", "%v", err)
			}
		}
		if err := wire.CheckID(t.Tenant); err != nil {
			return config.Field(key+".tenant", "%v", err)
		}
	}
	return nil
}

func (c *Config) validateKitchens() error {
	stations := map[string]string{}
	kitchens := map[string]string{}
	for i, k := range c.Kitchens {
		key := fmt.Sprintf("kitchens[%d]", i)
		for name, id := range map[string]string{"id": k.ID, "tenant": k.Tenant} {
			if err := wire.CheckID(id); err != nil {
				return config.Field(key+"."+name, "%v", err)
			}
		}
		if _, err := time.LoadLocation(k.Zone); err != nil {
			return config.Field(key+".zone", "found %q, expected an IANA time zone such as "+
				"Europe/Berlin", k.Zone)
		}
		if _, ok := stalePolicies[cmp.Or(k.OnStale, "ask")]; !ok {
			return config.Field(key+".stale", "found %q, expected ask, print or drop-to-dead-letter",
				k.OnStale)
		}
		if err := k.validateTimes(key); err != nil {
			return err
		}
		if err := k.validateOpen(key); err != nil {
			return err
		}
		if err := k.validateMorning(key); err != nil {
			return err
		}
		if other, twice := kitchens[k.Tenant+"/"+k.ID]; twice {
			return config.Field(key+".id", "found %q, which %s has too", k.ID, other)
		}
		kitchens[k.Tenant+"/"+k.ID] = key
		for j, s := range k.Stations {
			at := fmt.Sprintf("%s.stations[%d]", key, j)
			if err := wire.CheckID(s.ID); err != nil {
				return config.Field(at+".id", "%v", err)
			}
			if err := wire.CheckPrinter(s.Printer); err != nil {
				return config.Field(at+".printer", "%v", err)
			}
			if other, twice := stations[k.Tenant+"/"+s.ID]; twice {
				return config.Field(at+".id", "found %q, which %s has too; station ids are unique "+
					"in a tenant", s.ID, other)
			}
			stations[k.Tenant+"/"+s.ID] = at
		}
	}
	if err := c.validateBackups(stations); err != nil {
		return err
	}
	return c.validateAlso(stations)
}

// Bounds of a kitchen's times.
const (
	leaseMin, leaseMax = time.Second, time.Hour
	// staleMax is what stalems can carry: 24 days in milliseconds fit its 31 bits.
	staleMax  = 24 * 24 * time.Hour
	dayCutMax = 24 * time.Hour
)

func (k Kitchen) validateTimes(key string) error {
	for _, f := range []struct {
		name            string
		found, min, max time.Duration
		note            string
	}{
		{"day_cut", k.DayCut, 0, dayCutMax, ""},
		{"stale_after", k.Stale, 0, staleMax, " (0s: never)"},
		{"lease", k.Lease, leaseMin, leaseMax, ""},
	} {
		if f.found < f.min || f.found > f.max {
			return config.Field(key+"."+f.name, "found %s, expected %s to %s%s", f.found, f.min, f.max,
				f.note)
		}
	}
	return nil
}

// hasPort is true for host:port with a port of at least low; 0 takes any that is free. Names of
// services, such as :https, are not taken: what they mean is another file's word.
func hasPort(addr string, low uint64) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n >= low
}

// loopback refuses to send owners' tokens over a network in clear.
func loopback(key, addr string) error {
	if addr == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !hasPort(addr, 0) {
		return config.Field(key, "found %q, expected host:port, the port 0 to 65535", addr)
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return config.Field(key, "found %q, expected a loopback address: tokens do not travel in "+
			"clear; use https.listen for others", addr)
	}
	return nil
}
