package program

import (
	"errors"
	"fmt"
	"io"
	"os"

	"chit/device/identity"
	"chit/device/journal"
	"chit/device/service"
)

// retire ends what this device is to its broker (DESIGN section 4: a change of tenant retires
// journal and keys). The keys go first: whatever stops it half-way, nobody can speak for the old
// device any more. It may be repeated.
func retire(conf service.Config, out io.Writer) error {
	report, err := journal.Check(conf.JournalPath())
	switch {
	case errors.Is(err, journal.ErrInUse):
		return fmt.Errorf("retiring: %w", err)
	case err == nil && report.Unfinished > 0:
		fmt.Fprintf(out, "unfinished tickets in its memory: %d; they are not printed here any more\n",
			report.Unfinished)
	}
	// A journal that is damaged, or of another format, is put aside as it is.
	if _, err := os.Stat(conf.IdentityDir()); err == nil {
		if err := identity.Retire(conf.IdentityDir()); err != nil {
			return fmt.Errorf("retiring: %w", err)
		}
	}
	aside, err := journal.Retire(conf.JournalPath())
	if err != nil {
		return fmt.Errorf("retiring: keys are deleted, but: %w", err)
	}
	if aside == "" {
		aside = "none was there"
	}
	_, err = fmt.Fprintf(out, "retired: keys deleted, journal: %s\n", aside)
	return err
}
