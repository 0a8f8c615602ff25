package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/broker/store"
	"chit/config"
)

func TestTheCommandLineSaysWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		args string
		want line
		bad  string // part of the error
	}{
		{"", line{config: "/etc/chit/broker.toml"}, ""},
		{"--config f --debug", line{config: "f", debug: true}, ""},
		{"check --config f", line{command: "check", config: "f"}, ""},
		{"restored --config f", line{command: "restored", config: "f"}, ""},
		{"sample", line{command: "sample", config: "/etc/chit/broker.toml"}, ""},
		{"--sample-config", line{sample: true, config: "/etc/chit/broker.toml"}, ""},
		{"--version", line{version: true, config: "/etc/chit/broker.toml"}, ""},
		{"--help", line{asHelp: true, config: "/etc/chit/broker.toml"}, ""},
		{"help", line{command: "help", asHelp: true, config: "/etc/chit/broker.toml"}, ""},
		{"frob", line{}, `unknown command "frob"`},
		{"--frob", line{}, "-frob"},
		{"check f", line{}, `unexpected argument "f"`},
	} {
		got, err := parse("chit-broker", strings.Fields(tt.args))
		switch {
		case tt.bad != "":
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%q: error %v, want wrong use with %q", tt.args, err, tt.bad)
			}
		case err != nil || got != tt.want:
			t.Errorf("%q: %+v, %v; want %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestTheSampleIsAConfigurationThatIsGood(t *testing.T) {
	var sample, said bytes.Buffer
	if err := Run(t.Context(), "chit-broker", "1", []string{"sample"}, &sample, &said); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "broker.toml")
	if err := os.WriteFile(path, sample.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), "chit-broker", "1", []string{"check", "--config", path}, &said, &said)
	if err != nil || !strings.Contains(said.String(), "good") {
		t.Errorf("%v: %s", err, said.String())
	}
}

func TestAnErrorHasAHint(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{usage{errors.New("x")}, "--help"}, {config.ErrConfig, "sample shows"},
		{os.ErrNotExist, "sample >"}, {store.ErrDamaged, "restore a copy"}, {errors.New("x"), ""},
	} {
		if hint := Hint("chit-broker", tt.err); !strings.Contains(hint, tt.want) ||
			(hint == "") != (tt.want == "") {
			t.Errorf("%v: hint %q, want %q", tt.err, hint, tt.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		args string
		want int
	}{
		{"--version", 0}, {"--help", 0}, {"--frob", 2}, {"--config /nonexistent", 1},
	} {
		var out bytes.Buffer
		if code := Main("chit-broker", "1", strings.Fields(tt.args), &out, &out); code != tt.want {
			t.Errorf("%q: exit %d, want %d: %s", tt.args, code, tt.want, out.String())
		}
	}
}

func TestACheckSaysHowMuchItRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.toml")
	text := "[[kitchens]]\nopen = [\"daily 11:00-23:00\"]\n[[kitchens.stations]]\nid = \"grill\"\n" +
		"backup = \"bar\"\n[[kitchens.stations]]\nid = \"bar\"\n[[kitchens]]\nid = \"second\"\n" +
		"[[alarms]]\nkind = \"ntfy\"\nurl = \"https://ntfy.example/topic\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	err := Run(t.Context(), "chit-broker", "1", []string{"check", "--config", path}, &said, &said)
	const want = ": good, 2 kitchens, 0 tokens, 2 stations, 1 alarms, 1 backups, " +
		"1 kitchens with opening hours\n"
	if err != nil || !strings.HasSuffix(said.String(), want) {
		t.Errorf("%v: %q, want its end to be %q", err, said.String(), want)
	}
}
