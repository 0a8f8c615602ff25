package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// holds are all that the source declares, so that none can be added without words.
func declaredHolds(t *testing.T) map[Hold]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "session.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	holds := map[Hold]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Hold") {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		holds[Hold(word)] = spec.Names[0].Name
		return true
	})
	return holds
}

func TestEveryHoldSaysWhatACookShouldDo(t *testing.T) {
	holds := declaredHolds(t)
	if len(holds) != 9 {
		t.Fatalf("found the holds %v", holds)
	}
	said := map[Words]Hold{}
	for hold, name := range holds {
		words := hold.Words()
		switch other, twice := said[words]; {
		case hold == HoldNone:
			if words != (Words{}) {
				t.Errorf("a printer that can print is %+v", words)
			}
		case words.Is == "" || strings.Contains(words.Is, "_") || !strings.HasSuffix(words.Do, "."):
			t.Errorf("%s has the words %+v", name, words)
		case twice:
			t.Errorf("%s and %s have the same words", name, other)
		}
		said[words] = hold
	}
	if w := Hold("out_of_ink").Words(); w != (Words{Is: "out of ink"}) {
		t.Errorf("a newer device's hold is %+v", w)
	}
}
