package desk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
	"chit/broker/store/bolt"
)

// crashFile names the file that the child works on.
const crashFile = "CHIT_TEST_CRASH_FILE"

// TestMain turns the test's own binary into the child that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashFile); path != "" {
		if err := produceForEver(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// produceForEver counts up eight counters and writes each answer as "counter value" after it came.
func produceForEver(path string, out io.Writer) error {
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	d := desk.New(desk.Config{Store: s})
	var group sync.WaitGroup
	for p := range 8 {
		group.Go(func() {
			counter := strconv.Itoa(p)
			for {
				a, err := d.Do(context.Background(), add{counter: counter, by: 1})
				if err != nil {
					return
				}
				// One write a line: the pipe keeps it whole.
				if _, err := fmt.Fprintf(out, "%s %s\n", counter, a.Data); err != nil {
					return
				}
			}
		})
	}
	err = d.Run(context.Background())
	group.Wait()
	return err
}

// TestWhatWasAnsweredSurvivesAKill kills the process in the middle of its work, again and again on
// one file. Every answer that came out must be found afterwards, and nothing may be counted that
// was neither answered nor in flight: one command per producer.
func TestWhatWasAnsweredSurvivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	random := rand.New(rand.NewPCG(1, 1))
	answered := map[string]int{}
	for round := range 10 {
		kill(t, path, 1+random.IntN(200), answered)
		s, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for counter, said := range answered {
			found := stored(t, s, counter)
			if found < said || found > said+1 {
				t.Errorf("round %d: counter %s answered %d, found %d", round, counter, said, found)
			}
			answered[counter] = found
		}
		if err := errors.Join(s.Check(), s.Close()); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

func stored(t *testing.T, s store.Store, counter string) int {
	t.Helper()
	state, err := s.Load(entity.Key{Tenant: "t1", Kind: "counter", ID: counter})
	if err != nil || state.Version == 0 {
		t.Fatalf("counter %s: version %d, %v", counter, state.Version, err)
	}
	value, err := strconv.Atoi(string(state.Data))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// kill runs the child, kills it after some answers, and keeps all the answers that came out.
func kill(t *testing.T, path string, after int, answered map[string]int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashFile+"="+path)
	var complaints strings.Builder
	child.Stderr = &complaints
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		counter, value, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.Atoi(value)
		if err != nil {
			t.Errorf("child said %q", lines.Text())
			continue
		}
		answered[counter] = number
		if n == after {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || complaints.Len() > 0 {
		t.Fatalf("the child ended by itself: %v, %s", err, complaints.String())
	}
}
