package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chit/broker/service"
	"chit/broker/store/bolt"
)

func TestTheOwnerSaysThatTheFolderWasSetBack(t *testing.T) {
	dir := t.TempDir()
	var sample bytes.Buffer
	if err := Run(t.Context(), "chit-broker", "1", []string{"sample"}, &sample, &sample); err != nil {
		t.Fatal(err)
	}
	path, data := filepath.Join(dir, "broker.toml"), filepath.Join(dir, "data")
	if err := os.WriteFile(path, sample.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CHIT_BROKER_DATA", data)
	run := func() (string, error) {
		var said bytes.Buffer
		err := Run(t.Context(), "chit-broker", "1", []string{"restored", "--config", path}, &said, &said)
		return said.String(), err
	}
	if said, err := run(); !errors.Is(err, service.ErrNoStore) {
		t.Errorf("without a store: %v, %s", err, said)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Error("a store was made")
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	options := bolt.Options{Mark: filepath.Join(data, "broker.mark")}
	s, err := bolt.Open(filepath.Join(data, "broker.db"), options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(); !errors.Is(err, bolt.ErrInUse) || Hint("chit-broker", err) == "" {
		t.Errorf("while it is open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"generation 2, was 1", "generation 3, was 2"} {
		if said, err := run(); err != nil || !strings.Contains(said, want) {
			t.Errorf("%v: %s, want %s", err, said, want)
		}
	}
	if s, err = bolt.Open(filepath.Join(data, "broker.db"), options); err != nil {
		t.Fatal(err)
	}
	if o := s.Origin(); o.Why != "" || o.Is != 3 {
		t.Errorf("the next start: %+v", o)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
