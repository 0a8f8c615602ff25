package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"

	"chit/device/wire"
)

// Content is what a ticket says, stored once beside its delivery and never changed.
type Content struct {
	// Data are the exact canonical bytes: spliced into the envelope, hashed raw.
	Data []byte
	// Changes is what a change ticket alters, nil for other kinds.
	Changes *wire.Changes
}

// contentHead is the first line of a stored content; Data follows the newline as raw bytes, so that
// nothing can re-encode them.
type contentHead struct {
	Format  int           `json:"v"`
	Changes *wire.Changes `json:"changes,omitempty"`
}

func encodeContent(c Content) ([]byte, error) {
	head, err := json.Marshal(contentHead{Format: Format, Changes: c.Changes})
	if err != nil {
		return nil, fmt.Errorf("delivery: encoding content: %w", err)
	}
	return append(append(head, '\n'), c.Data...), nil
}

func decodeContent(stored []byte) (Content, error) {
	line, data, found := bytes.Cut(stored, []byte{'\n'})
	var head contentHead
	if err := json.Unmarshal(line, &head); err != nil || !found {
		return Content{}, fmt.Errorf("delivery: reading content: no head line (%w)", err)
	}
	if head.Format != Format {
		return Content{}, fmt.Errorf("%w: content has format %d, want %d", ErrFormat, head.Format,
			Format)
	}
	return Content{Data: data, Changes: head.Changes}, nil
}
