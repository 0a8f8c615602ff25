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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := program.Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil:
	case errors.Is(err, program.ErrUse):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "chitd: error:", err)
		if hint := program.Hint(err); hint != "" {
			fmt.Fprintln(os.Stderr, "chitd: hint:", hint)
		}
		os.Exit(1)
	}
}
