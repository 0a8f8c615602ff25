// Package firmware holds what lies under the daemon on a Pi: udev rules and boot settings; its
// tests hold them to their grammar and to the daemon's defaults. README.md has the wiring.
package firmware
