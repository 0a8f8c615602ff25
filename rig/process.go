package rig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// ErrEnded says that a program ended by itself; its log says why.
var ErrEnded = errors.New("a program ended by itself")

// Process is one program under test: really another process, so that killing it is real.
type Process struct {
	Name string
	Args []string // the program and its arguments
	Env  []string // added to this process's own
	Log  string   // file that its output is appended to
	// Died is told when the program ends without having been killed or stopped; nil tells nobody.
	Died func(error)

	cmd    *exec.Cmd
	ended  chan struct{}
	ending *atomic.Bool // set before this run is killed or stopped
	failed error        // valid once ended is closed
}

// Start runs the program; its log is appended to, so that it tells the story over all restarts.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.cmd = exec.Command(p.Args[0], p.Args[1:]...)
	p.cmd.Env = append(os.Environ(), p.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Dir = filepath.Dir(p.Log)
	// The programs must not outlive the demo, however it ends.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", p.Name, err), log.Close())
	}
	p.ended, p.ending = make(chan struct{}), &atomic.Bool{}
	go func(cmd *exec.Cmd, ended chan struct{}, ending *atomic.Bool) {
		p.failed = errors.Join(cmd.Wait(), log.Close())
		if !ending.Load() && p.Died != nil {
			p.Died(fmt.Errorf("%w: %s; see %s", ErrEnded, p.Name, p.Log))
		}
		close(ended)
	}(p.cmd, p.ended, p.ending)
	return nil
}

// Pid is the running program's process id, 0 where it does not run.
func (p *Process) Pid() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Pause is SIGSTOP: the program stands still with all its connections, until Resume.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume is SIGCONT.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(signal syscall.Signal) error {
	if p.cmd == nil {
		return fmt.Errorf("%s: %w", p.Name, os.ErrProcessDone)
	}
	return p.cmd.Process.Signal(signal)
}

// Paused reports whether the program stands still (proc_pid_stat(5), state T).
func (p *Process) Paused() bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	_, behind, found := bytes.Cut(raw, []byte(") "))
	return err == nil && found && bytes.HasPrefix(behind, []byte("T"))
}

// Kill is SIGKILL: nothing is flushed, nothing said.
func (p *Process) Kill() error { return p.end(syscall.SIGKILL) }

// Stop is SIGTERM and waits for the program to end by itself.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

func (p *Process) end(signal syscall.Signal) error {
	if p.cmd == nil {
		return nil
	}
	p.ending.Store(true)
	err := p.cmd.Process.Signal(signal)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s: %w", p.Name, err)
	}
	<-p.ended
	p.cmd = nil
	return nil
}

// Ended is closed when the program has ended by itself or by a failpoint; nil where it does not
// run.
func (p *Process) Ended() <-chan struct{} {
	if p.cmd == nil {
		return nil
	}
	return p.ended
}
