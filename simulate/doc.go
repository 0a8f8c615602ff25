// Package simulate runs whole kitchens for days in seconds: a broker, an MQTT engine, devices,
// printers and the people around them, in one goroutine, in virtual time, with everything going
// wrong that can. The same seed gives the same story, event by event.
//
// What is real: broker/delivery and its commands, broker/desk (stepped by hand), broker/relay
// (stepped by hand), every message signed and verified by device/wire, device/core, device/layout,
// printer/escpos, and printer/virtual, which gets the very bytes. The printed paper is the judge:
// what the programs say of themselves proves nothing.
//
// What is modelled, because it lives in goroutines, files or sockets:
//   - the store and the journal, as memory that a crash cuts off after a whole batch: a batch in
//     flight is there or is not (store, device);
//   - the MQTT engine: clean sessions, retained status, wills; it loses, repeats, delays and
//     reorders, and acknowledges what it drops (engine);
//   - device/link: connecting, hello, jitter (link); device/service: one loop, one commit for each
//     batch, effects after it (loop);
//   - printer/session's dialogue, which judges by that package's own rules (dialogue).
//
// Two devices may share a kitchen and stand in for each other; tickets are then moved, taken back
// and marked, and people answer about stale ones (pair, moves).
//
// What is left out: tickets made at a device (device/core makes none yet), a second replica, and
// whatever takes the buffer of a printer that cannot answer: nobody can know then, and evidence
// "sent" promises no more. Where an order was moved, a void is not yet looked for at each printer
// that has paper of it.
//
// A machine that runs from a copy of another's card (twin) may print what the other printed:
// neither can know. Promised is that somebody is told within minutes, which ends it
// (delivery.Copies).
//
// After each step the promises I1 to I7 of DESIGN.md are checked as far as they can be seen. When
// the story ends all faults are healed, and every delivery must come to its end.
//
// A storm is such a story with thousands of kitchens: all lose their network in one instant and
// come back, and what the broker hands over then is counted, second by second (storm, watch).
//
//	result := simulate.Run(simulate.Options{Seed: 1, Hours: 24, Kitchens: 2, Faults: simulate.All()})
//	if result.Broken() { story := simulate.Shrink(options, result) }
package simulate
