package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestSampleShowsEveryKeyWithCommentUnitAndDefault(t *testing.T) {
	want := `# What must survive a restart.
#state = "/var/lib/chit"

# Time of an answer. Unit: duration.
#lease = "30s"

# Unit: columns of font A.
#columns = 48

#port = 9100

#ratio = 0.5

#debug = true

#names = ["localhost", "127.0.0.1"]

#listen = "127.0.0.1"

# The MQTT listener.
[mqtt]

# Address of the MQTT listener.
#listen = ":8883"

# Unit: duration.
#keep_alive = "20s"

# One table for each printer.
#[[printers]]

#name = ""

#url = "tcp://127.0.0.1:9100"

#columns = 48

# One table for each station.
#[stations.NAME]

#printer = "main"

#stale_after = "30m0s"
`
	if got := string(Sample(kitchen{})); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestASampleIsAFileThatChangesNothing(t *testing.T) {
	var bare, sampled, spoken kitchen
	if err := Parse("", nil, &bare); err != nil {
		t.Fatal(err)
	}
	sample := Sample(&bare)
	if err := Parse("sample", sample, &sampled); err != nil {
		t.Fatal(err)
	}
	// The keys without their comment signs say the defaults once more.
	said := regexp.MustCompile(`(?m)^#([a-z_]+ = )`).ReplaceAll(sample, []byte("$1"))
	table, _, _ := strings.Cut(string(said), "# One table")
	if err := Parse("sample", []byte(table), &spoken); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(bare, sampled) || !reflect.DeepEqual(bare, spoken) {
		t.Errorf("bare %+v\nsampled %+v\nspoken %+v", bare, sampled, spoken)
	}
}
