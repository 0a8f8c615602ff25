package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrTopic says that a topic is not one of ours.
var ErrTopic = errors.New("not a chit topic")

// ErrTopicVersion says that a topic belongs to another major version of the wire.
var ErrTopicVersion = fmt.Errorf("%w: other wire version", ErrTopic)

// topicRoot begins every topic; the 1 is the major version.
const topicRoot = "chit/1/"

// feedIDMax is the longest id in a feed topic: an order id with every character escaped (192), both
// counters and a station fit.
const feedIDMax = 300

// Leaf is the last level of a device's topic, or what stands in its place.
type Leaf string

// The leaves. Direction and retention stand in the package comment.
const (
	LeafTicket    Leaf = "ticket"
	LeafRecall    Leaf = "recall"
	LeafCommand   Leaf = "command"
	LeafAck       Leaf = "ack"
	LeafStatus    Leaf = "status"
	LeafTelemetry Leaf = "telemetry"
	// LeafHost is the tenant's topic chit/1/{tenant}/host.
	LeafHost Leaf = "host"
	// LeafFeed is chit/1/{tenant}/feed/{feed}/{id}.
	LeafFeed Leaf = "feed"
)

// Feed names one of the owners' retained feeds.
type Feed string

// The feeds.
const (
	FeedTickets     Feed = "tickets"
	FeedDevices     Feed = "devices"
	FeedDeadLetters Feed = "deadletters"
	FeedOrders      Feed = "orders"
	FeedAlarms      Feed = "alarms"
)

// Topic is one topic of the tree under chit/1.
type Topic struct {
	Tenant string
	Device string // "" for host and feed
	Leaf   Leaf
	Feed   Feed   // for LeafFeed
	ID     string // for LeafFeed, as it stands in the topic
}

// DeviceTopic is chit/1/{tenant}/{device}/{leaf}.
func DeviceTopic(tenant, device string, leaf Leaf) Topic {
	return Topic{Tenant: tenant, Device: device, Leaf: leaf}
}

// HostTopic is chit/1/{tenant}/host.
func HostTopic(tenant string) Topic { return Topic{Tenant: tenant, Leaf: LeafHost} }

// FeedTopic is chit/1/{tenant}/feed/{feed}/{id}; id comes from [TicketID.Feed] or [EscapeFeed].
func FeedTopic(tenant string, feed Feed, id string) Topic {
	return Topic{Tenant: tenant, Leaf: LeafFeed, Feed: feed, ID: id}
}

// ParseTopic reads a topic name. It accepts exactly what [Topic.String] writes of a checked topic;
// anything else wraps [ErrTopic], and another major version [ErrTopicVersion].
func ParseTopic(s string) (Topic, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 4 || len(parts) > 6 || parts[0] != "chit" {
		return Topic{}, fmt.Errorf("%w: %.200q", ErrTopic, s)
	}
	if parts[1] != "1" {
		return Topic{}, fmt.Errorf("%w: %.40q, want 1", ErrTopicVersion, parts[1])
	}
	t := Topic{Tenant: parts[2]}
	switch {
	case len(parts) == 4 && parts[3] == string(LeafHost):
		t.Leaf = LeafHost
	case len(parts) == 5 && parts[4] != string(LeafHost):
		t.Device, t.Leaf = parts[3], Leaf(parts[4])
	case len(parts) == 6 && parts[3] == string(LeafFeed):
		t.Leaf, t.Feed, t.ID = LeafFeed, Feed(parts[4]), parts[5]
	default:
		return Topic{}, fmt.Errorf("%w: %.200q", ErrTopic, s)
	}
	if err := t.Check(); err != nil {
		return Topic{}, err
	}
	return t, nil
}

// Check tells whether t is a topic of the tree; errors wrap [ErrTopic].
func (t Topic) Check() error {
	if err := CheckID(t.Tenant); err != nil {
		return fmt.Errorf("%w: tenant: %w", ErrTopic, err)
	}
	switch t.Leaf {
	case LeafTicket, LeafRecall, LeafCommand, LeafAck, LeafStatus, LeafTelemetry:
		if err := CheckID(t.Device); err != nil {
			return fmt.Errorf("%w: device: %w", ErrTopic, err)
		}
		if t.Feed != "" || t.ID != "" {
			return fmt.Errorf("%w: %s with a feed", ErrTopic, t.Leaf)
		}
	case LeafHost:
		if t.Device != "" || t.Feed != "" || t.ID != "" {
			return fmt.Errorf("%w: host with a device or feed", ErrTopic)
		}
	case LeafFeed:
		return t.checkFeed()
	default:
		return fmt.Errorf("%w: leaf %.40q", ErrTopic, string(t.Leaf))
	}
	return nil
}

func (t Topic) checkFeed() error {
	switch t.Feed {
	case FeedTickets, FeedDevices, FeedDeadLetters, FeedOrders, FeedAlarms:
	default:
		return fmt.Errorf("%w: feed %.40q", ErrTopic, string(t.Feed))
	}
	if t.Device != "" || t.ID == "" || len(t.ID) > feedIDMax {
		return fmt.Errorf("%w: feed id of %d characters, want 1 to %d", ErrTopic, len(t.ID),
			feedIDMax)
	}
	for part := range strings.SplitSeq(t.ID, ".") {
		if _, err := UnescapeFeed(part); err != nil {
			return fmt.Errorf("%w: %w", ErrTopic, err)
		}
	}
	return nil
}

// String is the topic name. It does not check t; see [Topic.Check].
func (t Topic) String() string {
	switch t.Leaf {
	case LeafHost:
		return topicRoot + t.Tenant + "/host"
	case LeafFeed:
		return topicRoot + t.Tenant + "/feed/" + string(t.Feed) + "/" + t.ID
	default:
		return topicRoot + t.Tenant + "/" + t.Device + "/" + string(t.Leaf)
	}
}

// DeviceFilters are what a device subscribes to: its own ticket, recall, command and status, and
// its tenant's host. Its own status tells it that somebody else, or its own late will, said
// "offline".
func DeviceFilters(tenant, device string) []string {
	return []string{
		DeviceTopic(tenant, device, LeafTicket).String(),
		DeviceTopic(tenant, device, LeafRecall).String(),
		DeviceTopic(tenant, device, LeafCommand).String(),
		DeviceTopic(tenant, device, LeafStatus).String(),
		HostTopic(tenant).String(),
	}
}

// BrokerFilters are what the broker subscribes to for one tenant; "+" stands for all tenants.
func BrokerFilters(tenant string) []string {
	root := topicRoot + tenant + "/+/"
	return []string{root + "ack", root + "status", root + "telemetry"}
}

// FeedFilter is what an owner of tenant subscribes to: one feed, or every feed where feed is "".
func FeedFilter(tenant string, feed Feed) string {
	if feed == "" {
		return topicRoot + tenant + "/feed/#"
	}
	return topicRoot + tenant + "/feed/" + string(feed) + "/+"
}

// Publishes tells whether a device may publish to leaf under its own id; it is half of an ACL.
func (l Leaf) Publishes() bool {
	return l == LeafAck || l == LeafStatus || l == LeafTelemetry
}

// Retained tells whether messages on leaf are retained.
func (l Leaf) Retained() bool {
	return l == LeafStatus || l == LeafHost || l == LeafFeed
}

// Carries tells whether signed messages of typ belong on l.
func (l Leaf) Carries(typ Type) bool {
	switch typ {
	case TypeCommand, TypeWelcome:
		return l == LeafCommand
	case TypeHello, TypeAck, TypeReply, TypeMade:
		return l == LeafAck
	default:
		return typ != "" && string(l) == string(typ)
	}
}

// EscapeFeed spells any text in the characters of a topic id: lower-case letters, digits and
// hyphens stand for themselves, every other byte becomes "_" and two lower-case hex digits.
func EscapeFeed(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isLower(c) || isDigit(c) || c == '-' {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// UnescapeFeed undoes [EscapeFeed] and refuses every spelling that it does not write ([ErrID]).
func UnescapeFeed(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '_' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("%w: feed id %.100q ends inside an escape", ErrID, s)
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%w: feed id %.100q, want _ and two hex digits", ErrID, s)
		}
		b.WriteByte(byte(c))
		i += 2
	}
	// One text, one spelling: otherwise two topics could speak of one ticket.
	if out := b.String(); out != "" && EscapeFeed(out) == s {
		return out, nil
	}
	return "", fmt.Errorf("%w: feed id %.100q", ErrID, s)
}

// Feed is the id in a feed topic, "<order>.s<seq>[.r<k>].<station>" with the order id escaped.
func (id TicketID) Feed() string {
	s := EscapeFeed(id.Order) + ".s" + strconv.Itoa(id.Seq) + "."
	if id.Made != "" {
		s += id.Made + "."
	}
	return s + id.Station
}

// ParseFeedID reads what [TicketID.Feed] writes; anything else wraps [ErrID].
func ParseFeedID(s string) (TicketID, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 && len(parts) != 4 || len(parts[1]) < 2 || parts[1][0] != 's' {
		return TicketID{}, fmt.Errorf("%w: %.100q, want <order>.s<seq>.<station>", ErrID, s)
	}
	order, err := UnescapeFeed(parts[0])
	if err != nil {
		return TicketID{}, err
	}
	seq, err := parseSeq(parts[1][1:])
	if err != nil {
		return TicketID{}, err
	}
	id := TicketID{Order: order, Seq: seq, Station: parts[len(parts)-1]}
	if len(parts) == 4 {
		if id.Made = parts[2]; id.Made == "" {
			return TicketID{}, fmt.Errorf("%w: %.100q, want r<k> or d<k>", ErrID, s)
		}
	}
	return id, id.Check()
}
