package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// demoMark is the file by which a folder is known as a demo's own.
const demoMark = "chit-demo"

// demoFiles is what a demo leaves behind.
var demoFiles = []string{"broker", "broker.log", "broker.toml", "device", "device.log",
	"device.toml", "paper", "token"}

// demoFolder makes the folder, a new one where dir is empty, and locks it. What an earlier demo
// left is removed; a folder of anything else is refused.
func demoFolder(dir *string) (unlock func() error, err error) {
	if *dir == "" {
		*dir, err = os.MkdirTemp("", "chit-demo-")
	} else if *dir, err = filepath.Abs(*dir); err == nil {
		err = os.MkdirAll(*dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	entries, err := os.ReadDir(*dir)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	marked := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == demoMark })
	if len(entries) > 0 && !marked {
		return nil, misuse("name a new folder",
			"--out: %s is not empty and is not an earlier demo's", *dir)
	}
	if unlock, err = lockFile(filepath.Join(*dir, demoMark)); err != nil {
		if errors.Is(err, errLocked) {
			return nil, misuse("name another folder", "--out: a demo is running in %s", *dir)
		}
		return nil, fmt.Errorf("--out: %w", err)
	}
	for _, name := range demoFiles {
		if err := os.RemoveAll(filepath.Join(*dir, name)); err != nil {
			return nil, errors.Join(fmt.Errorf("--out: %w", err), unlock())
		}
	}
	return unlock, nil
}
