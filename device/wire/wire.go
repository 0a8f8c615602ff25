// Package wire is the contract between broker and device, version 1, and the only thing they share.
package wire

// Sizes of the contract, in bytes.
const (
	// MessageMax is the largest published message.
	MessageMax = 64 << 10
	// ContentMax is the largest ticket body at a door.
	ContentMax = 40 << 10
)
