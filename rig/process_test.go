package rig

import (
	"errors"
	"path/filepath"
	"testing"
)

// run starts a program that stays for as long as asked and tells what was heard of its death.
func run(t *testing.T, args ...string) (*Process, chan error) {
	t.Helper()
	died := make(chan error, 1)
	p := &Process{Name: "it", Args: args, Log: filepath.Join(t.TempDir(), "log"),
		Died: func(err error) { died <- err }}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p, died
}

func TestAProgramThatEndsByItselfIsTold(t *testing.T) {
	p, died := run(t, "false")
	<-p.Ended()
	if err := <-died; !errors.Is(err, ErrEnded) {
		t.Errorf("told %v, want ErrEnded", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("killing what has ended: %v", err)
	}
}

func TestAProgramThatIsKilledOrStoppedIsNotToldAsDead(t *testing.T) {
	for name, end := range map[string]func(*Process) error{
		"kill": (*Process).Kill, "stop": (*Process).Stop,
	} {
		p, died := run(t, "sleep", "600")
		if err := end(p); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-died:
			t.Errorf("%s: told %v", name, err)
		default:
		}
		if err := p.Start(); err != nil {
			t.Errorf("%s: starting it again: %v", name, err)
		}
		if err := end(p); err != nil {
			t.Error(err)
		}
	}
}
