package main

import (
	"errors"

	"github.com/spf13/cobra"

	broker "chit/broker/program"
	device "chit/device/program"
)

// newBroker is chit-broker inside chit, for the demo and for machines with one file to copy.
func newBroker() *cobra.Command {
	return &cobra.Command{
		Use: "broker", Short: "Run chit-broker", DisableFlagParsing: true,
		Example: "  chit broker --config /etc/chit/broker.toml\n  chit broker --help",
		RunE: func(c *cobra.Command, args []string) error {
			err := broker.Run(c.Context(), "chit broker", version, args, c.OutOrStdout(),
				c.ErrOrStderr())
			if errors.Is(err, broker.ErrUsage) {
				return misuse(broker.Hint("chit broker", err), "%w", err)
			}
			if err != nil {
				return hinted{err, broker.Hint("chit broker", err)}
			}
			return nil
		},
	}
}

// newDaemon is chitd inside chit.
func newDaemon() *cobra.Command {
	return &cobra.Command{
		Use: "daemon", Short: "Run chitd", DisableFlagParsing: true,
		Example: "  chit daemon --config /etc/chit/device.toml\n  chit daemon --help",
		RunE: func(c *cobra.Command, args []string) error {
			err := device.Run(c.Context(), "chit daemon", version, args, c.OutOrStdout(),
				c.ErrOrStderr())
			if errors.Is(err, device.ErrUsage) {
				return misuse(device.Hint("chit daemon", err), "%w", err)
			}
			if err != nil {
				return hinted{err, device.Hint("chit daemon", err)}
			}
			return nil
		},
	}
}
