package transporttest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestADialogueIsPlayedToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script, err := Read(`
			# a printer that wakes up late
			refuse
			connect
			> 10 04 01
			wait 3s
			< 16 {id} "ok"
			> 3*00
			close
		`, map[string][]byte{"id": {0x37, 0x22}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := script.Dial(t.Context()); err == nil {
			t.Error("the first dial was not refused")
		}
		conn, err := script.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		send(t, conn, []byte{0x10, 0x04, 0x01})
		if got := read(t, conn, 5); string(got) != "\x16\x37\x22ok" {
			t.Errorf("got %q", got)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("waited %v", took)
		}
		send(t, conn, []byte{0, 0, 0})
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the end", err)
		}
		if err := script.Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatDoesNotFollowTheDialogueIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, said, want string }{
		{"other bytes", "\x10\x04\x02", "line 2: expected 10 04 01, got 10 04 02"},
		{"too few", "\x10", "line 2: expected 10 04 01, got 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script, err := Read("connect\n> 10 04 01\nconnect", nil)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := script.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			send(t, conn, []byte(c.said))
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			got := script.Err()
			if got == nil || !strings.Contains(got.Error(), c.want) ||
				!strings.Contains(got.Error(), "line 3: nobody dialled") {
				t.Errorf("got %v, want %q and the missing dial", got, c.want)
			}
		})
	}
}

func TestABadDialogueSaysWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"> 10", "line 1"},
		{"connect\n> 1", "hex pairs"},
		{"connect\n> {body}", `"body"`},
		{"connect\n> \"open", "not closed"},
		{"connect\nwait long", "line 2"},
		{"connect\nsleep 3s", "no step"},
		{"refuse\n> 10", "before any connect"},
	} {
		_, err := Read(c.text, nil)
		if !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}
