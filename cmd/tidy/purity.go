package main

import (
	"fmt"
	"go/ast"
)

// purity holds starred packages to what they may not touch. Their tests may: a test draws and reads
// golden files.
func purity(r *repository) []problem {
	var all []problem
	r.each(func(p *pkg, f file) {
		if !isPure(p.dir) || f.test() {
			return
		}
		for _, im := range r.imports(f) {
			dir, own := ours(im.path)
			_, lent := borrowed[[2]string{p.dir, dir}]
			if impureImport(im.path) || own && !isPure(dir) && !lent {
				all = append(all, problem{f.path, im.line, "pure", p.dir + " may not import " + im.path})
			}
		}
		clock := importName(f, "time")
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				all = append(all, problem{f.path, r.line(n.Pos()), "pure",
					p.dir + " may not start a goroutine"})
			case *ast.SelectorExpr:
				if name, ok := selects(n, clock); ok && clockCalls[name] {
					all = append(all, problem{f.path, r.line(n.Pos()), "pure",
						fmt.Sprintf("%s may not use time.%s", p.dir, name)})
				}
			}
			return true
		})
	})
	return all
}

// calls finds calls that have no place where they are: waiting and skipping in tests, ending the
// process outside main.
func calls(r *repository) []problem {
	var all []problem
	r.each(func(_ *pkg, f file) {
		clock, system, tests := importName(f, "time"), importName(f, "os"), importName(f, "testing")
		add := func(n ast.Node, rule, text string) {
			all = append(all, problem{f.path, r.line(n.Pos()), rule, text})
		}
		for _, d := range f.syntax.Decls {
			function, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if name, _ := selects(selector, clock); name == "Sleep" && f.test() {
					add(n, "sleep", "wait for a condition or use testing/synctest")
				}
				if name, _ := selects(selector, tests); name == "Short" {
					add(n, "skip", "a test that may not run promises nothing")
				}
				switch selector.Sel.Name {
				case "Skip", "Skipf", "SkipNow":
					if x, ok := selector.X.(*ast.Ident); ok && f.test() && len(x.Name) == 1 {
						add(n, "skip", "a test that may not run promises nothing")
					}
				case "Exit":
					_, isOS := selects(selector, system)
					if isOS && !exits(f, function) {
						add(n, "exit", "os.Exit belongs in main alone")
					}
				}
				return true
			})
		}
	})
	return all
}

// exits tells whether a function may end the process: main, and TestMain.
func exits(f file, function *ast.FuncDecl) bool {
	if function == nil || function.Recv != nil {
		return false
	}
	return f.syntax.Name.Name == "main" && function.Name.Name == "main" ||
		f.test() && function.Name.Name == "TestMain"
}

// importName is the name that a file knows a standard package by, "" where it does not import it.
func importName(f file, path string) string {
	for _, spec := range f.syntax.Imports {
		if spec.Path.Value != `"`+path+`"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path
	}
	return ""
}

// selects is the name that s takes from the package that is known as pkg.
func selects(s *ast.SelectorExpr, pkg string) (string, bool) {
	x, ok := s.X.(*ast.Ident)
	// An identifier that resolves to something in the file is no package.
	if !ok || pkg == "" || x.Name != pkg || x.Obj != nil {
		return "", false
	}
	return s.Sel.Name, true
}
