package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	broker "chit/broker/program"
	device "chit/device/program"
)

// newBroker is chit-broker inside chit, for the demo and for machines with one file to copy.
func newBroker() *cobra.Command {
	return &cobra.Command{
		Use: "broker", Short: "Run chit-broker", DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			err := broker.Run(c.Context(), "chit broker", version, args, c.OutOrStdout(),
				c.ErrOrStderr())
			if errors.Is(err, broker.ErrUsage) {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
			return err
		},
	}
}

// newDaemon is chitd inside chit.
func newDaemon() *cobra.Command {
	return &cobra.Command{
		Use: "daemon", Short: "Run chitd", DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			err := device.Run(c.Context(), args, c.OutOrStdout(), c.ErrOrStderr())
			if errors.Is(err, device.ErrUse) {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
			if err != nil {
				return hinted{err, device.Hint(err)}
			}
			return nil
		},
	}
}
