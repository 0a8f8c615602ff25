package main

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// sizes bounds files, lines and functions. Test functions are left out: a table of cases is data.
func sizes(r *repository) []problem {
	var all []problem
	r.each(func(_ *pkg, f file) {
		lines := strings.Split(strings.TrimSuffix(f.text, "\n"), "\n")
		if len(lines) > linesMax {
			all = append(all, problem{f.path, linesMax + 1, "file",
				fmt.Sprintf("%d lines, at most %d", len(lines), linesMax)})
		}
		tags := tagLines(r, f)
		for i, line := range lines {
			if n := utf8.RuneCountInString(line); n > columnsMax && !tags[i+1] {
				all = append(all, problem{f.path, i + 1, "columns",
					fmt.Sprintf("%d columns, at most %d", n, columnsMax)})
			}
		}
		if f.test() {
			return
		}
		for _, d := range f.syntax.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := r.line(function.Pos()), r.line(function.End())
			if n := last - first + 1; n > functionMax {
				all = append(all, problem{f.path, first, "function",
					fmt.Sprintf("%s has %d lines, at most %d", function.Name.Name, n, functionMax)})
			}
		}
	})
	return all
}

// tagLines are the lines that end with a struct tag: a tag is one literal and cannot be broken.
func tagLines(r *repository, f file) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			lines[r.line(field.Tag.Pos())] = true
		}
		return true
	})
	return lines
}

var unfinishedWords = regexp.MustCompile(`\b(` + strings.Join(unfinished, "|") + `)\b`)

// words finds what says that a file is not done.
func words(r *repository) []problem {
	var all []problem
	check := func(f file) {
		for i, line := range strings.Split(f.text, "\n") {
			if word := unfinishedWords.FindString(line); word != "" {
				all = append(all, problem{f.path, i + 1, "unfinished", "the line says " + word})
			}
		}
	}
	r.each(func(_ *pkg, f file) { check(f) })
	for _, f := range r.scripts {
		check(f)
	}
	return all
}

// folders refuses names that say nothing about the work.
func folders(r *repository) []problem {
	var all []problem
	for dir, p := range r.packages {
		if forbiddenFolders[path.Base(dir)] {
			all = append(all, problem{p.files[0].path, 1, "folder",
				path.Base(dir) + " says nothing about the work"})
		}
	}
	return all
}

// comments wants one package comment in every package that is more than tests.
func comments(r *repository) []problem {
	var all []problem
	for _, p := range r.packages {
		first, found := "", false
		for _, f := range p.files {
			if f.test() {
				continue
			}
			if first == "" {
				first = f.path
			}
			doc := f.syntax.Doc.Text()
			word := "Package " + f.syntax.Name.Name
			if f.syntax.Name.Name == "main" {
				word = "Command " + path.Base(p.dir)
			}
			found = found || strings.HasPrefix(doc, word+" ")
		}
		if first != "" && !found {
			all = append(all, problem{first, 1, "comment", "the package has no package comment"})
		}
	}
	return all
}
