package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrFault is returned for a fault of an unknown name.
var ErrFault = errors.New("simulate: unknown fault")

// FaultName is one thing that goes wrong.
type FaultName string

// The faults. Each lasts for a while, or happens once.
const (
	Loss          FaultName = "loss"           // the engine acknowledges messages and drops them
	Duplicate     FaultName = "duplicate"      // messages come twice, much later too
	Delay         FaultName = "delay"          // messages take seconds
	Reorder       FaultName = "reorder"        // messages overtake each other
	Partition     FaultName = "partition"      // no bytes between a kitchen and the engine
	Drop          FaultName = "drop"           // a kitchen's connection breaks, with what is under way
	OldWill       FaultName = "old-will"       // wills come late, after the next birth
	BrokerCrash   FaultName = "broker-crash"   // at once, or around a flush
	DeviceCrash   FaultName = "device-crash"   // the process ends between any two effects
	PowerCut      FaultName = "power-cut"      // the device's machine loses power
	SDSwap        FaultName = "sd-swap"        // and comes back with an empty journal
	SDClone       FaultName = "sd-clone"       // a second machine runs from a copy of the card
	DiskFull      FaultName = "disk-full"      // commits of a device, or of the broker, fail
	CommitUnknown FaultName = "commit-unknown" // one commit fails and may be on disk
	ClockJump     FaultName = "clock-jump"     // a wall clock jumps; the broker's only forward
	PaperOut      FaultName = "paper-out"      // until a person puts a roll in
	Cover         FaultName = "cover"          // open until a person closes it
	Jam           FaultName = "jam"            // the cutter, until a person frees it
	PowerOff      FaultName = "power-off"      // of a printer
	ForgetBuffer  FaultName = "forget-buffer"  // a printer resets itself in the middle of work
	Cable         FaultName = "cable"          // a printer's connection falls
	Silent        FaultName = "silent"         // a printer prints and says nothing
	LateAnswer    FaultName = "late-answer"    // a printer answers late
	Slow          FaultName = "slow"           // a printer's mechanism, and disks
	Clone         FaultName = "clone"          // printers that lack answers good ones give
	Mute          FaultName = "mute"           // printers that never answer
)

// names is every fault with how often a day it happens to each kitchen or, below, to the broker.
var names = []struct {
	name            FaultName
	kitchen, broker float64
	shortest, most  time.Duration
}{
	{Loss, 1, 0, 2 * time.Minute, 20 * time.Minute},
	{Duplicate, 1, 0, 2 * time.Minute, 30 * time.Minute},
	{Delay, 0.7, 0, time.Minute, 20 * time.Minute},
	{Reorder, 1, 0, time.Minute, 30 * time.Minute},
	{Partition, 1.5, 0, 5 * time.Second, 10 * time.Minute},
	{Drop, 4, 0, 0, 0},
	{OldWill, 0.7, 0, 10 * time.Minute, time.Hour},
	{BrokerCrash, 0, 2, 0, 0}, // See downtime.
	{DeviceCrash, 2.5, 0, time.Second, 10 * time.Second},
	{PowerCut, 0.4, 0, 20 * time.Second, 10 * time.Minute},
	{SDSwap, 0.1, 0, time.Minute, 5 * time.Minute},
	{SDClone, 0.05, 0, 0, 0},
	{DiskFull, 0.6, 0.2, 5 * time.Second, 5 * time.Minute},
	{CommitUnknown, 0.6, 0.5, 0, 0},
	{ClockJump, 0.4, 0.3, 0, 0},
	{PaperOut, 1, 0, 20 * time.Second, 20 * time.Minute},
	{Cover, 0.7, 0, 5 * time.Second, 5 * time.Minute},
	{Jam, 0.2, 0, 20 * time.Second, 10 * time.Minute},
	{PowerOff, 0.7, 0, 2 * time.Second, 5 * time.Minute},
	{ForgetBuffer, 0.4, 0, 0, 0},
	{Cable, 0.6, 0, time.Second, 2 * time.Minute},
	{Silent, 0.3, 0, 30 * time.Second, 10 * time.Minute},
	{LateAnswer, 0.4, 0, 5 * time.Minute, 30 * time.Minute},
	{Slow, 0.5, 0, 5 * time.Minute, 40 * time.Minute},
	{Clone, 0, 0, 0, 0},
	{Mute, 0, 0, 0, 0},
}

// All lists every fault.
func All() []FaultName {
	var all []FaultName
	for _, n := range names {
		all = append(all, n.name)
	}
	return all
}

// ParseFaults reads "all", "none" or a comma list of names. Errors wrap [ErrFault].
func ParseFaults(text string) ([]FaultName, error) {
	switch strings.TrimSpace(text) {
	case "all":
		return All(), nil
	case "none", "":
		return nil, nil
	}
	var list []FaultName
	for _, word := range strings.Split(text, ",") {
		name := FaultName(strings.TrimSpace(word))
		if !slices.Contains(All(), name) {
			return nil, fmt.Errorf("%w: found %q, expected all, none or a comma list of %s", ErrFault,
				name, strings.Trim(strings.ReplaceAll(fmt.Sprint(All()), " ", ", "), "[]"))
		}
		list = append(list, name)
	}
	return list, nil
}

// Fault is one fault of a story. It is part of the plan, so that a story can be told without it.
type Fault struct {
	Name FaultName
	// Kitchen is whose, counted from 0; -1 is the broker.
	Kitchen int
	At, For time.Duration
	// Pick chooses among what the fault can do.
	Pick uint64
}

func (f Fault) String() string {
	who := fmt.Sprintf("kitchen %d", f.Kitchen)
	if f.Kitchen < 0 {
		who = "broker"
	}
	text := fmt.Sprintf("%s  %s %s", clock(f.At), who, f.Name)
	if f.For > 0 {
		text += fmt.Sprintf(" for %v", f.For.Round(time.Millisecond))
	}
	return text
}
