// Command tidy checks this repository's own rules: which package may import what, what a pure
// package may not touch, how large files and functions may be, and what no file may hold.
//
//	go run ./cmd/tidy [folder]
//
// It prints one line for each problem, "file:line: rule: problem", and exits 1 where there is one.
// The rules are DESIGN section 3 and the project's style; their data, with reasons, is in rules.go.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	problems, err := run(os.DirFS(root), os.Stdout, exceptions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidy: error:", err)
		os.Exit(2)
	}
	if problems > 0 {
		os.Exit(1)
	}
}

// problem is one broken rule at one place.
type problem struct {
	File string
	Line int
	Rule string
	Text string
}

// run checks a tree and returns how many problems it wrote to out.
func run(tree fs.FS, out io.Writer, except []exception) (int, error) {
	r, err := load(tree)
	if err != nil {
		return 0, err
	}
	var all []problem
	for _, rule := range []func(*repository) []problem{
		sizes, words, folders, comments, imports, importers, purity, calls,
	} {
		all = append(all, rule(r)...)
	}
	all = excuse(all, except)
	slices.SortFunc(all, func(a, b problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Rule+a.Text, b.Rule+b.Text)
	})
	for _, p := range all {
		fmt.Fprintf(out, "%s:%d: %s: %s\n", p.File, p.Line, p.Rule, p.Text)
	}
	fmt.Fprintf(out, "tidy: %d Go files in %d packages, %d problems\n", r.count, len(r.packages),
		len(all))
	return len(all), nil
}

// excuse takes out what is excepted and adds exceptions that excuse nothing any more.
func excuse(all []problem, except []exception) []problem {
	used := make([]bool, len(except))
	var left []problem
	for _, p := range all {
		i := slices.IndexFunc(except, func(e exception) bool {
			return e.Rule == p.Rule && e.File == p.File && strings.Contains(p.Text, e.Text)
		})
		if i < 0 {
			left = append(left, p)
			continue
		}
		used[i] = true
	}
	for i, e := range except {
		if !used[i] {
			left = append(left, problem{e.File, 1, e.Rule, "the exception in cmd/tidy excuses nothing"})
		}
	}
	return left
}
