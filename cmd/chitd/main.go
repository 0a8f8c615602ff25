// Command chitd is the kitchen daemon: it hears tickets over MQTT, remembers each before it prints,
// prints it, sounds the buzzer and answers with a signed acknowledgement.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // Small systems have no zone files.

	"chit/device/program"
)

// version is set by the linker; empty stands for what the build knows of itself.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := program.Run(ctx, "chitd", version, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "chitd: error:", err)
	if hint := program.Hint("chitd", err); hint != "" {
		fmt.Fprintln(os.Stderr, "chitd: hint:", hint)
	}
	if errors.Is(err, program.ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}
