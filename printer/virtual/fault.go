package virtual

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrFault says that a fault's text cannot be understood; the wrapping error says what was found
// and lists what is known.
var ErrFault = errors.New("bad fault")

// FaultName is one thing that goes wrong with printers.
type FaultName string

// The faults. Those with "after" wait for that many lines (cuts, answers, bytes) and then happen
// once; without it they happen at once.
const (
	PaperOut      FaultName = "paper-out"      // after=LINES
	NearEnd       FaultName = "near-end"       // after=LINES
	CoverOpen     FaultName = "cover-open"     // after=LINES
	CutterError   FaultName = "cutter-error"   // after=CUTS, slip: the jam frees itself, ENQ clears it
	HeadHot       FaultName = "head-hot"       // after=LINES
	Broken        FaultName = "broken"         // after=LINES: an unrecoverable error
	Slow          FaultName = "slow"           // lines-per-second=N
	Silent        FaultName = "silent"         // after=ANSWERS: prints, and answers nothing any more
	Drop          FaultName = "drop"           // after-bytes=N: the connection ends
	CableOut      FaultName = "cable-out"      // after-bytes=N, after=LINES: nothing comes or goes
	PowerCut      FaultName = "power-off"      // after-bytes=N, after=LINES, for=DURATION
	ForgetBuffer  FaultName = "forget-buffer"  // after-bytes=N, after=LINES: a reset in the middle
	LateAnswers   FaultName = "late-answers"   // delay=DURATION
	Clone         FaultName = "clone"          // no GS ( H
	Mute          FaultName = "mute"           // never answers anything
	NoFence       FaultName = "no-fence"       // no GS r
	NoOdometer    FaultName = "no-odometer"    // no GS g 2
	NoASB         FaultName = "no-asb"         // no GS a
	NoClear       FaultName = "no-clear"       // DLE DC4 8 is not obeyed and not answered
	OdometerLoses FaultName = "odometer-loses" // power-off forgets what the last job counted
	Kanji         FaultName = "kanji"          // starts in Kanji mode
)

// Fault is a name with its parameters; those that do not belong to the name are zero.
type Fault struct {
	Name FaultName
	// After counts lines of paper, cuts or answers, as the name says. HasAfter is false where the
	// fault happens at once.
	After    int
	HasAfter bool
	// AfterBytes counts received bytes from the moment the fault is raised.
	AfterBytes int64
	HasBytes   bool
	// LinesPerSecond belongs to slow.
	LinesPerSecond float64
	// Wait is the delay of late-answers and how long power-off lasts (0: until PowerOn).
	Wait time.Duration
	// Slip belongs to cutter-error: nothing is stuck any more, only the error stands until
	// DLE ENQ 1 or 2.
	Slip bool
}

// faultKeys lists each fault with the parameters it takes; the first word of a pair is the key, the
// second says what it counts, for people.
var faultKeys = []struct {
	name FaultName
	keys []string
	must bool // a parameter is required
}{
	{PaperOut, []string{"after"}, false},
	{NearEnd, []string{"after"}, false},
	{CoverOpen, []string{"after"}, false},
	{CutterError, []string{"after", "slip"}, false},
	{HeadHot, []string{"after"}, false},
	{Broken, []string{"after"}, false},
	{Slow, []string{"lines-per-second"}, true},
	{Silent, []string{"after"}, false},
	{Drop, []string{"after-bytes"}, false},
	{CableOut, []string{"after-bytes", "after"}, false},
	{PowerCut, []string{"after-bytes", "after", "for"}, false},
	{ForgetBuffer, []string{"after-bytes", "after"}, false},
	{LateAnswers, []string{"delay"}, true},
	{Clone, nil, false},
	{Mute, nil, false},
	{NoFence, nil, false},
	{NoOdometer, nil, false},
	{NoASB, nil, false},
	{NoClear, nil, false},
	{OdometerLoses, nil, false},
	{Kanji, nil, false},
}

// FaultNames lists the known faults, for help texts.
func FaultNames() []FaultName {
	names := make([]FaultName, len(faultKeys))
	for i, f := range faultKeys {
		names[i] = f.name
	}
	return names
}

// ParseFault reads a fault such as "paper-out:after=20" or "power-off:after-bytes=300,for=2s".
// Every error wraps [ErrFault].
func ParseFault(text string) (Fault, error) {
	name, params, _ := strings.Cut(strings.TrimSpace(text), ":")
	for _, known := range faultKeys {
		if string(known.name) != name {
			continue
		}
		f := Fault{Name: known.name}
		if params == "" && known.must {
			return Fault{}, fmt.Errorf("%w: %q needs %s=…", ErrFault, name, known.keys[0])
		}
		if params == "" {
			return f, nil
		}
		for _, pair := range strings.Split(params, ",") {
			if err := f.set(pair, known.keys); err != nil {
				return Fault{}, err
			}
		}
		return f, nil
	}
	return Fault{}, fmt.Errorf("%w: found %q, expected one of %s", ErrFault, name, faultList())
}

func faultList() string {
	var b strings.Builder
	for i, name := range FaultNames() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// set reads one key=value of a fault.
func (f *Fault) set(pair string, keys []string) error {
	key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
	if !slices.Contains(keys, key) {
		expected := "no parameter"
		if len(keys) > 0 {
			expected = strings.Join(keys, ", ")
		}
		return fmt.Errorf("%w: %s: found parameter %q, expected %s", ErrFault, f.Name, key, expected)
	}
	var err error
	switch key {
	case "after":
		f.After, err = strconv.Atoi(value)
		f.HasAfter = true
		if err == nil && f.After < 0 {
			err = strconv.ErrRange
		}
	case "after-bytes":
		f.AfterBytes, err = strconv.ParseInt(value, 10, 64)
		f.HasBytes = true
		if err == nil && f.AfterBytes < 0 {
			err = strconv.ErrRange
		}
	case "lines-per-second":
		f.LinesPerSecond, err = strconv.ParseFloat(value, 64)
		if err == nil && !(f.LinesPerSecond > 0 && f.LinesPerSecond <= 10_000) {
			err = strconv.ErrRange
		}
	case "delay", "for":
		f.Wait, err = time.ParseDuration(value)
		if err == nil && f.Wait < 0 {
			err = strconv.ErrRange
		}
	case "slip":
		f.Slip = true
		if value != "" && value != "true" {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %s: found %q, expected %s", ErrFault, f.Name, key, value, wants[key])
	}
	return nil
}

var wants = map[string]string{
	"after":            "a whole number from 0",
	"after-bytes":      "a whole number of bytes from 0",
	"lines-per-second": "a number above 0, at most 10000",
	"delay":            "a duration such as 2s",
	"for":              "a duration such as 2s",
	"slip":             "no value",
}

// String is the text that [ParseFault] reads.
func (f Fault) String() string {
	var params []string
	if f.HasBytes {
		params = append(params, "after-bytes="+strconv.FormatInt(f.AfterBytes, 10))
	}
	if f.HasAfter {
		params = append(params, "after="+strconv.Itoa(f.After))
	}
	if f.LinesPerSecond > 0 {
		params = append(params, "lines-per-second="+strconv.FormatFloat(f.LinesPerSecond, 'g', -1, 64))
	}
	switch {
	case f.Name == LateAnswers:
		params = append(params, "delay="+f.Wait.String())
	case f.Wait > 0:
		params = append(params, "for="+f.Wait.String())
	}
	if f.Slip {
		params = append(params, "slip")
	}
	if len(params) == 0 {
		return string(f.Name)
	}
	return string(f.Name) + ":" + strings.Join(params, ",")
}

// NamedFault is a known fault without parameters, for [Printer.Clear].
func NamedFault(name string) (Fault, error) {
	for _, known := range faultKeys {
		if string(known.name) == strings.TrimSpace(name) {
			return Fault{Name: known.name}, nil
		}
	}
	return Fault{}, fmt.Errorf("%w: found %q, expected one of %s", ErrFault, name, faultList())
}
