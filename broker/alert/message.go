package alert

import (
	"fmt"
	"time"

	"chit/broker/alarm"
)

// Message is what people are told: number, station, age and reason, never what a guest ordered or
// is called.
type Message struct {
	// ID is the same at every try and every destination.
	ID string `json:"id"`
	// What is began, worse, again, climbed, ended or test.
	What     string    `json:"what"`
	Cause    string    `json:"cause"`
	Tenant   string    `json:"tenant"`
	Kitchen  string    `json:"kitchen,omitempty"`
	Station  string    `json:"station,omitempty"`
	Device   string    `json:"device,omitempty"`
	Severity string    `json:"severity"`
	Level    int       `json:"level"`
	Count    int       `json:"count"`
	Text     string    `json:"text"`
	RaisedAt time.Time `json:"raised_at"`
	At       time.Time `json:"at"`
	// Link is where the alarm can be seen and acknowledged.
	Link string `json:"link,omitempty"`
}

// typeOf is the event type of a message (Standard Webhooks 1.0.0, "Payload structure").
func (m Message) typeOf() string {
	switch m.What {
	case string(alarm.Ended):
		return "alarm.ended"
	case WhatTest:
		return "alarm.test"
	default:
		return "alarm.raised"
	}
}

// WhatTest is a test's Message.What.
const WhatTest = "test"

// Over reports whether the message says that it is over.
func (m Message) Over() bool { return m.What == string(alarm.Ended) }

// Title is one line for people.
func (m Message) Title() string {
	switch m.What {
	case WhatTest:
		return "Chit: a test of the alarms"
	case string(alarm.Ended):
		return fmt.Sprintf("Over: %s", m.Cause)
	default:
		return fmt.Sprintf("%s: %s", m.Severity, m.Cause)
	}
}

// Body is the text for people.
func (m Message) Body() string {
	var body string
	switch m.What {
	case WhatTest:
		return m.Text
	case string(alarm.Ended):
		body = fmt.Sprintf("It is over. It was: %s.", m.Text)
	default:
		body = m.Text + "."
		if m.Level > 1 {
			body += fmt.Sprintf("\nNobody has acknowledged it since %s.",
				m.RaisedAt.UTC().Format("15:04 UTC"))
		}
		body += "\nAcknowledge: chit alarms ack " + m.Cause
	}
	if m.Link != "" {
		body += "\n" + m.Link
	}
	return body
}

func newMessage(a alarm.Alarm, note alarm.Note, to Destination) Message {
	m := Message{ID: a.NoteID(note.N), What: string(note.What), Cause: a.Cause, Tenant: a.Tenant,
		Kitchen: a.Kitchen, Station: a.Station, Device: a.Device, Severity: string(note.Severity),
		Level: note.Level, Count: note.Count, Text: note.Text, RaisedAt: a.Raised, At: note.At}
	if to.Link != "" {
		m.Link = to.Link + a.Cause
	}
	return m
}

// NewTest is what chit alarms test sends to a destination.
func NewTest(id string, to Destination, now time.Time) Message {
	return Message{ID: id, What: WhatTest, Cause: WhatTest, Tenant: to.Tenant,
		Severity: string(alarm.P2), Level: to.Level, RaisedAt: now, At: now, Link: to.Link,
		Text: fmt.Sprintf("This is a test of the alarms of %s, level %d. Nothing is wrong.",
			to.Tenant, to.Level)}
}
