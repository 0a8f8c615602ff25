package service

import (
	"slices"
	"strings"
	"testing"

	"chit/broker/delivery"
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

func TestCopiesGoToOtherStationsOfTheTenant(t *testing.T) {
	for _, test := range []struct {
		also []string
		want string
	}{
		{nil, ""},
		{[]string{"bar", "pass"}, ""},
		{[]string{"bar", "grill"}, `kitchens[0].stations[0].also[1]: found "grill", the station itself`},
		{[]string{"roof"}, `kitchens[0].stations[0].also[0]: found "roof", expected another station ` +
			`of tenant main: bar, pass`},
		{[]string{"theirs"}, `kitchens[0].stations[0].also[0]: found "theirs"`},
		{[]string{"bar", "bar"}, `kitchens[0].stations[0].also[1]: found "bar" twice`},
	} {
		list := []Kitchen{
			{ID: "main", Tenant: "main", Zone: "UTC", Lease: leaseMin, Stations: []Station{
				{ID: "grill", Printer: "main", Also: test.also},
				{ID: "bar", Printer: "main", Also: []string{"grill"}}}},
			{ID: "front", Tenant: "main", Zone: "UTC", Lease: leaseMin, Stations: []Station{
				{ID: "pass", Printer: "main"}}},
			{ID: "main", Tenant: "other", Zone: "UTC", Lease: leaseMin, Stations: []Station{
				{ID: "theirs", Printer: "main"}}},
		}
		c := Config{Kitchens: list}
		err := c.validateKitchens()
		if test.want == "" && err != nil || test.want != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.also, err, test.want)
		}
		if len(test.also) != 2 || test.want != "" {
			continue
		}
		k, err := newKitchens(list)
		if err != nil {
			t.Fatal(err)
		}
		want := []delivery.Copy{{Station: "bar", Kitchen: "main"}, {Station: "pass", Kitchen: "front"}}
		if got := k.also("main", "grill"); !slices.Equal(got, want) {
			t.Errorf("copies %v, want %v", got, want)
		}
	}
}
