package linktest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// BrokerName is the common name that mosquitto's ACL gives the run of the tree.
const BrokerName = "broker"

// mosquittoConf is how an operator would set mosquitto up for us, but for the paths. Without
// set_tcp_nodelay every answer to a device costs 40 ms more.
const mosquittoConf = `
per_listener_settings false
set_tcp_nodelay true
persistence false
log_dest stderr
user root
listener %[2]d 127.0.0.1
cafile %[1]s/ca.pem
certfile %[1]s/server.pem
keyfile %[1]s/server.key
require_certificate true
use_identity_as_username true
use_username_as_clientid true
acl_file %[1]s/acl
max_inflight_messages 20
max_queued_messages 1000
`

const mosquittoACL = `
user ` + BrokerName + `
topic readwrite chit/1/#

pattern read chit/1/+/%u/ticket
pattern read chit/1/+/%u/recall
pattern read chit/1/+/%u/command
pattern readwrite chit/1/+/%u/status
pattern read chit/1/+/host
pattern write chit/1/+/%u/ack
pattern write chit/1/+/%u/telemetry
`

// StartMosquitto runs a mosquitto of its own for the test and returns host:port.
func StartMosquitto(tb testing.TB, a *Authority) (address string) {
	tb.Helper()
	program := findMosquitto(tb)
	dir := tb.TempDir()
	a.write(dir)
	// It may not be readable by others, or mosquitto warns and later versions refuse.
	if err := os.WriteFile(filepath.Join(dir, "acl"), []byte(mosquittoACL), 0o600); err != nil {
		tb.Fatal(err)
	}
	var log string
	for range 5 { // Another process may take the free port between our look and its bind.
		if address, log = launch(tb, program, dir); address != "" {
			return address
		}
	}
	tb.Fatalf("mosquitto does not start; it says:\n%s", log)
	return ""
}

func findMosquitto(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"mosquitto", "/usr/sbin/mosquitto"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Fatal("mosquitto is not installed, and the exam of outside engines needs it: " +
		"apt-get install --no-install-recommends mosquitto")
	return ""
}

// launch starts one process; address is "" where it ended before it took connections.
func launch(tb testing.TB, program, dir string) (address, log string) {
	tb.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	address = free.Addr().String()
	free.Close()
	conf := filepath.Join(dir, "mosquitto.conf")
	text := fmt.Sprintf(mosquittoConf, dir, port)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	out := &logBuffer{}
	cmd := exec.Command(program, "-c", conf)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		tb.Fatalf("starting %s: %v", program, err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	tb.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })

	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		select {
		case <-exited:
			return "", out.String()
		case <-limit.C:
			tb.Fatalf("mosquitto does not listen; it says:\n%s", out)
		case <-tick.C:
			// Only its own word tells that it, and not another process, has the port.
			if !strings.Contains(out.String(), "running") {
				continue
			}
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				return address, ""
			}
		}
	}
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
