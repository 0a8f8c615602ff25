package desk_test

import (
	"context"
	"errors"
	"testing"

	"chit/broker/desk"
)

func TestAFloodAtTheDoorLeavesRoomForTheRelay(t *testing.T) {
	d := desk.New(desk.Config{QueueMax: 3}) // Not running, so nothing leaves the queue.
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if _, err := d.Do(gone, add{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("not queued: %v", err)
		}
	}
	if _, err := d.Do(gone, add{}); !errors.Is(err, desk.ErrBusy) {
		t.Errorf("the door's fourth: %v", err)
	}
	for range 3 {
		if err := d.Submit(add{}, nil); err != nil {
			t.Errorf("the relay's: %v", err)
		}
	}
	if err := d.Submit(add{}, nil); !errors.Is(err, desk.ErrBusy) {
		t.Errorf("the relay's fourth: %v", err)
	}
}
