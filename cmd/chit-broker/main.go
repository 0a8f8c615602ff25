// Command chit-broker is the cloud broker: it takes orders in over HTTP, owes them to kitchens and keeps
// what could not be delivered.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // Small systems have no zone files.

	"chit/broker/program"
)

// version is set by the linker; empty stands for what the build knows of itself.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := program.Run(ctx, "chit-broker", version, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "chit-broker: error:", err)
	if hint := program.Hint("chit-broker", err); hint != "" {
		fmt.Fprintln(os.Stderr, "chit-broker: hint:", hint)
	}
	if errors.Is(err, program.ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}
