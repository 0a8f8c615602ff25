package failpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chit/failpoint"
)

// parsed is every Go file of the tree that is not a test, by its path from the root.
func parsed(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		files[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// calls yields the calls of a function or method by its last name.
func calls(file *ast.File, name string, yield func(*ast.CallExpr)) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == name {
			yield(call)
		}
		return true
	})
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// commands are the words of the desk's named commands: what their Name methods return.
func commands(files map[string]*ast.File) []string {
	var words []string
	for path, file := range files {
		if !strings.HasPrefix(path, "broker/") {
			continue
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Name" || len(f.Body.List) != 1 {
				continue
			}
			if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				if word, ok := literal(r.Results[0]); ok {
					words = append(words, word)
				}
			}
		}
	}
	return words
}

func TestEveryFailpointIsListed(t *testing.T) {
	files := parsed(t)
	found := map[string]bool{}
	for path, file := range files {
		calls(file, "Here", func(call *ast.CallExpr) {
			if s, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.Ident); !ok || s.Name != "failpoint" {
				return
			}
			name, ok := literal(call.Args[0])
			switch {
			case ok:
				found[name] = true
			case path == "broker/desk/flush.go":
				calls(file, "failpoints", func(call *ast.CallExpr) {
					when, _ := literal(call.Args[0])
					for _, word := range commands(files) {
						found["broker."+word+when] = true
					}
				})
			default:
				t.Errorf("%s: a failpoint without a literal name cannot be listed", path)
			}
		})
	}
	for name := range found {
		if !slices.Contains(failpoint.Names, name) {
			t.Errorf("%q is not in failpoint.Names: no crash test kills there", name)
		}
	}
	for _, name := range failpoint.Names {
		if !found[name] {
			t.Errorf("%q is in failpoint.Names and nowhere in the tree", name)
		}
	}
	for name := range maps.Keys(failpoint.Unreached) {
		if !slices.Contains(failpoint.Names, name) {
			t.Errorf("%q is in failpoint.Unreached and not in failpoint.Names", name)
		}
	}
}
