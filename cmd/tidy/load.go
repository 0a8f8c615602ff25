package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// repository is every file that is checked.
type repository struct {
	set      *token.FileSet
	packages map[string]*pkg
	scripts  []file
	count    int
}

// pkg is one folder of Go files.
type pkg struct {
	dir   string
	files []file
}

// file is one file; syntax is nil where it is not Go.
type file struct {
	path   string
	text   string
	syntax *ast.File
}

func (f file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// load reads all Go files and the build's scripts. Folders that Go leaves out (testdata and names
// that begin with a dot or an underscore) are left out, except .ci.
func load(tree fs.FS) (*repository, error) {
	r := &repository{set: token.NewFileSet(), packages: map[string]*pkg{}}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if p != "." && name != ".ci" &&
				(name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		return r.add(tree, p)
	})
	return r, err
}

func (r *repository) add(tree fs.FS, p string) error {
	script := strings.HasSuffix(p, ".sh") || path.Base(p) == "Makefile" || path.Dir(p) == ".ci"
	if !script && !strings.HasSuffix(p, ".go") {
		return nil
	}
	raw, err := fs.ReadFile(tree, p)
	if err != nil {
		return err
	}
	f := file{path: p, text: string(raw)}
	if script {
		r.scripts = append(r.scripts, f)
		return nil
	}
	if f.syntax, err = parser.ParseFile(r.set, p, raw, parser.ParseComments); err != nil {
		return fmt.Errorf("reading %s: %w", p, err)
	}
	dir := path.Dir(p)
	if r.packages[dir] == nil {
		r.packages[dir] = &pkg{dir: dir}
	}
	r.packages[dir].files = append(r.packages[dir].files, f)
	r.count++
	return nil
}

func (r *repository) line(pos token.Pos) int { return r.set.Position(pos).Line }

// each calls f for every Go file.
func (r *repository) each(f func(p *pkg, file file)) {
	for _, p := range r.packages {
		for _, file := range p.files {
			f(p, file)
		}
	}
}
