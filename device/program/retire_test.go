package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/device/identity"
	"chit/device/journal"
)

// device is a state folder that does not exist yet, and a configuration that names it.
func device(t *testing.T) (state, config string) {
	t.Helper()
	dir := t.TempDir()
	state, config = filepath.Join(dir, "state"), filepath.Join(dir, "device.toml")
	text := "state = \"" + state + "\"\n[[printers]]\nurl = \"file:///dev/null\"\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return state, config
}

func TestRetireDeletesTheKeysAndPutsTheJournalAside(t *testing.T) {
	state, config := device(t)
	keys := filepath.Join(state, "identity", "keys.json")
	book := filepath.Join(state, "journal.db")
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := Run(t.Context(), "chitd", "1", append(args, "--config", config), &out, &out)
		return out.String(), err
	}
	before, err := identity.Fingerprint(filepath.Join(state, "identity"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(book, journal.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}

	t.Log("# not without --yes, and not beside a running daemon")
	if _, err := run("retire"); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("without --yes: %v", err)
	}
	_, err = run("retire", "--yes")
	if !errors.Is(err, journal.ErrInUse) || !strings.Contains(Hint("chitd", err), "stop") {
		t.Errorf("beside a daemon: %v", err)
	}
	for _, file := range []string{keys, book} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	t.Log("# done, and safe to repeat")
	if said, err := run("retire", "--yes"); err != nil || !strings.Contains(said, book+".retired-1") {
		t.Errorf("%v: %s", err, said)
	}
	for _, file := range []string{keys, book} {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
	if _, err := os.Stat(book + ".retired-1"); err != nil {
		t.Error(err)
	}
	if said, err := run("retire", "--yes"); err != nil || !strings.Contains(said, "none was there") {
		t.Errorf("again: %v: %s", err, said)
	}
	after, err := identity.Fingerprint(filepath.Join(state, "identity"))
	if err != nil || after == before {
		t.Errorf("the next keys are %s, before %s: %v", after, before, err)
	}
}

func TestADamagedJournalIsPutAsideToo(t *testing.T) {
	state, config := device(t)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	book := filepath.Join(state, "journal.db")
	if err := os.WriteFile(book, []byte("no journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Run(t.Context(), "chitd", "1", []string{"retire", "--yes", "--config", config}, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(book + ".retired-1"); err != nil || string(raw) != "no journal" {
		t.Errorf("%q, %v: want it unchanged", raw, err)
	}
}
