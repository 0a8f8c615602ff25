package wire

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("ticket.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("ticket.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaAndValidatorAgree(t *testing.T) {
	schema := compileSchema(t)
	for _, c := range requests {
		t.Run(c.name, func(t *testing.T) {
			body, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(c.raw)))
			if err != nil {
				t.Fatalf("not JSON: %v", err)
			}
			err = schema.Validate(body)
			_, _, own := Canonical([]byte(c.raw))
			switch {
			case c.beyond && (err != nil || own == nil):
				t.Errorf("schema says %v, validator %v; want only the validator to refuse", err, own)
			case !c.beyond && (err == nil) != (own == nil):
				t.Errorf("schema says %v, validator %v", err, own)
			}
		})
	}
}

func TestSchemaIsACopy(t *testing.T) {
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller can change the schema")
	}
}
