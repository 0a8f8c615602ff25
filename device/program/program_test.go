package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/config"
	"chit/device/identity"
)

const usual = "/etc/chit/device.toml"

func TestTheCommandLineSaysWhatToDo(t *testing.T) {
	for _, tt := range []struct {
		args string
		want line
		bad  string // part of the error
	}{
		{"", line{config: usual}, ""},
		{"--config f --verbose", line{config: "f", verbose: true}, ""},
		{"check --config f", line{command: "check", config: "f"}, ""},
		{"sample", line{command: "sample", config: usual}, ""},
		{"pair --config f --url u code",
			line{command: "pair", config: "f", url: "u", code: "code"}, ""},
		{"--version", line{version: true, config: usual}, ""},
		{"pair --help", line{command: "pair", asHelp: true, config: usual}, ""},
		{"retire --config f --yes", line{command: "retire", config: "f", yes: true}, ""},
		{"press --config f", line{command: "press", config: "f"}, ""},
		{"press --long", line{command: "press", config: "/etc/chit/device.toml", long: true}, ""},
		{"check --long", line{}, "--long is for press only"},
		{"press f", line{}, `unexpected argument "f"`},
		{"retire", line{}, "retire deletes"},
		{"check --yes", line{}, "--yes is for retire only"},
		{"pair code", line{}, "pair needs"},
		{"pair --url u", line{}, "pair needs"},
		{"pair --url u a b", line{}, "pair needs"},
		{"frob", line{}, `unknown command "frob"`},
		{"--frob", line{}, "-frob"},
		{"check f", line{}, `unexpected argument "f"`},
	} {
		got, err := parse("chitd", strings.Fields(tt.args))
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

func TestTheSampleNamesWhatIsMissing(t *testing.T) {
	var sample, said bytes.Buffer
	if err := Run(t.Context(), "chitd", "1", []string{"sample"}, &sample, &said); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "device.toml")
	if err := os.WriteFile(path, sample.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nobody but the owner knows the printer's address.
	err := Run(t.Context(), "chitd", "1", []string{"check", "--config", path}, &said, &said)
	if !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), path+":") {
		t.Errorf("got %v, want an error that names a line of %s", err, path)
	}
}

func TestAnErrorHasAHint(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{usage{errors.New("x")}, "--help"}, {config.ErrConfig, "sample shows"},
		{os.ErrNotExist, "sample >"}, {identity.ErrEnrolled, "one broker"},
		{identity.ErrRefused, "chit devices pair"}, {errors.New("x"), ""},
	} {
		if hint := Hint("chitd", tt.err); !strings.Contains(hint, tt.want) ||
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
		if code := Main("chitd", "1", strings.Fields(tt.args), &out, &out); code != tt.want {
			t.Errorf("%q: exit %d, want %d: %s", tt.args, code, tt.want, out.String())
		}
	}
}
