package crash

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"chit/failpoint"
	"chit/printer/profile"
	"chit/rig"
)

// rounds is how often a program is killed at each place and in each setting.
var rounds = flag.Int("crash.rounds", 3, "kills at each failpoint and with each kind of printer")

// programs is the folder of the programs under test.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests wait for other processes most of the time, so they may be more than the cores.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if programs, err = os.MkdirTemp("", "chit-crash-"); err != nil {
		return 0, err
	}
	defer func() {
		if gone := os.RemoveAll(programs); err == nil {
			err = gone
		}
	}()
	build := exec.Command("go", "build", "-tags", "failpoint", "-o", programs+"/",
		"chit/cmd/chit-broker", "chit/cmd/chitd")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// patience bounds every test's wait for what must come.
const patience = 3 * time.Minute

// arm makes the program die at the nth passage of a failpoint from now on; the programs read the
// file at each passage.
func arm(t *testing.T, p *rig.Process, point string, nth int) {
	t.Helper()
	armText(t, p, fmt.Sprintf("%s:%d", point, nth))
}

// armText is arm with the text as the failpoint package reads it.
func armText(t *testing.T, p *rig.Process, text string) {
	t.Helper()
	file := armFile(p)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func armFile(p *rig.Process) string {
	return filepath.Join(filepath.Dir(p.Log), p.Name+".failpoint")
}

// deathMax bounds the wait for a program to reach its failpoint.
const deathMax = time.Minute

// die waits until the program has been killed by its failpoint.
func die(ctx context.Context, t *testing.T, p *rig.Process, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, deathMax)
	defer cancel()
	select {
	case <-p.Ended():
	case <-ctx.Done():
		t.Fatalf("%s did not die at %s: %v", p.Name, what, ctx.Err())
	}
}

// install starts a rig whose programs can be armed. Its folder is kept where the test fails.
func install(ctx context.Context, t *testing.T, conf rig.Config) *rig.Rig {
	t.Helper()
	if conf.Dir == "" {
		conf.Dir = t.TempDir()
	}
	conf.Broker = []string{filepath.Join(programs, "chit-broker")}
	if conf.Printer.WidthDots == 0 {
		conf.Printer = rig.Model(profile.Safe80())
	}
	if conf.Device != nil {
		conf.Device = []string{filepath.Join(programs, "chitd")}
	}
	for name, env := range map[string]*[]string{"broker": &conf.BrokerEnv, "device": &conf.DeviceEnv} {
		file := filepath.Join(conf.Dir, name+".failpoint")
		*env = append(*env, failpointVariable+"=@"+file)
	}
	r, err := rig.Start(ctx, conf)
	if err != nil {
		t.Fatalf("%v\n%s", err, logs(conf.Dir))
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(logs(conf.Dir))
		}
	})
	return r
}

// failpointVariable is failpoint.Variable, which only builds with the tag have.
const failpointVariable = "CHIT_FAILPOINT"

// logs is the end of what the programs wrote.
func logs(dir string) string {
	const most = 6000
	var all string
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return err.Error()
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if len(raw) > most {
			raw = raw[len(raw)-most:]
		}
		all += "--- " + filepath.Base(name) + "\n" + string(raw)
	}
	return all
}

// patienceFor is the patience of a test with n rounds of many kills.
func patienceFor(n int) time.Duration { return patience * time.Duration(1+n/10) }

// bounded is a context for one test.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// points are the names of one program's failpoints that some door leads to.
func points(program string) []string {
	var names []string
	for _, name := range failpoint.Names {
		if _, unreached := failpoint.Unreached[name]; !unreached &&
			len(name) > len(program) && name[:len(program)+1] == program+"." {
			names = append(names, name)
		}
	}
	return names
}
