package crashdisk_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"chit/crashdisk"
)

var (
	states = flag.Int("crashdisk.states", 1000, "power cuts in all")
	seed   = flag.Uint64("crashdisk.seed", 0, "what the cuts follow from; 0 draws one")
)

// Variables of the environment.
const (
	// noCrashdisk leaves all of it out, with a word. CI never sets it.
	noCrashdisk = "CHIT_NO_CRASHDISK"
	// childOf names the workload that this process is; the others are its arguments.
	childOf     = "CHIT_CRASHDISK_CHILD"
	childFolder = "CHIT_CRASHDISK_FOLDER"
	childWord   = "CHIT_CRASHDISK_WORD"
	childPast   = "CHIT_CRASHDISK_PAST"
	childLife   = "CHIT_CRASHDISK_LIFE"
	childSeed   = "CHIT_CRASHDISK_SEED"
	// childWrong is what the workload does wrong on purpose: noSync or hasty.
	childWrong = "CHIT_CRASHDISK_WRONG"
)

// The faults of a workload.
const (
	noSync = "noSync" // commits are left to the operating system
	hasty  = "hasty"  // promises leave before their commit
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case os.Getenv(childOf) != "":
		if err := child(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case os.Getenv(noCrashdisk) == "1":
		fmt.Println("SKIP\tchit/crashdisk: " + noCrashdisk + "=1: no power was cut, nothing was shown")
		return
	}
	if err := crashdisk.Missing(); err != nil {
		fmt.Fprintf(os.Stderr, "crashdisk: this machine lacks what the power cuts need:\n%v\n"+
			"To go without them, and know nothing about power cuts: %s=1\n", err, noCrashdisk)
		os.Exit(1)
	}
	code, inside, err := crashdisk.Private()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if inside {
		if *seed == 0 {
			*seed = rand.Uint64()
		}
		code = m.Run()
	}
	os.Exit(code)
}

// child is a judge, or the process that the power is cut under: that one ends by an error alone.
func child() error {
	if workload, ok := strings.CutPrefix(os.Getenv(childOf), judgeOf); ok {
		return judge(workload, os.Stdin, os.Stdout)
	}
	folder := os.Getenv(childFolder)
	life := os.Getenv(childLife)
	number, err := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	if err != nil {
		return err
	}
	t, err := openTold(os.Getenv(childPast), os.Getenv(childWord))
	if err != nil {
		return err
	}
	wrong := os.Getenv(childWrong)
	switch os.Getenv(childOf) {
	case journalName:
		random := rand.New(rand.NewPCG(number, 1))
		d := newDevice(t, filepath.Join(folder, journalName), life, random)
		d.noSync, d.hasty = wrong == noSync, wrong == hasty
		for err = d.start(); err == nil; err = d.work() {
			continue
		}
		return err
	case storeName:
		b, err := newBroker(t, filepath.Join(folder, storeName), life, number,
			brokerOptions{n: number >> 40, noSync: wrong == noSync, hasty: wrong == hasty})
		if err != nil {
			return err
		}
		if err := b.store.Check(); err != nil {
			return err
		}
		return b.work(context.Background())
	}
	return fmt.Errorf("no such workload: %s", os.Getenv(childOf))
}
