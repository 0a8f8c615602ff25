package status

// Kind is a question whose answer's bytes do not say what they answer.
type Kind uint8

// The questions to announce by [Stream.Expect] before their bytes are sent.
const (
	ExpectPrinter  Kind = iota + 1 // DLE EOT 1
	ExpectOffline                  // DLE EOT 2
	ExpectError                    // DLE EOT 3
	ExpectPaper                    // DLE EOT 4
	ExpectFence                    // GS r 1
	ExpectIdentity                 // GS I 65-69
	ExpectCounter                  // GS g 2
)

// Stream parses everything a printer says on one connection. The zero value is ready. It is owned by
// one goroutine.
type Stream struct {
	realtime, queued []Kind
}

// Expect announces that the question k is about to be sent.
func (s *Stream) Expect(k Kind) { panic("to come") }

// Cancel withdraws the oldest announced question k, after its time is over. It tells whether there was one.
func (s *Stream) Cancel(k Kind) bool { panic("to come") }

// Awaits tells how many answers of kind k are still to come.
func (s *Stream) Awaits(k Kind) int { panic("to come") }

// Write takes what was read and returns what it says, in order.
func (s *Stream) Write(p []byte) []Event { panic("to come") }

// Reset forgets every question and returns bytes of an unfinished block as Unknown.
func (s *Stream) Reset() []Event { panic("to come") }
