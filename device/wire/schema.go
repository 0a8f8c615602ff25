package wire

import (
	_ "embed"
	"slices"
)

//go:embed ticket.schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the request of POST /v1/tickets, to be published.
//
// It says all that [Canonical] checks except what JSON Schema cannot: a name twice in one object,
// lone surrogates, bytes that are not UTF-8, days that no month has (unless format is asserted),
// and sizes in bytes.
func Schema() []byte { return slices.Clone(schema) }
