package file

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"chit/printer/transport/transporttest"
)

// drawer is the far end: what lies in the file after offset.
type drawer struct {
	t      *testing.T
	path   string
	offset int64
}

func (d drawer) Receive(n int) []byte {
	var got []byte
	for len(got) < n { // Writes are whole when they return, so this ends after the last one.
		all, err := os.ReadFile(d.path)
		if err != nil {
			d.t.Errorf("reading back: %v", err)
			return nil
		}
		got = all[d.offset:]
	}
	return got
}

func (d drawer) Say([]byte) { d.t.Error("a file was asked to speak") }
func (d drawer) HangUp()    { d.t.Error("a file was asked to hang up") }

func TestAFilePassesTheExam(t *testing.T) {
	transporttest.Exercise(t, func(t *testing.T) transporttest.Bench {
		path := filepath.Join(t.TempDir(), "out.bin")
		return transporttest.Bench{Dialer: New(path), Peer: func() transporttest.Peer {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			return drawer{t, path, info.Size()}
		}}
	})
}

func TestDocumentsAreAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.bin")
	for _, ticket := range []string{"one", "two"} {
		conn, err := New(path).Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(ticket)); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte("onetwo")) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAMissingFolderAndAFolderAreErrors(t *testing.T) {
	folder := t.TempDir()
	missing := New(filepath.Join(folder, "none", "out"))
	if _, err := missing.Dial(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: got %v", err)
	}
	if _, err := New(folder).Dial(t.Context()); err == nil {
		t.Error("a folder was opened as a printer")
	}
}
