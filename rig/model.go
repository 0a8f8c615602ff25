package rig

import (
	"chit/printer/profile"
	"chit/printer/virtual"
)

// Model is a good used printer of the given profile: it has every answer, a mechanism that takes
// time, and answers that wait for the next client, as those of USB and serial printers do.
func Model(p profile.Profile) virtual.Config {
	c := virtual.ConfigFor(p)
	c.BufferBytes, c.LinesPerSecond, c.KeepAnswers = 64<<10, 200, true
	c.LineFeeds, c.Cuts = 48211, 3977
	return c
}
