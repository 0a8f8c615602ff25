package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chit/config"
)

func TestEachAlarmThatCannotBeSentIsToldWithItsKey(t *testing.T) {
	dir := t.TempDir()
	secret, word := filepath.Join(dir, "secret"), filepath.Join(dir, "word")
	for name, text := range map[string]string{word: "open sesame\n",
		secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hook := fmt.Sprintf("kind = \"webhook\"\nsecret_file = %q\n", secret)
	const mail = "kind = \"email\"\nurl = \"smtp://mail.example.org:587\"\nfrom = \"c@example.org\"\n"
	const good = "url = \"https://example.org/x\"\n"
	for _, c := range []struct{ lines, want string }{
		{hook + good, ""},
		{hook + good + "level = 3", ""},
		{"kind = \"ntfy\"\n" + good, ""},
		{mail + `to = ["a@example.org", "b@example.org"]`, ""},
		{good, `alarms[0].kind: found "", expected webhook, email or ntfy`},
		{hook + good + "level = 4", "broker.toml:5: alarms[0].level: found 4, expected 1 to 3"},
		{hook + good + "level = 0", "alarms[0].level: found 0"},
		{hook + good + `tenant = "A B"`, "alarms[0].tenant: "},
		{hook + good + `name = "A B"`, "alarms[0].name: "},
		{hook + `url = "http://example.org/x"`, `alarms[0].url: found "http://example.org/x", expected`},
		{hook + "url = \"http://10.0.0.1/x\"\nprivate = true", ""},
		{hook, `alarms[0].url: found ""`},
		{"kind = \"webhook\"\n" + good, "alarms[0].secret_file: expected whsec_"},
		{"kind = \"webhook\"\n" + good + fmt.Sprintf("secret_file = %q", word),
			"alarms[0].secret_file: expected whsec_"},
		{hook + good + `ca = "/nowhere"`, "alarms[0].ca: expected a PEM file"},
		{hook + good + fmt.Sprintf("ca = %q", word), "alarms[0].ca: found no certificate"},
		{"kind = \"ntfy\"\nsecret_file = \"/nowhere\"\n" + good,
			"alarms[0].secret_file: expected a file"},
		{mail, "alarms[0].to: found none"},
		{mail + `to = ["Ana"]`, `alarms[0].to[0]: found "Ana", expected an address`},
		{mail + "to = [\"a@example.org\"]\nuser = \"chit\"", "alarms[0].secret_file: found nothing"},
		{"kind = \"email\"\nfrom = \"c@example.org\"\nto = [\"a@example.org\"]\nurl = \"mail:25\"",
			`alarms[0].url: found "mail:25", expected smtp://host:port`},
		{"kind = \"email\"\nto = [\"a@example.org\"]", `alarms[0].from: found ""`},
		{hook + good + "[[alarms]]\n" + hook + good,
			`alarms[1].name: found "webhook-1", which alarms[0] has too`},
		{hook + good + "[[alarms]]\ntenant = \"other\"\n" + hook + good, ""},
		{hook + good + "[[kitchens]]", ""},
		{hook + good + "[[kitchens]]\ntenant = \"a\"\n[[tokens]]\ntenant = \"b\"\nfile = \"" + word + `"`,
			`alarms[0].tenant: found "main", expected the tenant of a kitchen or token: a, b`},
		{hook + good + "tenant = \"b\"\n[[tokens]]\ntenant = \"b\"\nfile = \"" + word + `"`, ""},
		{hook + `url = "https://10.0.0.1/x"`, `alarms[0].url: found "https://10.0.0.1/x", expected a ` +
			`host on the Internet, or private = true`},
		{hook + `url = "https://[::1]:8443/x"`, "alarms[0].url: found"},
		{hook + `url = "https://LocalHost./x"`, "alarms[0].url: found"},
		{hook + `url = "https://93.184.216.34/x"`, ""},
		{"kind = \"ntfy\"\nurl = \"https://192.168.1.4/topic\"", "or private = true"},
		{"kind = \"ntfy\"\nurl = \"https://192.168.1.4/topic\"\nprivate = true", ""},
		{"kind = \"ntfy\"\nurl = \"https://ntfy.sh/\"",
			`alarms[0].url: found "https://ntfy.sh/", expected https://host/topic`},
		{"kind = \"ntfy\"\nurl = \"https://ntfy.sh\"", "a push needs a topic"},
		{hook + `url = "https://example.org:99999/x"`, "expected a port of 1 to 65535, not 99999"},
		{hook + `url = "https://example.org:0/x"`, "expected a port of 1 to 65535, not 0"},
		{strings.Replace(mail, "587", "70000", 1) + `to = ["a@example.org"]`,
			"expected a port of 1 to 65535, not 70000"},
	} {
		_, err := configuration(t, "[[alarms]]\n"+c.lines)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.lines, err)
		case c.want != "" && (!errors.Is(err, config.ErrConfig) ||
			!strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.lines, err, c.want)
		}
	}
}

func TestOpeningHoursThatCannotBeAreToldWithTheirKey(t *testing.T) {
	conf, err := configuration(t, "[[kitchens]]\nopen = [\"mon-fri 11:00-14:30\"]")
	if err != nil || len(conf.Kitchens[0].Open) != 1 {
		t.Fatal(err)
	}
	_, err = configuration(t, "[[kitchens]]\nopen = [\"daily 11:00-23:00\", \"noon\"]")
	if err == nil || !strings.Contains(err.Error(),
		`kitchens[0].open[1]: found "noon", expected days and times such as "mon-fri 11:00-14:30"`) {
		t.Error(err)
	}
}

func TestARecipientIsADestinationOfItsOwn(t *testing.T) {
	conf, err := configuration(t, "[[alarms]]\nkind = \"email\"\nurl = \"smtp://127.0.0.1:25\"\n"+
		"from = \"c@example.org\"\nto = [\"a@example.org\", \"b@example.org\"]\nlevel = 2")
	if err != nil {
		t.Fatal(err)
	}
	list, err := conf.destinations(time.Now)
	if err != nil || len(list) != 2 || list[0].Name != "email-2-to1" ||
		list[1].Name != "email-2-to2" ||
		list[1].Level != 2 || list[0].Sender == list[1].Sender {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestSilenceAlarmAndCanaryAreOffUntilTheyAreAskedFor(t *testing.T) {
	conf, err := configuration(t, "[[kitchens]]\nopen = [\"daily 11:00-14:30\"]")
	if err != nil || conf.Kitchens[0].SilenceAlarm || conf.Kitchens[0].Canary != 0 ||
		conf.Kitchens[0].SilenceSeverity != "P2" {
		t.Fatalf("%+v, %v", conf.Kitchens, err)
	}
	for _, c := range []struct{ lines, want string }{
		{"open = [\"daily 11:00-14:30\"]\ncanary = \"10m\"\nsilence_alarm = true", ""},
		{"open = [\"daily 11:00-14:30\"]\ncanary = \"0s\"", ""},
		{`silence_severity = "P1"`, ""},
		{`canary = "10m"`, "kitchens[0].canary: found 10m0s, but kitchens[0].open says nothing of"},
		{"open = [\"daily 00:00-24:00\"]\ncanary = \"10m\"", "kitchens[0].canary: found 10m0s, but"},
		{"open = [\"daily 11:00-14:30\"]\ncanary = \"3h\"",
			"kitchens[0].canary: found 3h0m0s, expected 1m0s to 2h0m0s before opening"},
		{"open = [\"daily 11:00-14:30\"]\ncanary = \"-1m\"", "kitchens[0].canary: found -1m0s"},
		{`silence_severity = "P3"`, `kitchens[0].silence_severity: found "P3", expected P1 or P2`},
	} {
		_, err := configuration(t, "[[kitchens]]\n"+c.lines)
		if c.want == "" && err != nil ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.lines, err, c.want)
		}
	}
}
