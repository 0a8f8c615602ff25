package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// check runs tidy on a tree of files and returns what it wrote.
func check(t *testing.T, files map[string]string, except ...exception) string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var out strings.Builder
	n, err := run(tree, &out, except)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n") - 1; lines != n {
		t.Errorf("%d problems in %d lines", n, lines)
	}
	return out.String()
}

const (
	core    = "// Package core decides.\npackage core\n\n"
	service = "// Package service runs.\npackage service\n\n"
)

func TestWhatIsFineIsNoProblem(t *testing.T) {
	out := check(t, map[string]string{
		"device/core/core.go": core + `import (
	"time"

	"chit/device/wire"
)

func Later(now time.Time, d time.Duration) time.Time { return now.Add(d) }

var _ wire.Kind
`,
		"device/core/core_test.go": "package core\n\nimport (\n\t\"os\"\n\t\"time\"\n)\n\n" +
			"var _, _ = os.Getpid, time.Now\n",
		"device/wire/wire.go": "// Package wire is the contract.\npackage wire\n\ntype Kind string\n",
		"device/service/run.go": service + `import (
	"os"
	"time"

	"chit/printer/session"
)

func run() { go func() { _, _, _ = time.Now(), os.Getpid(), session.New }() }
`,
		"printer/session/s.go": "// Package session prints.\npackage session\n\nfunc New() {}\n\n" +
			"type t struct {\n\ta int `comment:\"" + strings.Repeat("x", 100) + "\"`\n}\n",
		"cmd/chitd/main.go": "// Command chitd runs.\npackage main\n\nimport \"os\"\n\n" +
			"func main() { os.Exit(1) }\n",
		"cmd/chitd/testdata/a.go": "this is no Go at all",
	})
	if !strings.HasSuffix(out, "tidy: 6 Go files in 5 packages, 0 problems\n") {
		t.Error(out)
	}
}

func TestEveryRuleFindsItsProblem(t *testing.T) {
	long := "var x = \"" + strings.Repeat("é", 92) + "\"\n"
	for _, test := range []struct{ name, file, text, want string }{
		{"clock", "device/core/a.go", core + "import \"time\"\n\nvar x = time.Now()\n",
			"device/core/a.go:6: pure: device/core may not use time.Now"},
		{"clock under another name", "device/core/a.go",
			core + "import clock \"time\"\n\nvar x = clock.After\n",
			"device/core/a.go:6: pure: device/core may not use time.After"},
		{"goroutine", "device/core/a.go", core + "func f() { go f() }\n",
			"device/core/a.go:4: pure: device/core may not start a goroutine"},
		{"files", "broker/order/a.go", "// Package order is.\npackage order\n\nimport _ \"os\"\n",
			"broker/order/a.go:4: pure: broker/order may not import os"},
		{"network", "device/core/a.go", core + "import _ \"net/http\"\n", "may not import net/http"},
		{"randomness", "device/core/a.go", core + "import _ \"math/rand/v2\"\n",
			"may not import math/rand/v2"},
		{"logging", "device/core/a.go", core + "import _ \"log/slog\"\n", "may not import log/slog"},
		{"pure imports impure", "device/core/a.go", core + "import _ \"chit/device/link\"\n",
			"device/core/a.go:4: pure: device/core may not import chit/device/link"},
		{"below a pure package", "device/wire/pairing/a.go",
			"// Package pairing is.\npackage pairing\n\nimport _ \"os\"\n", "may not import os"},
		{"against the order", "device/service/a.go", service + "import _ \"chit/broker/desk\"\n",
			"device/service/a.go:4: import: device may not import broker/desk"},
		{"broker and device", "broker/desk/a.go",
			"// Package desk is.\npackage desk\n\nimport _ \"chit/device/link\"\n",
			"import: broker may not import device/link"},
		{"printer alone", "printer/session/a.go",
			"// Package session is.\npackage session\n\nimport _ \"chit/device/wire\"\n",
			"import: printer may not import device/wire"},
		{"test crosses", "broker/desk/a_test.go", "package desk\n\nimport _ \"chit/device/link\"\n",
			"import: broker may not import device/link"},
		{"no layer", "stuff/a.go", "// Package stuff is.\npackage stuff\n",
			"stuff/a.go:1: import: cmd/tidy does not know the layer of stuff"},
		{"second importer", "device/service/a.go", service + "import _ \"go.etcd.io/bbolt\"\n",
			"library: go.etcd.io/bbolt is imported by broker/store/bolt and device/journal alone"},
		{"unknown library", "device/service/a.go", service + "import _ \"example.com/x\"\n",
			"library: cmd/tidy does not know example.com/x"},
		{"test library outside tests", "device/service/a.go",
			service + "import _ \"pgregory.net/rapid\"\n", "does not know pgregory.net/rapid"},
		{"long file", "device/service/a.go", service + strings.Repeat("//\n", 500),
			"device/service/a.go:501: file: 503 lines, at most 500"},
		{"long line", "device/service/a.go", service + long,
			"device/service/a.go:4: columns: 102 columns, at most 100"},
		{"long function", "device/service/a.go",
			service + "func f() {\n" + strings.Repeat("\t_ = 0\n", 69) + "}\n",
			"device/service/a.go:4: function: f has 71 lines, at most 70"},
		{"folder", "device/util/a.go", "// Package util is.\npackage util\n",
			"device/util/a.go:1: folder: util says nothing about the work"},
		{"unfinished", "device/service/a.go", service + "// TO" + "DO: later\n",
			"device/service/a.go:4: unfinished: the line says TO" + "DO"},
		{"unfinished script", ".ci/run", "# FIX" + "ME\n", ".ci/run:1: unfinished"},
		{"sleep in a test", "device/service/a_test.go",
			"package service\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n",
			"device/service/a_test.go:5: sleep: wait for a condition"},
		{"skip in a test", "device/service/a_test.go",
			"package service\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Skip() }\n",
			"device/service/a_test.go:5: skip:"},
		{"short in a test", "device/service/a_test.go",
			"package service\n\nimport \"testing\"\n\nvar x = testing.Short()\n", "a_test.go:5: skip:"},
		{"no package comment", "device/service/a.go", "package service\n",
			"device/service/a.go:1: comment: the package has no package comment"},
		{"wrong package comment", "cmd/chitd/a.go", "// Package main is.\npackage main\n",
			"cmd/chitd/a.go:1: comment:"},
		{"exit outside main", "cmd/chitd/a.go",
			"// Command chitd is.\npackage main\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n",
			"cmd/chitd/a.go:6: exit: os.Exit belongs in main alone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if out := check(t, map[string]string{test.file: test.text}); !strings.Contains(out, test.want) {
				t.Errorf("got %swant %s", out, test.want)
			}
		})
	}
}

func TestWordsThatOnlyLookLikeTheClockAreFine(t *testing.T) {
	out := check(t, map[string]string{
		"device/core/a.go": core + "type clock struct{}\n\nfunc (clock) Now() int { return 0 }\n\n" +
			"func f(time clock) int { return time.Now() }\n",
	})
	if !strings.HasSuffix(out, " 0 problems\n") {
		t.Error(out)
	}
}

func TestExceptionsExcuseOneProblemAndMustBeNeeded(t *testing.T) {
	files := map[string]string{"device/core/a.go": core + "import _ \"os\"\nimport _ \"net\"\n"}
	except := exception{Rule: "pure", File: "device/core/a.go", Text: "import os"}
	out := check(t, files, except)
	if strings.Contains(out, "import os") || !strings.Contains(out, "import net") {
		t.Error(out)
	}
	out = check(t, files, exception{Rule: "pure", File: "device/core/b.go"})
	if !strings.Contains(out, "device/core/b.go:1: pure: the exception in cmd/tidy excuses nothing") {
		t.Error(out)
	}
}

func TestEveryDeviationFromTheDesignSaysWhy(t *testing.T) {
	for _, e := range exceptions {
		if e.Reason == "" || e.Rule == "" || e.File == "" {
			t.Errorf("exception %+v", e)
		}
	}
	for _, l := range libraries {
		if len(l.importers) != 1 && l.reason == "" {
			t.Errorf("library %s has %d importers and no reason", l.path, len(l.importers))
		}
	}
	for pair, reason := range crossing {
		if reason == "" {
			t.Errorf("crossing %v", pair)
		}
	}
	for pair, reason := range borrowed {
		if reason == "" {
			t.Errorf("borrowed %v", pair)
		}
	}
	for dir, reason := range impure {
		if reason == "" {
			t.Errorf("impure %s", dir)
		}
	}
}
