package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// every calls f with the root and all commands below it.
func every(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		every(sub, f)
	}
}

func TestEveryCommandTeachesByExample(t *testing.T) {
	every(newRoot(), func(c *cobra.Command) {
		if c.Short == "" || !strings.Contains(c.Example, "chit") {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
	})
}

func TestHelpFitsATerminal(t *testing.T) {
	every(newRoot(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > helpColumns+5 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

func TestWrongUseIsToldFromFailure(t *testing.T) {
	for _, tt := range []struct {
		args  string
		wrong bool
	}{
		{"frob", true}, {"demo --orders x", true}, {"demo --orders 10001", true},
		{"send", true}, {"trace a b", true}, {"devices revoke d", true}, {"wire decode a b", true},
		{"check", true}, {"check --store /nonexistent", false},
		{"trace --url http://127.0.0.1:1 --token-file /nonexistent 1/1", false},
		{"up --data x --printer usb:04b8", true},
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(tt.args))
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&bytes.Buffer{})
		err := root.ExecuteContext(t.Context())
		var wrong wrongUse
		if err == nil || errors.As(err, &wrong) != tt.wrong {
			t.Errorf("chit %s: %v, wrong use is %v", tt.args, err, !tt.wrong)
		}
	}
}
