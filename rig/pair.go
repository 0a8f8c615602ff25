package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"chit/broker/intake"
)

// Pairing makes a pairing string for the stations, all of them where none is named, and says at
// which door it is good.
func (r *Rig) Pairing(ctx context.Context, stations ...string) (door, pairing string, err error) {
	body, err := json.Marshal(map[string][]string{"stations": stations})
	if err != nil {
		return "", "", err
	}
	status, raw, err := r.call(ctx, "POST", "/v1/devices/codes", body)
	if err != nil {
		return "", "", fmt.Errorf("making a pairing code: %w", err)
	}
	var code intake.Code
	if err := json.Unmarshal(raw, &code); err != nil || code.Pairing == "" {
		return "", "", fmt.Errorf("making a pairing code: status %d: %s", status, raw)
	}
	return r.https, code.Pairing, nil
}

// pair makes a code at the broker and gives it to the device, as a technician does.
func (r *Rig) pair(ctx context.Context) error {
	return r.pairWith(ctx, r.conf.Device, r.path("device.toml"))
}

func (r *Rig) pairWith(ctx context.Context, program []string, file string,
	stations ...string) error {
	door, pairing, err := r.Pairing(ctx, stations...)
	if err != nil {
		return err
	}
	args := append(slices.Clone(program[1:]), "pair", "--config", file, "--url", door, pairing)
	cmd := exec.CommandContext(ctx, program[0], args...)
	cmd.Env = os.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pairing the device: %w: %s", err, out)
	}
	return nil
}
