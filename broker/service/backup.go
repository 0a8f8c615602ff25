package service

import (
	"fmt"
	"slices"
	"strings"

	"chit/config"
)

// validateBackups checks that who takes over is another station of the tenant. stations are all of
// them, by tenant/station. Nothing is handed on from a backup to its own backup, so a pair may name
// each other.
func (c *Config) validateBackups(stations map[string]string) error {
	for i, k := range c.Kitchens {
		for j, s := range k.Stations {
			key := fmt.Sprintf("kitchens[%d].stations[%d].backup", i, j)
			_, known := stations[k.Tenant+"/"+s.Backup]
			switch {
			case s.Backup == "":
			case s.Backup == s.ID:
				return config.Field(key, "found %q, the station itself, expected another one; a "+
					"printer cannot stand in for itself", s.Backup)
			case !known:
				return config.Field(key, "found %q, expected another station of tenant %s: %s",
					s.Backup, k.Tenant, others(stations, k.Tenant, s.ID))
			}
		}
	}
	return nil
}

// validateAlso checks that copies go to other stations of the tenant, once each. Nothing is copied
// on from there, so stations may name each other.
func (c *Config) validateAlso(stations map[string]string) error {
	for i, k := range c.Kitchens {
		for j, s := range k.Stations {
			for n, also := range s.Also {
				key := fmt.Sprintf("kitchens[%d].stations[%d].also[%d]", i, j, n)
				_, known := stations[k.Tenant+"/"+also]
				switch {
				case also == s.ID:
					return config.Field(key, "found %q, the station itself, expected another one; it "+
						"prints its tickets anyway", also)
				case !known:
					return config.Field(key, "found %q, expected another station of tenant %s: %s", also,
						k.Tenant, others(stations, k.Tenant, s.ID))
				case slices.Contains(s.Also[:n], also):
					return config.Field(key, "found %q twice, expected each station once; one copy is "+
						"enough", also)
				}
			}
		}
	}
	return nil
}

// others lists a tenant's stations but one.
func others(stations map[string]string, tenant, but string) string {
	var names []string
	for name := range stations {
		if id, mine := strings.CutPrefix(name, tenant+"/"); mine && id != but {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
