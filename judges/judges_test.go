package judges

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// packages are the judges from npm. Their versions are fixed, so that a new one is looked at before
// it judges.
var packages = []string{
	"receiptio@2.1.2", "receiptline@4.0.4", "@point-of-sale/receipt-printer-encoder@4.0.1",
}

const installTimeout, scriptTimeout = 5 * time.Minute, time.Minute

// home is the folder that the judges are installed in.
var home struct {
	once   sync.Once
	folder string
	err    error
}

func TestMain(m *testing.M) {
	if os.Getenv("CHIT_NO_JUDGES") != "" {
		fmt.Println("CHIT_NO_JUDGES is set: no program of others was asked.")
		os.Exit(0)
	}
	code := m.Run()
	if home.folder != "" {
		os.RemoveAll(home.folder)
	}
	os.Exit(code)
}

// trusting lets node trust whom the machine trusts: it has a list of its own, which knows no
// certificate that an administrator has added, and npm then tries for minutes.
func trusting(environment []string) []string {
	const roots, file = "NODE_EXTRA_CA_CERTS", "/etc/ssl/certs/ca-certificates.crt"
	if _, err := os.Stat(file); err != nil || os.Getenv(roots) != "" {
		return environment
	}
	return append(environment, roots+"="+file)
}

// install brings the judges from npm once, together with the scripts of this folder that drive
// them.
func install(t *testing.T) string {
	t.Helper()
	home.once.Do(func() {
		if home.folder, home.err = os.MkdirTemp("", "chit-judges-"); home.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
		defer cancel()
		npm := exec.CommandContext(ctx, "npm", append([]string{"install", "--no-save", "--no-audit",
			"--no-fund", "--ignore-scripts", "--prefix", home.folder}, packages...)...)
		npm.Env = trusting(os.Environ())
		if out, err := npm.CombinedOutput(); err != nil {
			home.err = fmt.Errorf("npm install: %w\n%s", err, out)
			return
		}
		scripts, err := filepath.Glob("*.mjs")
		home.err = err
		for _, script := range scripts {
			b, err := os.ReadFile(script)
			if err == nil {
				err = os.WriteFile(filepath.Join(home.folder, script), b, 0o600)
			}
			if err != nil {
				home.err = err
			}
		}
	})
	if home.err != nil {
		t.Fatalf("the judges are not there (.ci/prepare brings node and npm): %v", home.err)
	}
	return home.folder
}

// run starts one of our scripts with a JSON value on its input and reads JSON from its output.
func run(t *testing.T, script string, in, out any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptTimeout)
	defer cancel()
	node := exec.CommandContext(ctx, "node", filepath.Join(install(t), script))
	question, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	node.Stdin, node.Stderr = bytes.NewReader(question), &stderr
	answer, err := node.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if err := json.Unmarshal(answer, out); err != nil {
		t.Fatalf("%s: %v in %.200s", script, err, answer)
	}
}

// read lets zbarimg find codes in a picture: one line each, as "QR-Code:content", in no fixed
// order.
func read(t *testing.T, picture []byte) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "paper.png")
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		t.Fatal(err)
	}
	zbar := exec.CommandContext(t.Context(), "zbarimg", "--quiet", "-Supca.enable=1",
		"-Supce.enable=1", "-Sean8.enable=1",
		"-Si25.enable=1", "-Scode93.enable=1", "-Scodabar.enable=1", file)
	var stderr bytes.Buffer
	zbar.Stderr = &stderr
	out, err := zbar.Output()
	if code := zbar.ProcessState.ExitCode(); err != nil && code != 4 { // 4: nothing was found.
		t.Fatalf("zbarimg (.ci/prepare brings it): %v: %s", err, stderr.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
