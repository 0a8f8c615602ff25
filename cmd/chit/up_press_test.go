package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	device "chit/device/service"
)

// buttons answers each press with the next of its figures, below 0 with an error.
type buttons struct{ answers []int }

func (b *buttons) Press(context.Context) (device.Seen, error) {
	n := b.answers[0]
	b.answers = b.answers[1:]
	if n < 0 {
		return device.Seen{}, errors.New("busy")
	}
	return device.Seen{Seen: n}, nil
}

func TestEachEnterIsAPress(t *testing.T) {
	var out bytes.Buffer
	pressByEnter(t.Context(), strings.NewReader("\n\nx\n"), &out, &buttons{[]int{2, -1, 0}})
	want := "tickets seen: 2\nnot pressed: busy\ntickets seen: 0\n"
	if got := out.String(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestOnlyATerminalHasTheKey(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if atTerminal(r) || atTerminal(strings.NewReader("\n")) {
		t.Error("a pipe is taken for a terminal")
	}
}
