package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var units = []string{"chitd.service", "chit-broker.service"}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// run calls a program of systemd. It must be there: `make test` installs it.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestSystemdReadsTheUnits lets systemd itself judge. The program and the users are not installed
// where tests run, so a copy of the unit names others; all else is as shipped.
func TestSystemdReadsTheUnits(t *testing.T) {
	for _, unit := range units {
		t.Run(unit, func(t *testing.T) {
			text := regexp.MustCompile(`ExecStart=\S+`).
				ReplaceAllString(read(t, unit), "ExecStart=/bin/true")
			path := filepath.Join(t.TempDir(), unit)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			// man pages are not installed either: only lines about our unit's keys and values count.
			out := run(t, "systemd-analyze", "verify", "--man=no", path)
			for _, line := range strings.Split(out, "\n") {
				if strings.Contains(line, unit) {
					t.Errorf("systemd says: %s", line)
				}
			}
		})
	}
}

func TestSystemdCountsLittleExposure(t *testing.T) {
	for _, unit := range units {
		// Threshold in tenths; the device needs its devices and the network and is at about 1.8.
		out := run(t, "systemd-analyze", "security", "--offline=true", "--threshold=25", "./"+unit)
		if !strings.Contains(out, "OK") {
			t.Errorf("%s:\n%s", unit, out)
		}
	}
}

// TestEveryLineSaysWhy holds each group of settings to a comment: a blank line ends a group, and a
// group without a comment may hold only what explains itself.
func TestEveryLineSaysWhy(t *testing.T) {
	plain := regexp.MustCompile(`^(\[|Description=|Documentation=|WantedBy=)`)
	for _, unit := range units {
		said := false
		for i, line := range strings.Split(read(t, unit), "\n") {
			switch {
			case line == "":
				said = false
			case strings.HasPrefix(line, "#"):
				said = true
			case !said && !plain.MatchString(line):
				t.Errorf("%s:%d: %s: no comment says why", unit, i+1, line)
			}
		}
	}
}

func TestTheDaemonMayReadTheClocksStateAndNothingPrivileged(t *testing.T) {
	for _, unit := range units {
		text := read(t, unit)
		for _, want := range []string{
			"\nCapabilityBoundingSet=\n", "\nNoNewPrivileges=yes\n", "\nProtectSystem=strict\n",
			"\nSystemCallFilter=adjtimex clock_adjtime\n", "\nRestart=always\n", "\nType=notify\n",
			"\nStartLimitIntervalSec=0\n", "\nWatchdogSignal=SIGABRT\n", "\nLimitCORE=0\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no line %q", unit, strings.TrimSpace(want))
			}
		}
		for _, trap := range []string{
			"\nRestartSteps=", "\nProtectClock=", "\nDynamicUser=", "\nProcSubset=",
		} {
			if strings.Contains(text, trap) {
				t.Errorf("%s: has %s", unit, strings.TrimSpace(trap))
			}
		}
	}
	online := regexp.MustCompile(`(?m)^(After|Wants|Requires)=.*network-online`)
	if online.MatchString(read(t, "chitd.service")) {
		t.Error("chitd waits for the network before it prints")
	}
}

func TestUsersOfTheUnitsAreMade(t *testing.T) {
	users := read(t, "sysusers.d/chit.conf")
	for _, unit := range units {
		m := regexp.MustCompile(`(?m)^User=(.+)$`).FindStringSubmatch(read(t, unit))
		if m == nil || !regexp.MustCompile(`(?m)^u `+m[1]+` `).MatchString(users) {
			t.Errorf("%s: user %v is not in sysusers.d", unit, m)
		}
	}
	groups := regexp.MustCompile(`(?m)^SupplementaryGroups=(.+)$`).
		FindStringSubmatch(read(t, "chitd.service"))
	for _, g := range strings.Fields(groups[1]) {
		if !regexp.MustCompile(`(?m)^g ` + g + ` `).MatchString(users) {
			t.Errorf("group %s is not in sysusers.d", g)
		}
	}
	path, err := filepath.Abs("sysusers.d/chit.conf") // A relative one is looked for in /etc.
	if err != nil {
		t.Fatal(err)
	}
	run(t, "systemd-sysusers", "--dry-run", path)
}
