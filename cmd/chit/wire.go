package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"chit/device/wire"
)

func newWire() *cobra.Command {
	c := &cobra.Command{
		Use:     "wire",
		Short:   "Look at messages between broker and device",
		Example: "  chit wire decode message.jws",
	}
	c.AddCommand(wireDecode())
	return c
}

func wireDecode() *cobra.Command {
	var topic string
	var keys []string
	c := &cobra.Command{
		Use:   "decode [FILE]",
		Short: "Explain any message of ours",
		Long: `Explain a message: a signed one (three parts with dots), a hint, an event or a
request. Without --key the signature is not checked, and the output says so. Everything wrong with
it is listed; the exit code is 1 if anything is.`,
		Example: "  chit wire decode message.jws\n" +
			"  mosquitto_sub -C 1 -t 'chit/1/+/+/ack' | chit wire decode --topic chit/1/main/dev-x/ack",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in := c.InOrStdin()
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			raw, err := io.ReadAll(io.LimitReader(in, wire.MessageMax+2))
			if err != nil {
				return err
			}
			trusted, err := publicKeys(keys)
			if err != nil {
				return err
			}
			for len(raw) > 0 && (raw[len(raw)-1] == '\n' || raw[len(raw)-1] == '\r') {
				raw = raw[:len(raw)-1]
			}
			decoded := wire.Decode(topic, raw, trusted)
			if err := printJSON(c.OutOrStdout(), decoded); err != nil {
				return err
			}
			if len(decoded.Problems) > 0 {
				return fmt.Errorf("%d problems with this message", len(decoded.Problems))
			}
			return nil
		},
	}
	c.Flags().StringVar(&topic, "topic", "", "the topic it was seen on")
	c.Flags().StringSliceVar(&keys, "key", nil,
		"public key to check with, base64 of 32 bytes; repeatable")
	return c
}

func publicKeys(texts []string) (wire.Keys, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var list []ed25519.PublicKey
	for _, text := range texts {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			raw, err = base64.RawURLEncoding.DecodeString(text)
		}
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return nil, misuse("", "--key: found %d characters, expected base64 of 32 bytes", len(text))
		}
		list = append(list, raw)
	}
	return wire.NewKeys(list...)
}
