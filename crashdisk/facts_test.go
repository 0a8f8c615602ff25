package crashdisk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"chit/crashdisk"
	"chit/device/wire"
	"chit/printer/escpos"
)

// fact is something that the world outside knows from now on. A power cut does not take it back.
type fact struct {
	Born     *born     `json:",omitempty"`
	Ack      *wire.Ack `json:",omitempty"`
	Paper    *paper    `json:",omitempty"`
	Ticket   string    `json:",omitempty"` // accepted, answered with 202
	Digest   string    `json:",omitempty"`
	Sent     *sent     `json:",omitempty"`
	Settled  *settled  `json:",omitempty"`
	Dead     string    `json:",omitempty"` // shown to people as a dead letter
	Welcomed *welcomed `json:",omitempty"`
}

// born is what a device's hello says.
type born struct {
	Journal string
	Boot, N uint64
}

// paper is a document whose bytes left for the printer.
type paper struct {
	Printer, Ticket string
	Token           escpos.Token
	Marked          bool // POSSIBLE DUPLICATE stands on it
}

// sent is a ticket that left the broker.
type sent struct {
	Ticket, Device, Day, Number string
	Attempt                     int
}

type settled struct {
	Ticket   string
	Evidence wire.Evidence
}

type welcomed struct {
	Device, Session string
	Epoch           uint64
}

// told collects facts, and says them to the disk's log where there is one.
type told struct {
	mu   sync.Mutex
	word *os.File
	all  []fact
}

// say returns when the facts are in the log: what a program does next comes after them.
func (t *told) say(facts ...fact) error {
	if len(facts) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, facts...)
	if t.word == nil {
		return nil
	}
	line, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	_, err = t.word.Write(line)
	return err
}

func readFacts(lines [][]byte) ([]fact, error) {
	var all []fact
	for _, line := range lines {
		var some []fact
		if err := json.Unmarshal(line, &some); err != nil {
			return nil, fmt.Errorf("the log says %q: %w", line, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// openTold reads the facts of earlier lives and goes on in the log.
func openTold(past, word string) (*told, error) {
	raw, err := os.ReadFile(past)
	if err != nil {
		return nil, err
	}
	t := &told{}
	if err := json.Unmarshal(raw, &t.all); err != nil {
		return nil, err
	}
	t.word, err = crashdisk.OpenWord(word)
	return t, err
}
