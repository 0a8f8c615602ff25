package link

import (
	"strings"

	"chit/device/wire"
)

// grant is what one device may do, and the whole of it: there are no wildcards in it and none
// match.
//
// mochi's own ledger lets a short filter match a longer topic (a/+/c matched a/b/c/d,
// research/mqtt.md 1.1), so the comparison here is by exact strings only.
type grant struct{ tenant, device string }

// topicPrefix begins every topic of wire version 1 (DESIGN section 4).
const topicPrefix = "chit/1/"

// leaf returns what follows the device's own prefix in topic, or "".
func (g grant) leaf(topic string) string {
	rest, ok := strings.CutPrefix(topic, topicPrefix)
	if !ok {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, g.tenant); !ok {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, "/"); !ok {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, g.device); !ok {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, "/"); !ok {
		return ""
	}
	return rest
}

// reads tells whether the device may subscribe to filter, which for a topic without wildcards is
// the same as hearing it: its own ticket, recall, command and status, and the tenant's host.
func (g grant) reads(filter string) bool {
	if rest, ok := strings.CutPrefix(filter, topicPrefix); ok && rest == g.tenant+"/host" {
		return true
	}
	switch wire.Leaf(g.leaf(filter)) {
	case wire.LeafTicket, wire.LeafRecall, wire.LeafCommand, wire.LeafStatus:
		return true
	}
	return false
}

// writes tells whether the device may publish to topic: its own ack, status and telemetry, of which
// only status is retained. A retained ack would reach a later broker as if it were new.
func (g grant) writes(topic string, retain bool) bool {
	switch wire.Leaf(g.leaf(topic)) {
	case wire.LeafStatus:
		return true
	case wire.LeafAck, wire.LeafTelemetry:
		return !retain
	}
	return false
}

// wills tells whether the device's will may go to topic: its own status, retained.
func (g grant) wills(topic string, retain bool) bool {
	return retain && wire.Leaf(g.leaf(topic)) == wire.LeafStatus
}
