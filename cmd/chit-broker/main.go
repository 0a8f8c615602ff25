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

	"chit/broker/program"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := program.Run(ctx, "chit-broker", version, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "chit-broker: error:", err)
	if errors.Is(err, program.ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}
