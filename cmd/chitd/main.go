// Command chitd is the kitchen daemon: it hears tickets over MQTT, remembers each before it prints,
// prints it, sounds the buzzer and answers with a signed acknowledgement.
package main

import (
	"os"
	_ "time/tzdata" // Small systems have no zone files.

	"chit/device/program"
)

// version is set by the linker; empty stands for what the build knows of itself.
var version string

func main() {
	os.Exit(program.Main("chitd", version, os.Args[1:], os.Stdout, os.Stderr))
}
