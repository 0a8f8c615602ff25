package crashdisk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// judges say what became of the promises, by the workload whose file they open.
var judges = map[string]func(folder string, facts []fact, seed uint64) error{
	journalName: judgeDevice,
	storeName:   judgeStore,
}

// judgeOf begins the workload's name of a process that judges.
const judgeOf = "judge of "

// question and verdict are what a judge reads and writes, one JSON value each.
type question struct {
	Folder string
	Facts  []fact
	Seed   uint64
}

type verdict struct{ Broken string }

// judge answers questions until there are no more. It is a process of its own, because bbolt walks
// a file in a goroutine when it opens it: a broken page there is a panic that nobody can catch, and
// a program that dies at its start is a verdict, too.
func judge(workload string, in io.Reader, out io.Writer) error {
	questions, verdicts := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		switch err := questions.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var v verdict
		if err := judges[workload](q.Folder, q.Facts, q.Seed); err != nil {
			v.Broken = err.Error()
		}
		if err := verdicts.Encode(v); err != nil {
			return err
		}
	}
}

// bench is a running judge.
type bench struct {
	workload string
	process  *exec.Cmd
	in       io.WriteCloser
	out      *json.Decoder
	said     strings.Builder // to stderr
}

// errDied says that the start-up code ended the process.
var errDied = errors.New("the process died over what was left")

func (b *bench) ask(q question) error {
	if b.process == nil {
		if err := b.start(); err != nil {
			return err
		}
	}
	err := json.NewEncoder(b.in).Encode(q)
	var v verdict
	if err == nil {
		err = b.out.Decode(&v)
	}
	switch {
	case err != nil:
		// It can only have died; whatever it held is free when it is waited for.
		return fmt.Errorf("%w: %w: %.300s", errDied, errors.Join(err, b.stop()), b.said.String())
	case v.Broken != "":
		return errors.New(v.Broken)
	}
	return nil
}

func (b *bench) start() (err error) {
	b.said.Reset()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), childOf+"="+judgeOf+b.workload)
	c.Stderr = &b.said
	if b.in, err = c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	b.out, b.process = json.NewDecoder(out), c
	return c.Start()
}

// stop ends the judge and waits for it. It may be called twice.
func (b *bench) stop() error {
	if b.process == nil {
		return nil
	}
	closed := b.in.Close()
	if errors.Is(closed, os.ErrClosed) {
		closed = nil
	}
	err := errors.Join(closed, b.process.Wait())
	b.process = nil
	return err
}
