//go:build !failpoint

package failpoint

// Enabled is false in a normal build.
const Enabled = false

// Here does nothing in a normal build.
func Here(string) {}
