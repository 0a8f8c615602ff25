package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tool finds a program by its names: Debian calls some otherwise than their makers do.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no %s; .ci/prepare installs it on Debian and Ubuntu", names[0])
	return ""
}

// check runs a checker in this folder and fails with what it says.
func check(t *testing.T, input, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	// promtool ends with 3 where metrics could only be better named.
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPrometheusAndAlertmanagerTakeTheFiles(t *testing.T) {
	promtool := tool(t, "promtool")
	check(t, "", promtool, "check", "rules", "chit.rules.yml")
	check(t, "", promtool, "check", "config", "prometheus.example.yml")
	check(t, "", promtool, "test", "rules", "chit.rules.test.yml")
	check(t, "", tool(t, "amtool"), "check-config", "alertmanager.example.yml")
}

var (
	exprLine  = regexp.MustCompile(`(?m)^        expr: (.+)$`)
	alertLine = regexp.MustCompile(`(?m)^      - alert: (\w+)$`)
)

// rules are the alerts' names and expressions.
func rules(t *testing.T) (names, exprs []string) {
	t.Helper()
	text := read(t, "chit.rules.yml")
	for _, m := range alertLine.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, m := range exprLine.FindAllStringSubmatch(text, -1) {
		exprs = append(exprs, m[1])
	}
	if len(names) == 0 || len(names) != len(exprs) {
		t.Fatalf("found %d alerts and %d expressions in chit.rules.yml", len(names), len(exprs))
	}
	return names, exprs
}

func TestEachRuleIsShownToFireAndToKeepQuiet(t *testing.T) {
	names, _ := rules(t)
	tests := read(t, "chit.rules.test.yml")
	for _, name := range names {
		if !strings.Contains(tests, "alertname: "+name+"\n        exp_alerts:\n          - ") {
			t.Errorf("no test in which %s fires", name)
		}
		if !strings.Contains(tests, "alertname: "+name+"\n        exp_alerts: []") {
			t.Errorf("no test in which %s keeps quiet", name)
		}
	}
}

func TestEachRuleSaysWhatIsWrongWhatItMeansAndWhatToDo(t *testing.T) {
	names, _ := rules(t)
	parts := alertLine.Split(read(t, "chit.rules.yml"), -1)[1:]
	for i, name := range names {
		for _, want := range []string{`severity: P[12]`, `summary: .{10}`, `description: .{10}`,
			`runbook: .{10}`} {
			if found := regexp.MustCompile(`\n +`+want).FindAllString(parts[i], -1); len(found) != 1 {
				t.Errorf("%s: found %d times %q, expected once", name, len(found), want)
			}
		}
	}
}

var (
	notNames = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\$\w+|\b\d[\w.]*|` +
		`\b(?:by|on|without|ignoring|group_left|group_right) *\([^)]*\)|` +
		`\b(?:and|or|unless|bool|sum|min|max|count|avg)\b|\w+ *\(`)
	anyName = regexp.MustCompile(`[a-zA-Z_:][\w:]*`)
)

// metricsOf are the metrics that an expression names.
func metricsOf(expr string) []string {
	quoted := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, `""`)
	return anyName.FindAllString(notNames.ReplaceAllString(quoted, " "), -1)
}

func TestTheMetricsOfAnExpressionAreFound(t *testing.T) {
	for expr, want := range map[string]string{
		`up{job="a"} == 0 or absent(up{job="a"})`:                           "[up up]",
		`a >= 300 and on (instance, kitchen) b{c="d}"} == 1`:                "[a b]",
		`sum by (event) (rate(a_total{b=~"$c"}[$__rate_interval])) / 200e6`: "[a_total]",
		`count(a == 0 unless on (x) b) or vector(0)`:                        "[a b]",
		`abs(timestamp(a_seconds) - b_seconds) > bool 30.5`:                 "[a_seconds b_seconds]",
	} {
		if got := fmt.Sprint(metricsOf(expr)); got != want {
			t.Errorf("%s: found %s, want %s", expr, got, want)
		}
	}
}

func TestPrometheusUnderstandsTheDashboard(t *testing.T) {
	var text strings.Builder
	text.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, expr := range dashboardExprs(t) {
		expr = strings.NewReplacer("$__rate_interval", "5m", "$tenant", ".*", "$kitchen", ".*").
			Replace(expr)
		fmt.Fprintf(&text, "      - record: dashboard:query:%d\n        expr: %s\n", i,
			strconv.Quote(expr))
	}
	file := write(t, filepath.Join(t.TempDir(), "dashboard.yml"), text.String())
	check(t, "", tool(t, "promtool"), "check", "rules", file)
}
