package monitoring

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"chit/rig"
)

// The rules run faster by this factor: a ticket is late after 5 s and not after 5 min.
const (
	faster = 60
	late   = 300 // seconds, of ChitTicketLate
)

var (
	forLine   = regexp.MustCompile(`(?m)^(        for: )(\d+)([sm])$`)
	threshold = regexp.MustCompile(`(_seconds >= )(\d+)`)
)

// hastened is the shipped rules with all their waits divided.
func (w *world) hastened() string {
	text := read(w.T, "chit.rules.yml")
	if len(forLine.FindAllString(text, -1)) != strings.Count(text, " for: ") ||
		len(threshold.FindAllString(text, -1)) != 2 {
		w.Fatal("the shipped rules wait in a way that this test cannot shorten")
	}
	text = forLine.ReplaceAllStringFunc(text, func(line string) string {
		m := forLine.FindStringSubmatch(line)
		n, _ := strconv.Atoi(m[2]) // Digits, by the expression.
		if m[3] == "m" {
			n *= 60
		}
		return m[1] + strconv.Itoa(max(n/faster, 1)) + "s"
	})
	return threshold.ReplaceAllStringFunc(text, func(part string) string {
		m := threshold.FindStringSubmatch(part)
		n, _ := strconv.Atoi(m[2])
		return m[1] + strconv.Itoa(n/faster)
	})
}

// changed is a shipped file with some of its lines changed for the test; each must be there.
func (w *world) changed(file string, pairs ...string) string {
	w.Helper()
	text := read(w.T, file)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			w.Fatalf("%s: found no %q", file, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// watch starts Alertmanager and then Prometheus with the shipped files, hastened.
func (w *world) watch(prometheus, alertmanager string) {
	w.Helper()
	conf := write(w.T, filepath.Join(w.dir, "alertmanager.yml"), w.changed("alertmanager.example.yml",
		"127.0.0.1:9095", w.serveHook(), "group_wait: 30s", "group_wait: 3s",
		"group_interval: 5m", "group_interval: 3s", "group_interval: 1m", "group_interval: 1s"))
	address := w.start("alertmanager", alertmanager, "--config.file="+conf,
		"--storage.path="+filepath.Join(w.dir, "alertmanager"), "--cluster.listen-address=",
		"--log.level=warn")
	w.alertmanager = "http://" + address

	rules := write(w.T, filepath.Join(w.dir, "rules.yml"), w.hastened())
	conf = write(w.T, filepath.Join(w.dir, "prometheus.yml"), w.changed("prometheus.example.yml",
		"127.0.0.1:8080", w.door(), "127.0.0.1:9093", address, "chit.rules.yml\n", rules+"\n",
		"scrape_interval: 15s", "scrape_interval: 2s", "evaluation_interval: 15s",
		"evaluation_interval: 1s"))
	w.prometheus = "http://" + w.start("prometheus", prometheus, "--config.file="+conf,
		"--storage.tsdb.path="+filepath.Join(w.dir, "prometheus"), "--log.level=warn")
}

// startsMax bounds the starts on new ports, where another program was faster on the old ones.
const startsMax = 5

// start runs a program on a free port until the test ends, and says where it is ready.
func (w *world) start(name, program string, args ...string) (address string) {
	w.Helper()
	for range startsMax {
		ports, err := rig.FreePorts(1)
		if err != nil {
			w.Fatal(err)
		}
		p := &rig.Process{Name: name, Log: filepath.Join(w.dir, name+".log"),
			Args: append([]string{program, "--web.listen-address=" + ports[0]}, args...)}
		if err := p.Start(); err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() {
			if err := p.Kill(); err != nil {
				w.Error(err)
			}
		})
		ended := false
		w.until(name+" to be ready", func() bool {
			select {
			case <-p.Ended():
				ended = true
				return true
			default:
			}
			_, err := get(w.ctx, http.DefaultClient, "http://"+ports[0]+"/-/ready")
			return err == nil
		})
		if !ended {
			return ports[0]
		}
	}
	w.Fatalf("%s ended at each of %d starts; see its log: %s", name, startsMax,
		read(w.T, filepath.Join(w.dir, name+".log")))
	return ""
}

// door is the broker's address.
func (w *world) door() string { return strings.TrimPrefix(w.URL(), "http://") }
