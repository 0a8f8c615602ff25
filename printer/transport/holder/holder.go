// Package holder says which process has a device node open, for the hint of an error: usblp lets
// one program in, and people want to know which.
package holder

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Holder is one process that has the node open.
type Holder struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // of its program, as the kernel shortens it (15 characters)
}

// String is "cupsd (process 812)".
func (h Holder) String() string { return h.Name + " (process " + strconv.Itoa(h.PID) + ")" }

// Of lists the processes below proc (usually /proc) that have node open, lowest number first. Only
// root sees other users' processes, and a service with ProtectProc= sees none: an empty list says
// nothing.
func Of(proc, node string) []Holder {
	if real, err := filepath.EvalSymlinks(node); err == nil {
		node = real
	}
	links, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	if err != nil {
		return nil
	}
	var found []Holder
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || target != node {
			continue
		}
		process := filepath.Dir(filepath.Dir(link))
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil || slices.ContainsFunc(found, func(h Holder) bool { return h.PID == pid }) {
			continue
		}
		name := "a program"
		if raw, err := os.ReadFile(filepath.Join(process, "comm")); err == nil {
			name = strings.TrimSpace(string(raw))
		}
		found = append(found, Holder{PID: pid, Name: name})
	}
	slices.SortFunc(found, func(a, b Holder) int { return cmp.Compare(a.PID, b.PID) })
	return found
}

// Hint says in words who has node, or where to look.
func Hint(proc, node string) string {
	var names []string
	for _, h := range Of(proc, node) {
		if h.PID != os.Getpid() {
			names = append(names, h.String())
		}
	}
	if len(names) == 0 {
		return "perhaps CUPS or a second chitd: as root, fuser -v " + node + " tells"
	}
	return strings.Join(names, ", ") + " has it open"
}
