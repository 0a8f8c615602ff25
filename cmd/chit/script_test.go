package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	broker "chit/broker/program"
	device "chit/device/program"
	"chit/rig"
)

// TestMain makes this binary stand for all programs, so that the scripts start and kill real
// processes.
func TestMain(m *testing.M) {
	programs := map[string]func(){"chit": main}
	for name, program := range map[string]func() int{
		"chit-broker": func() int {
			return broker.Main("chit-broker", "test", os.Args[1:], os.Stdout, os.Stderr)
		},
		"chitd": func() int {
			return device.Main("chitd", "test", os.Args[1:], os.Stdout, os.Stderr)
		},
		"door": tool(door), "ready": tool(ready), "until": tool(until), "exits": tool(exits),
		"paper": tool(paper), "hooks": tool(hooks), "mailbox": tool(mailbox),
	} {
		programs[name] = func() { os.Exit(program()) }
	}
	testscript.Main(m, programs)
}

// tool makes a program of a function: exit 1 with the error.
func tool(f func(ctx context.Context, args []string) error) func() int {
	return func() int {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		if err := f(ctx, os.Args[1:]); err != nil {
			_, _ = os.Stderr.WriteString(os.Args[0] + ": " + err.Error() + "\n")
			return 1
		}
		return 0
	}
}

// TestWhatAPersonSees runs testdata/script: one file for each behaviour that a person can see.
func TestWhatAPersonSees(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("TZ", "UTC")
			e.Setenv("GORACE", "atexit_sleep_ms=0") // Or each program ends a second late under -race.
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ports": ports2env, "field": field, "bigfile": bigfile,
		},
	})
}

// ports2env is "ports NAME...": each variable gets a loopback address that nobody listens on, and
// NAME_PORT its port alone.
func ports2env(ts *testscript.TestScript, _ bool, names []string) {
	free, err := rig.FreePorts(len(names))
	ts.Check(err)
	for i, name := range names {
		ts.Setenv(name, free[i])
		_, port, err := net.SplitHostPort(free[i])
		ts.Check(err)
		ts.Setenv(name+"_PORT", port)
	}
}

// field is "field NAME KEY": the variable gets a member of the JSON object, or of the only object
// in the JSON list, on the last standard output.
func field(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: field NAME KEY")
	}
	raw := []byte(ts.ReadFile("stdout"))
	var object map[string]any
	var list []map[string]any
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		object = list[0]
	} else {
		ts.Check(json.Unmarshal(raw, &object))
	}
	value, ok := object[args[1]].(string)
	if !ok {
		ts.Fatalf("no string %q in %s", args[1], raw)
	}
	ts.Setenv(args[0], value)
}

// bigfile is "bigfile FILE BYTES": a ticket whose note makes it as large as that.
func bigfile(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	body := `{"id":"big/1","kitchen":"main","station":"kitchen","kind":"new","order":"1","note":"`
	body += strings.Repeat("x", size-len(body)-2) + `"}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(body), 0o600))
}
