package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"chit/broker/intake"
)

// pair makes a code at the broker and gives it to the device, as a technician does.
func (r *Rig) pair(ctx context.Context) error {
	status, raw, err := r.call(ctx, "POST", "/v1/devices/codes", []byte("{}"))
	if err != nil {
		return fmt.Errorf("making a pairing code: %w", err)
	}
	var code intake.Code
	if err := json.Unmarshal(raw, &code); err != nil || code.Pairing == "" {
		return fmt.Errorf("making a pairing code: status %d: %s", status, raw)
	}
	args := append(append([]string{}, r.conf.Device[1:]...), "pair", "--config", r.path("device.toml"),
		"--url", r.https, code.Pairing)
	cmd := exec.CommandContext(ctx, r.conf.Device[0], args...)
	cmd.Env = os.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pairing the device: %w: %s", err, out)
	}
	return nil
}
