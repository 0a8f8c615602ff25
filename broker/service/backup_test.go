package service

import (
	"strings"
	"testing"
)

func TestABackupIsAnotherStationOfTheTenant(t *testing.T) {
	for _, test := range []struct{ backup, want string }{
		{"", ""},
		{"bar", ""},
		{"grill", `kitchens[0].stations[0].backup: found "grill", the station itself`},
		{"roof", `kitchens[0].stations[0].backup: found "roof", expected another station of ` +
			`tenant main: bar`},
		{"theirs", `kitchens[0].stations[0].backup: found "theirs"`},
	} {
		c := Config{Kitchens: []Kitchen{
			{ID: "main", Tenant: "main", Zone: "UTC", Lease: leaseMin, Stations: []Station{
				{ID: "grill", Printer: "main", Backup: test.backup},
				{ID: "bar", Printer: "main", Backup: "grill"}}},
			{ID: "main", Tenant: "other", Zone: "UTC", Lease: leaseMin, Stations: []Station{
				{ID: "theirs", Printer: "main"}}},
		}}
		err := c.validateKitchens()
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.backup, err, test.want)
		}
	}
}
