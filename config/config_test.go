package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

type kitchen struct {
	State   string        `toml:"state" default:"/var/lib/chit" comment:"What must survive a restart."`
	Lease   time.Duration `toml:"lease" default:"30s" unit:"duration" comment:"Time of an answer."`
	Columns int           `toml:"columns" default:"48" unit:"columns of font A"`
	Port    uint16        `toml:"port" default:"9100"`
	Ratio   float64       `toml:"ratio" default:"0.5"`
	Debug   bool          `toml:"debug" default:"true"`
	Names   []string      `toml:"names" default:"localhost,127.0.0.1"`
	Listen  netip.Addr    `toml:"listen" default:"127.0.0.1"`
	MQTT    struct {
		Listen    string        `toml:"listen" default:":8883" comment:"Address of the MQTT listener."`
		KeepAlive time.Duration `toml:"keep_alive" default:"20s" unit:"duration"`
	} `toml:"mqtt" comment:"The MQTT listener."`
	Printers []printer          `toml:"printers" comment:"One table for each printer."`
	Stations map[string]station `toml:"stations" comment:"One table for each station."`
	hidden   int
}

type printer struct {
	Name    string `toml:"name"`
	URL     string `toml:"url" default:"tcp://127.0.0.1:9100"`
	Columns int    `toml:"columns" default:"48"`
}

type station struct {
	Printer string        `toml:"printer" default:"main"`
	Stale   time.Duration `toml:"stale_after" default:"30m"`
}

func (k *kitchen) Validate() error {
	for i, p := range k.Printers {
		if p.Name == "" {
			return Field(fmt.Sprintf("printers[%d].name", i), "found nothing, expected a name")
		}
	}
	if k.Columns == 13 {
		return errors.New("thirteen columns are unlucky")
	}
	return nil
}

func TestDefaultsFillWhatTheFileDoesNotSay(t *testing.T) {
	var k kitchen
	err := Parse("k.toml", []byte(`
lease = "1m30s"
debug = false
columns = 0
[[printers]]
name = "grill"
[[printers]]
name = "bar"
columns = 32
[stations.grill]
[stations."Große Bar"]
printer = "bar"
`), &k)
	if err != nil {
		t.Fatal(err)
	}
	want := kitchen{
		State: "/var/lib/chit", Lease: 90 * time.Second, Columns: 0, Port: 9100, Ratio: 0.5,
		Names: []string{"localhost", "127.0.0.1"}, Listen: netip.MustParseAddr("127.0.0.1"),
		Printers: []printer{
			{"grill", "tcp://127.0.0.1:9100", 48}, {"bar", "tcp://127.0.0.1:9100", 32},
		},
		Stations: map[string]station{
			"grill": {"main", 30 * time.Minute}, "Große Bar": {"bar", 30 * time.Minute},
		},
	}
	want.MQTT.Listen, want.MQTT.KeepAlive = ":8883", 20*time.Second
	if !reflect.DeepEqual(k, want) {
		t.Errorf("got  %+v\nwant %+v", k, want)
	}
	k.hidden++
}

func TestMistakesNameFileLineAndWhatWasExpected(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown key", "\nleese = \"30s\"",
			`k.toml:2: leese: unknown key, did you mean "lease"?`},
		{"unknown table", "[mqqt]\nlisten = \"x\"",
			`k.toml:1: mqqt: unknown key, did you mean "mqtt"?`},
		{"unknown key in a table", "[mqtt]\n\nkeepalive = \"3s\"",
			`k.toml:3: mqtt.keepalive: unknown key, did you mean "keep_alive"?`},
		{"nothing is near", "[[printers]]\nzzzzzzz = 1",
			`k.toml:2: printers[0].zzzzzzz: unknown key, expected one of name, url, columns`},
		{"duration as a number", "lease = 30",
			`k.toml:1: lease: found 30, expected a duration such as "30s"`},
		{"duration without a unit", "lease = \"soon\"",
			`k.toml:1: lease: found "soon", expected a duration such as "30s"`},
		{"number as a string", "# c\ncolumns = \"48\"",
			`k.toml:2: columns: found "48", expected a whole number of at most 64 bits`},
		{"number too large", "port = 70000",
			`k.toml:1: port: found 70000, expected a whole number from 0, of at most 16 bits`},
		{"number below zero", "port = -1",
			`k.toml:1: port: found -1, expected a whole number from 0, of at most 16 bits`},
		{"string as a bool", "debug = \"yes\"",
			`k.toml:1: debug: found "yes", expected true or false`},
		{"not a number", "ratio = nan", `k.toml:1: ratio: found NaN, expected a number`},
		{"table as a string", "mqtt = \"x\"", `k.toml:1: mqtt: found "x", expected a table`},
		{"list as a string", "names = \"x\"", `k.toml:1: names: found "x", expected a list`},
		{"wrong element", "names = [\"a\",\n 2]", `k.toml:1: names[1]: found 2, expected a string`},
		{"in the second printer", "[[printers]]\nname = \"a\"\n\n[[printers]]\nname = 7",
			`k.toml:5: printers[1].name: found 7, expected a string`},
		{"in an inline table", "printers = [\n{name = \"a\"},\n{name = \"b\", colums = 3}]",
			`k.toml:3: printers[1].colums: unknown key, did you mean "columns"?`},
		{"in a named table", "[stations.bar]\nprinter = \"x\"\nstale_after = \"x\"",
			`k.toml:3: stations.bar.stale_after: found "x", expected a duration such as "30s"`},
		{"dotted key", "mqtt.listen = 3", `k.toml:1: mqtt.listen: found 3, expected a string`},
		{"text of its own", "listen = \"home\"",
			`k.toml:1: listen: found "home": ParseAddr("home"): unable to parse IP`},
		{"syntax", "state = \"a\"\nlease = \n",
			`k.toml:2:9: unexpected character U+000A at start of value`},
		{"twice", "state = \"a\"\nstate = \"b\"", `k.toml:2:1: key state is already defined`},
		{"validate names a key", "[[printers]]\nname=\"a\"\n[[printers]]\nurl = \"x\"",
			`k.toml:3: printers[1].name: found nothing, expected a name`},
		{"validate without a key", "columns = 13",
			"k.toml: configuration is not valid: thirteen columns are unlucky"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Parse("k.toml", []byte(test.text), &kitchen{})
			if err == nil || !errors.Is(err, ErrConfig) || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	err := Parse("k.toml", []byte("lease = 1\nport = \"x\"\nfoo_bar_baz_quux = 1\n"), &kitchen{})
	if err == nil || strings.Count(err.Error(), "k.toml:") != 3 {
		t.Errorf("got %v, want three mistakes", err)
	}
}

func TestEnvironmentWinsOverTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.toml")
	if err := os.WriteFile(path, []byte("lease = \"1m\"\nport = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHIT_LEASE", "5s")
	t.Setenv("CHIT_MQTT_KEEP_ALIVE", "7s")
	t.Setenv("CHIT_NAMES", "a, b")
	t.Setenv("CHIT_DEBUG", "false")
	t.Setenv("CHIT_RATIO", "2")
	t.Setenv("CHIT_COLUMNS", "42")
	var k kitchen
	if err := Load(path, &k, "CHIT"); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(k.Lease, k.Port, k.MQTT.KeepAlive, k.Names, k.Debug, k.Ratio, k.Columns)
	if want := "5s 1 7s [a b] false 2 42"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAWrongVariableIsNamed(t *testing.T) {
	for variable, want := range map[string]string{
		"CHIT_LEASE":    `a duration such as "30s"`,
		"CHIT_PORT":     "a whole number",
		"CHIT_DEBUG":    "true or false",
		"CHIT_RATIO":    "a number",
		"CHIT_PRINTERS": "at item 1",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, "x")
			err := Load("", &kitchen{}, "CHIT")
			if err == nil || !strings.HasPrefix(err.Error(), "environment variable "+variable+": ") ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want the variable and %q", err, want)
			}
		})
	}
}

func TestAFileThatIsNotThereOrTooLargeIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := Load(filepath.Join(dir, "none.toml"), &kitchen{}, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want not exist", err)
	}
	path := filepath.Join(dir, "large.toml")
	if err := os.WriteFile(path, make([]byte, SizeMax+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Load(path, &kitchen{}, ""); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v, want a configuration error", err)
	}
}

func TestAFileWrittenByNotepadIsRead(t *testing.T) {
	var k kitchen
	if err := Parse("k.toml", []byte("\uFEFFstate = \"/x\"\r\n"), &k); err != nil || k.State != "/x" {
		t.Errorf("state %q, %v", k.State, err)
	}
	err := Parse("k.toml", []byte("\uFEFFstate = \"/x\"\r\nlease = 1\r\n"), &k)
	if err == nil || !strings.HasPrefix(err.Error(), "k.toml:2: ") {
		t.Errorf("got %v, want the line", err)
	}
}

func TestAWrongDefaultIsTheProgramsMistake(t *testing.T) {
	var wrong struct {
		Lease time.Duration `toml:"lease" default:"ever"`
	}
	err := Parse("k.toml", nil, &wrong)
	if err == nil || !strings.Contains(err.Error(), `default "ever" of lease`) {
		t.Errorf("got %v, want the field named", err)
	}
	if err := Parse("k.toml", nil, wrong); err == nil {
		t.Error("a struct that is no pointer was accepted")
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "lease = \"30s\"", "[[printers]]\nname = \"a\"\n[printers.x]\n", "a.b.c = 1",
		"printers = [{name=\"a\", url=\"\\u00e9\"}]", "[stations.\"x y\"]\nprinter = 'z'",
		"names = [\n# c\n\"a\", # d\n]", "ratio = inf", "x = 1979-05-27T07:32:00Z",
		"[mqtt]\nlisten = \"\"\"\nx\"\"\"", "[[stations.x]]", "[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc=1",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var k kitchen
		err := Parse("k.toml", text, &k)
		if err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("an error that is not about the configuration: %v", err)
		}
		if err == nil && k.State == "" && !strings.Contains(string(text), "state") {
			t.Error("a default is missing")
		}
	})
}
