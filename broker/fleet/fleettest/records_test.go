package fleettest

import "testing"

func TestMemoryPassesTheExam(t *testing.T) { Exercise(t, &Memory{}) }
