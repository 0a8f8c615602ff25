package core_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"chit/device/core"
	"chit/device/wire"
)

// modelStale is how old a ticket of the model may grow.
const modelStale = 20 * time.Second

// longPress is a person's word that all that is stale shall print.
func (w *world) longPress() {
	w.wantAll()
	w.batch(core.Button{Long: true})
}

func (w *world) wantAll() {
	for id := range w.wished {
		w.wished[id] = w.now.Up
	}
}

// fromElsewhere is what the broker sends about stale tickets.
func (w *world) fromElsewhere() {
	w.commands++
	c := wire.Command{ID: fmt.Sprint("c", w.commands), Do: "backlog", Args: map[string]string{
		"printer": []string{"hot", "bar"}[w.commands%2], "station": "s",
		"tickets": fmt.Sprintf(`[{"id":%q,"age_ms":1000}]`, w.pickID()),
	}}
	if answer := rapid.SampledFrom([]string{"", "print", "drop"}).Draw(w.rt, "answer"); answer != "" {
		id := w.pickID()
		c.Do, c.Args = "backlog-answer", map[string]string{"answer": answer, "tickets": id}
		if _, ok := w.wished[id]; ok && answer == "print" {
			w.wished[id] = w.now.Up
		}
	}
	w.batch(core.CommandArrived{Command: c})
}

func (w *world) isPrinting(id string) bool {
	for _, p := range w.at {
		if p.Ticket == id {
			return true
		}
	}
	return false
}

// wish notes which tickets were handed over just now under a policy that does not print them late.
func (w *world) wish(asks map[string]bool) {
	for id, ask := range asks {
		if ask {
			w.wished[id] = w.now.Up
		}
	}
}
