package service

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/config"
)

func configuration(t *testing.T, lines string) (Config, error) {
	t.Helper()
	var c Config
	err := config.Parse("broker.toml", []byte(lines), &c)
	return c, err
}

func TestEachValueThatCannotBeIsToldWithItsKey(t *testing.T) {
	dir := t.TempDir()
	empty, token := filepath.Join(dir, "empty"), filepath.Join(dir, "token")
	for name, text := range map[string]string{empty: " \n", token: "secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const kitchen = "[[kitchens]]\n"
	for _, c := range []struct{ lines, want string }{
		{"", ""},
		{kitchen + `stale_after = "0s"`, ""},
		{kitchen + `stale_after = "-1s"`,
			"broker.toml:2: kitchens[0].stale_after: found -1s, expected 0s to 576h0m0s (0s: never)"},
		{kitchen + `stale_after = "600h"`, "kitchens[0].stale_after: found 600h0m0s"},
		{kitchen + `lease = "1s"`, ""},
		{kitchen + `lease = "1h"`, ""},
		{kitchen + `lease = "999ms"`, "kitchens[0].lease: found 999ms, expected 1s to 1h0m0s"},
		{kitchen + `lease = "0s"`, "kitchens[0].lease: found 0s"},
		{kitchen + `lease = "61m"`, "kitchens[0].lease: found 1h1m0s"},
		{kitchen + `day_cut = "0s"`, ""},
		{kitchen + `day_cut = "24h"`, ""},
		{kitchen + `day_cut = "-1h"`, "kitchens[0].day_cut: found -1h0m0s, expected 0s to 24h0m0s"},
		{kitchen + `day_cut = "25h"`, "kitchens[0].day_cut: found 25h0m0s"},
		{"dispatch_rate = 0", ""},
		{"dispatch_rate = 0.5", ""},
		{"dispatch_rate = -1", "broker.toml:1: dispatch_rate: found -1, expected more than 0"},
		{"dispatch_total = 2500", ""},
		{"dispatch_total = -1", "broker.toml:1: dispatch_total: found -1, expected more than 0"},
		{"[outside]\naddress = \"tls://mqtt.example:8883\"", ""},
		{"[outside]\naddress = \"tcp://127.0.0.1:1883\"", ""},
		{"[outside]\naddress = \"tcp://mqtt.example:1883\"",
			`outside.address: found "tcp://mqtt.example:1883", expected tls://host:port`},
		{"[outside]\naddress = \"mqtt.example:1883\"", "outside.address: found"},
		{"[outside]\naddress = \"tls://mqtt.example:99999\"", "outside.address: found"},
		{"[http]\nlisten = \"127.0.0.1:99999\"", `http.listen: found "127.0.0.1:99999", expected ` +
			"host:port, the port 0 to 65535"},
		{"[http]\nlisten = \"127.0.0.1:0\"", ""},
		{"[https]\nlisten = \":65536\"", `https.listen: found ":65536", expected host:port or :port`},
		{"[mqtt]\nlisten = \":-1\"", `mqtt.listen: found ":-1"`},
		{"[mqtt]\nlisten = \":65535\"", ""},
		{"[mqtt]\npublic = \"tls://mqtt.example:8883\"", ""},
		{"[mqtt]\npublic = \"tls://mqtt.example\"", `mqtt.public: found "tls://mqtt.example", expected`},
		{"[mqtt]\npublic = \"tls://mqtt.example:0\"", "mqtt.public: found"},
		{"[mqtt]\npublic = \"tls://:8883\"", "mqtt.public: found"},
		{"[[tokens]]\nfile = \"" + token + `"`, ""},
		{"[[tokens]]\nfile = \"" + empty + `"`, "broker.toml:2: tokens[0].file: found nothing in "},
		{"[[tokens]]\nfile = \"" + dir + `/none"`, "broker.toml:2: tokens[0].file: expected a file"},
	} {
		_, err := configuration(t, c.lines)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.lines, err)
		case c.want != "" && (!errors.Is(err, config.ErrConfig) ||
			!strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.lines, err, c.want)
		}
	}
	for _, rate := range []float64{math.NaN(), math.Inf(1)} {
		c, err := configuration(t, "")
		if c.Rate = rate; err != nil || c.Validate() == nil {
			t.Errorf("a dispatch rate of %v: %v", rate, err)
		}
		if c.Rate, c.Total = 0, rate; c.Validate() == nil {
			t.Errorf("a dispatch total of %v is taken", rate)
		}
	}
}

func TestZeroOfAKitchensTimesMeansZeroAndNotTheDefault(t *testing.T) {
	k, err := newKitchens([]Kitchen{{ID: "main", Tenant: "main", Zone: "UTC",
		Stations: []Station{{ID: "grill"}}}})
	if err != nil {
		t.Fatal(err)
	}
	k.fleet = &fleet.Fleet{} // It knows no device.
	station, ok := k.Station("main", "grill")
	if !ok || station.StaleAfter != staleMax || station.DayCut <= 0 || station.DayCut > time.Second {
		t.Errorf("%+v, want never stale and a day from midnight", station)
	}
}
