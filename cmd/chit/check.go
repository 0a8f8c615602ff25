package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/device/journal"
)

// checked is what chit check found, as it is told to machines.
type checked struct {
	Journal *checkedJournal `json:"journal,omitempty"`
	Store   *checkedStore   `json:"store,omitempty"`
}

type checkedJournal struct {
	Path       string   `json:"path"`
	ID         string   `json:"id"`
	Bytes      int64    `json:"bytes"`
	Boot       uint64   `json:"boot"`
	Remembered int      `json:"remembered"`
	Unfinished int      `json:"unfinished"`
	Unanswered int      `json:"unanswered"`
	Intents    int      `json:"intents"`
	Problems   []string `json:"problems"`
}

type checkedStore struct {
	Path     string   `json:"path"`
	Problems []string `json:"problems"`
}

func newCheck() *cobra.Command {
	var data, journalPath, storePath string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Prove a journal or a store sound",
		Long: `Reads a device's journal and a broker's store whole and compares all that must fit
together. Nothing is changed. The program that owns the file must be stopped. Exit 0 only if
everything is sound.`,
		Example: "  chit check --data /var/lib/chit\n  chit check --journal /var/lib/chitd/journal.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if data != "" {
				journalPath = filepath.Join(data, "device", "journal.db")
				storePath = filepath.Join(data, "broker", "broker.db")
			}
			if journalPath == "" && storePath == "" {
				return misuse("give --data DIR, --journal FILE or --store FILE",
					"there is nothing to check")
			}
			found, err := check(journalPath, storePath)
			if errors.Is(err, journal.ErrInUse) || errors.Is(err, bolt.ErrInUse) {
				return hinted{err, "stop the program that owns the file first"}
			}
			if errors.Is(err, store.ErrDamaged) {
				err = hinted{err, restoreStore}
			}
			if asJSON {
				err = errors.Join(printJSON(c.OutOrStdout(), found), err)
			} else {
				found.write(c.OutOrStdout())
			}
			return err
		},
	}
	c.Flags().StringVar(&data, "data", "", "folder of chit up")
	c.Flags().StringVar(&journalPath, "journal", "", "a device's journal")
	c.Flags().StringVar(&storePath, "store", "", "a broker's store")
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object, for machines")
	return c
}

// restoreStore is the hint about a damaged store.
const restoreStore = "move the store aside and restore a copy of it in its place"

// errUnsound is the exit of a check that found a broken promise.
var errUnsound = errors.New("not sound")

// check looks at both files where they are named. It returns what it found and an error where
// anything is wrong.
func check(journalPath, storePath string) (found checked, err error) {
	if journalPath != "" {
		j, failed := checkJournal(journalPath)
		found.Journal, err = j, failed
	}
	if storePath != "" {
		s, failed := checkStore(storePath)
		found.Store, err = s, errors.Join(err, failed)
	}
	return found, err
}

func checkJournal(path string) (*checkedJournal, error) {
	r, err := journal.Check(path)
	if err != nil {
		return nil, err
	}
	found := &checkedJournal{Path: path, ID: r.Journal, Bytes: r.Bytes, Boot: r.Boot,
		Remembered: r.Ids, Unfinished: r.Unfinished, Unanswered: r.Unanswered, Intents: r.Intents,
		Problems: append([]string{}, r.Problems...)}
	if len(r.Problems) > 0 {
		return found, fmt.Errorf("journal %s is %w: %d problems", path, errUnsound, len(r.Problems))
	}
	return found, nil
}

func checkStore(path string) (*checkedStore, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("checking the store: %w", err) // Opening would make a new one.
	}
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return nil, err
	}
	found := &checkedStore{Path: path, Problems: []string{}}
	if err := s.Check(); err != nil {
		found.Problems = append(found.Problems, err.Error())
	}
	if err := s.Close(); err != nil {
		return found, err
	}
	if len(found.Problems) > 0 {
		return found, fmt.Errorf("store %s is %w", path, errUnsound)
	}
	return found, nil
}

// write tells it to people.
func (f checked) write(w io.Writer) {
	if j := f.Journal; j != nil {
		fmt.Fprintf(w, "journal %s: %s\n  %d bytes, boot %d, %d ids remembered, %d unfinished, "+
			"%d unanswered, %d intents\n", j.Path, soundness(j.Problems), j.Bytes, j.Boot, j.Remembered,
			j.Unfinished, j.Unanswered, j.Intents)
		writeProblems(w, j.Problems)
	}
	if s := f.Store; s != nil {
		fmt.Fprintf(w, "store %s: %s\n", s.Path, soundness(s.Problems))
		writeProblems(w, s.Problems)
	}
}

func soundness(problems []string) string {
	if len(problems) > 0 {
		return "not sound"
	}
	return "sound"
}

func writeProblems(w io.Writer, problems []string) {
	for _, p := range problems {
		fmt.Fprintln(w, "  problem:", p)
	}
}
