package raster

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"chit/printer/escpos"
)

func TestSeveralPrintersShareADrawer(t *testing.T) {
	texts := []string{"2 ชา", "2 תה", "2 茶", "2 चाय", "2 شاي", "2 ☕", "2 ቡና", "2 ชา"}
	var want [][]escpos.Image
	for _, text := range texts {
		want = append(want, drawn(t, plain(text), grid80))
	}
	drawer := New(Fonts{})
	var wait sync.WaitGroup
	for i, text := range texts {
		wait.Go(func() {
			for range 5 {
				got, err := drawer.Line(plain(text), grid80)
				if err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%q looks different beside others, %v", text, err)
				}
			}
		})
	}
	wait.Wait()
}

// torn reads the first bytes of a file and fails after them, as a disk that dies.
type torn struct {
	io.ReaderAt
	end int64
}

var errTorn = errors.New("input/output error")

func (r torn) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > r.end {
		return 0, errTorn
	}
	return r.ReaderAt.ReadAt(p, offset)
}

func TestAFontThatCannotBeReadIsLeftOut(t *testing.T) {
	file, err := os.Open(noto)
	if err != nil {
		t.Fatalf("%v: Debian's fonts-noto-cjk has it; .ci/prepare installs it", err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := one(t, plain("2 茶 龘"), grid80)
	extras := []io.ReaderAt{strings.NewReader(""), strings.NewReader(strings.Repeat("OTTO\x00", 99))}
	for end := int64(1); end < 19<<20; end *= 4 {
		extras = append(extras, torn{file, end})
	}
	for i, extra := range extras {
		images, err := New(Fonts{Extra: []io.ReaderAt{extra}}).Line(plain("2 茶 龘"), grid80)
		if err != nil || len(images) != 1 {
			t.Fatalf("font %d: %d images, %v; expected 1", i, len(images), err)
		}
		if !bytes.Equal(images[0].Rows, want.Rows) {
			t.Errorf("font %d: it does not look as without it", i)
		}
	}
}

func TestTheSystemsFontIsTakenForItsLanguage(t *testing.T) {
	_, _, system := drawers(t)
	form := func(text string) string {
		t.Helper()
		images, err := system.Line(plain(text), grid80)
		if err != nil {
			t.Fatal(err)
		}
		return strip(images[0], 0, 24)
	}
	// The character for bone is written in another way in Japan.
	if form("骨") == form("骨の") {
		t.Error("the Japanese form is the Chinese one")
	}
}
