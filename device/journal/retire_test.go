package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRetiredJournalIsKeptUnderAnotherName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if aside, err := Retire(path); aside != "" || err != nil {
		t.Fatalf("retiring nothing: %q, %v", aside, err)
	}
	for _, want := range []string{path + ".retired-1", path + ".retired-2"} {
		j := open(t, path, Options{Reserve: -1})
		id := j.ID()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		aside, err := Retire(path)
		if err != nil || aside != want {
			t.Fatalf("retired as %q, %v; want %q", aside, err, want)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the journal is still there: %v", err)
		}
		if old := open(t, aside, Options{Reserve: -1}); old.ID() != id {
			t.Errorf("the retired journal is another one")
		}
	}
}
