package service

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestSocketOfAKilledProcessIsReplacedAndNoOtherFile(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "http")
	l, err := net.Listen("unix", old)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // As a kill leaves it.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := listen("unix:" + old)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()

	journal := filepath.Join(dir, "journal.db")
	if err := os.WriteFile(journal, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(journal, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{journal, link} {
		if l, err := listen("unix:" + path); err == nil {
			t.Errorf("%s was replaced by a socket", filepath.Base(path))
			l.Close()
		}
	}
	if text, err := os.ReadFile(journal); err != nil || string(text) != "dear" {
		t.Errorf("the journal reads %q, %v", text, err)
	}
}
