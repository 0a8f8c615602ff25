package firmware

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func lines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, line := range strings.Split(string(raw), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// udev(7), "RULES FILES": key, operator, quoted value, separated by commas. A rule that breaks it
// is ignored by udev with a line in a log that nobody reads.
func TestUdevRulesKeepTheGrammar(t *testing.T) {
	match := regexp.MustCompile(
		`^(ACTION|KERNEL|SUBSYSTEM|SUBSYSTEMS|ATTR\{[\w/]+\}|ATTRS\{\w+\}|ENV\{\w+\})==".+"$`)
	assign := regexp.MustCompile(
		`^((GROUP|MODE|ATTR\{[\w/]+\})="[^"]+"|(SYMLINK|TAG)\+="[^"]+")$`)
	for _, line := range lines(t, "70-chit.rules") {
		matches, assigns := 0, 0
		for _, part := range strings.Split(line, ", ") {
			switch {
			case match.MatchString(part) && assigns == 0:
				matches++
			case assign.MatchString(part):
				assigns++
			default:
				t.Errorf("%q in %s", part, line)
			}
		}
		if matches == 0 || assigns == 0 {
			t.Errorf("a rule that matches all or does nothing: %s", line)
		}
	}
}

func TestDevicesBelongToTheDaemonsGroupsAndToNobodyElse(t *testing.T) {
	raw, err := os.ReadFile("../systemd/chitd.service")
	if err != nil {
		t.Fatal(err)
	}
	groups := regexp.MustCompile(`(?m)^SupplementaryGroups=(.+)$`).FindStringSubmatch(string(raw))
	group, mode := regexp.MustCompile(`GROUP="(\w+)"`), regexp.MustCompile(`MODE="(\d+)"`)
	found := map[string]bool{}
	for _, line := range lines(t, "70-chit.rules") {
		if m := group.FindStringSubmatch(line); m != nil {
			found[m[1]] = true
			if mode := mode.FindStringSubmatch(line); mode == nil || mode[1] != "0660" {
				t.Errorf("mode %v in %s, want 0660", mode, line)
			}
		}
	}
	for _, g := range strings.Fields(groups[1]) {
		if !found[g] {
			t.Errorf("no rule gives group %s anything", g)
		}
		delete(found, g)
	}
	if len(found) != 0 {
		t.Errorf("groups %v are not the daemon's", found)
	}
}

// The lines of README's wiring are the ones that the boot settings prepare.
func TestBootSettingsPrepareTheWiredLines(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Join(lines(t, "config.txt"), "\n")
	for what, want := range map[string]string{"buzzer": "op,dl", "lamp": "op,dl", "button": "ip,pu"} {
		m := regexp.MustCompile(`\| ` + what + ` \| GPIO(\d+) `).FindSubmatch(readme)
		if m == nil {
			t.Errorf("README does not wire the %s", what)
			continue
		}
		if line := "gpio=" + string(m[1]) + "=" + want; !strings.Contains(settings, line) {
			t.Errorf("config.txt has no %s for the %s", line, what)
		}
	}
	known := regexp.MustCompile(`^(\[all\]|gpio=\d+=(op,dl|ip,pu)|dtparam=\w+=\w+|dtparam=\w+)$`)
	for _, line := range lines(t, "config.txt") {
		if !known.MatchString(line) || len(line) > 98 {
			t.Errorf("config.txt: %q; the firmware ignores what it cannot read and cuts at 98", line)
		}
	}
}
