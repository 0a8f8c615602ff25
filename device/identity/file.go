package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeFile replaces a file as a whole. A power cut leaves the old one or the new one: the new
// bytes are flushed before the rename, and the rename before writeFile returns.
func writeFile(dir, name string, value any) error {
	return placeFile(dir, name, value, os.Rename)
}

// writeNewFile is writeFile where there must be no such file yet: the first of several programs
// wins, and the others get an error that wraps fs.ErrExist.
func writeNewFile(dir, name string, value any) error {
	return placeFile(dir, name, value, func(from, to string) error {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	})
}

func placeFile(dir, name string, value any, place func(from, to string) error) (err error) {
	raw, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		return fmt.Errorf("identity: encoding %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("identity: making the folder: %w", err)
	}
	// CreateTemp makes the file 0600.
	f, err := os.CreateTemp(dir, name+".tmp-*")
	if err != nil {
		return fmt.Errorf("identity: writing %s: %w", name, err)
	}
	placed := false
	defer func() {
		if !placed {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("identity: writing %s: %w", name, err)
	}
	if err = place(f.Name(), filepath.Join(dir, name)); err != nil {
		return fmt.Errorf("identity: replacing %s: %w", name, err)
	}
	placed = true
	return syncDir(dir) // On an error the new file stands, but may not survive a power cut.
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("identity: opening the folder: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("identity: flushing the folder: %w", err)
	}
	return nil
}
