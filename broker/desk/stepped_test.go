package desk_test

import (
	"errors"
	"path/filepath"
	"testing"

	"chit/broker/desk"
	"chit/broker/store/bolt"
)

func TestASteppedDeskAnswersOnlyWhatItsOwnerMadeDurable(t *testing.T) {
	s, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.Check(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	d := desk.NewStepped(desk.Config{Store: s})
	var answers []string
	submit := func() {
		err := d.Desk().Submit(add{counter: "a", by: 1}, func(a desk.Answer, err error) {
			if err != nil {
				answers = append(answers, "refused")
				return
			}
			answers = append(answers, string(a.Data))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, want ...string) {
		t.Helper()
		if len(answers) != len(want) {
			t.Fatalf("%s: answers %q, want %q", when, answers, want)
		}
		for i := range want {
			if answers[i] != want[i] {
				t.Fatalf("%s: answers %q, want %q", when, answers, want)
			}
		}
	}
	submit()
	submit()
	if err := d.Decide(); err != nil {
		t.Fatal(err)
	}
	first, ok := d.Begin()
	if !ok || len(first) != 2 {
		t.Fatalf("%d commits in the first batch (%v), want 2", len(first), ok)
	}
	submit()
	if err := d.Decide(); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Begin(); ok {
		t.Fatal("a second batch began while the first was in flight")
	}
	want("before the flush")
	d.End(s.Commit(first))
	want("after the flush", "1", "2")
	second, ok := d.Begin()
	if !ok || len(second) != 1 {
		t.Fatalf("%d commits in the second batch (%v), want 1", len(second), ok)
	}
	d.End(errors.New("disk"))
	want("after a failed flush", "1", "2", "refused")
	if err := d.Desk().Submit(add{counter: "a", by: 1}, nil); !errors.Is(err, desk.ErrStopped) {
		t.Errorf("after a failed flush Submit says %v, want %v", err, desk.ErrStopped)
	}
}
