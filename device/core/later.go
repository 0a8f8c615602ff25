package core

import "chit/device/wire"

// LaterMax is how many higher mutations of its order a ticket is compared with.
const LaterMax = 16

// Later lists the ids of the next mutations of the same order at the same station, which the edge
// looks up before a ticket arrives: the door may have accepted a lower one late, or a person sent
// a dead one again, long after a higher one was answered (I6). Ids that the broker or a device made
// have none. A gap of more than [LaterMax] mutations goes unseen.
func Later(id string) []wire.TicketID {
	own, err := wire.ParseTicketID(id)
	if err != nil || own.Made != "" {
		return nil
	}
	later := make([]wire.TicketID, LaterMax)
	for i := range later {
		later[i] = own
		later[i].Seq += i + 1
	}
	return later
}

// higher is what the journal or the broker knows of, but for a reprint, which repeats what its
// content says. The journal knows what it has forgotten no more, the broker not what another
// broker's store had.
func (e TicketArrived) higher() int {
	if e.Kind == wire.KindReprint {
		return 0
	}
	return max(e.Higher, e.Ticket.Above)
}
