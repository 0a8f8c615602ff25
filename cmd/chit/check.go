package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chit/broker/store/bolt"
	"chit/device/journal"
)

func newCheck() *cobra.Command {
	var data, journalPath, storePath string
	c := &cobra.Command{
		Use:   "check",
		Short: "Prove a journal or a store sound",
		Long: `Reads a device's journal and a broker's store whole and compares all that must fit together. Nothing is
changed. The program that owns the file must be stopped.`,
		Example: "  chit check --data /var/lib/chit\n  chit check --journal /var/lib/chitd/journal.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if data != "" {
				journalPath = filepath.Join(data, "device", "journal.db")
				storePath = filepath.Join(data, "broker", "broker.db")
			}
			if journalPath == "" && storePath == "" {
				return hinted{fmt.Errorf("%w: nothing named", errUsage),
					"give --data DIR, --journal FILE or --store FILE"}
			}
			return errors.Join(checkJournal(c, journalPath), checkStore(c, storePath))
		},
	}
	c.Flags().StringVar(&data, "data", "", "folder of chit up")
	c.Flags().StringVar(&journalPath, "journal", "", "a device's journal")
	c.Flags().StringVar(&storePath, "store", "", "a broker's store")
	return c
}

func checkJournal(c *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	r, err := journal.Check(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "journal %s: %d bytes, boot %d, %d ids remembered, %d unfinished, "+
		"%d unanswered, %d intents\n", r.Journal, r.Bytes, r.Boot, r.Ids, r.Unfinished, r.Unanswered,
		r.Intents)
	for _, p := range r.Problems {
		fmt.Fprintln(c.OutOrStdout(), "  problem:", p)
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("%s: %d problems", path, len(r.Problems))
	}
	return nil
}

func checkStore(c *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return err // Opening would make a new store.
	}
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	err = errors.Join(s.Check(), s.Close())
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "store %s: sound\n", path)
	}
	return err
}
