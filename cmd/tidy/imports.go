package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// imported is one import of one file.
type imported struct {
	path string
	line int
}

func (r *repository) imports(f file) []imported {
	var all []imported
	for _, spec := range f.syntax.Imports {
		// The parser took the literal for a string already.
		p, _ := strconv.Unquote(spec.Path.Value)
		all = append(all, imported{p, r.line(spec.Pos())})
	}
	return all
}

// under tells whether p is dir or below it.
func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// ours is the folder of an import of this module.
func ours(p string) (string, bool) {
	dir, ok := strings.CutPrefix(p, module+"/")
	return dir, ok
}

// imports holds every package to its layer.
func imports(r *repository) []problem {
	var all []problem
	r.each(func(p *pkg, f file) {
		i := slices.IndexFunc(layers, func(l layer) bool { return under(p.dir, l.dir) })
		if i < 0 {
			all = append(all, problem{f.path, 1, "import",
				"cmd/tidy does not know the layer of " + p.dir})
			return
		}
		for _, im := range r.imports(f) {
			dir, ok := ours(im.path)
			if !ok || slices.ContainsFunc(layers[i].may, func(m string) bool { return under(dir, m) }) ||
				under(dir, p.dir) {
				continue
			}
			if _, may := crossing[[2]string{p.dir, dir}]; may && f.test() {
				continue
			}
			all = append(all, problem{f.path, im.line, "import",
				fmt.Sprintf("%s may not import %s", layers[i].dir, dir)})
		}
	})
	return all
}

// importers holds every outside library to its importers.
func importers(r *repository) []problem {
	var all []problem
	r.each(func(p *pkg, f file) {
		for _, im := range r.imports(f) {
			first, _, _ := strings.Cut(im.path, "/")
			if !strings.Contains(first, ".") || testLibrary(im.path, p, f) {
				continue
			}
			i := slices.IndexFunc(libraries, func(l library) bool { return under(im.path, l.path) })
			if i < 0 {
				all = append(all, problem{f.path, im.line, "library",
					"cmd/tidy does not know " + im.path})
				continue
			}
			if l := libraries[i]; l.importers != nil && !slices.Contains(l.importers, p.dir) {
				all = append(all, problem{f.path, im.line, "library",
					fmt.Sprintf("%s is imported by %s alone", l.path, strings.Join(l.importers, " and "))})
			}
		}
	})
	return all
}

// testLibrary tells whether an import is one that tests may have: by a test file, or by a package
// that is named after tests (storetest) or is the rig.
func testLibrary(im string, p *pkg, f file) bool {
	tests := f.test() || strings.HasSuffix(p.dir, "test") || under(p.dir, "rig")
	if !tests {
		return false
	}
	for lib := range testLibraries {
		if under(im, lib) {
			return true
		}
	}
	return false
}

// isPure tells whether a folder is a starred package.
func isPure(dir string) bool {
	for out := range impure {
		if under(dir, out) {
			return false
		}
	}
	return slices.ContainsFunc(pure, func(p string) bool { return under(dir, p) })
}

// impureImport tells whether a standard package touches the world.
func impureImport(p string) bool {
	return slices.ContainsFunc(impureImports, func(i string) bool {
		return p == i || strings.HasSuffix(i, "/") && strings.HasPrefix(p, i)
	})
}
