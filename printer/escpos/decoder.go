package escpos

// Decoder turns a stream of bytes into commands. The zero value is ready.
type Decoder struct {
	offset int64
}

// Write decodes all of p. See below for the rules.
func (d *Decoder) Write(p []byte) ([]Command, error) { panic("to come") }

// Pending returns the number of bytes of an unfinished command.
func (d *Decoder) Pending() int { panic("to come") }

// UnknownError is one sequence the decoder does not know.
type UnknownError struct {
	Offset int64
	Raw    []byte
	Reason string
}

func (e *UnknownError) Error() string { return e.Reason }
