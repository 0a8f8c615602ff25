package wire

// BacklogLine is one stale ticket in the argument "tickets" of the command backlog, a JSON list of
// them. The command's other arguments are station and printer; its reply comes when a person at the
// device has answered, with answer = print and tickets, the ids joined by commas.
//
// The command backlog-answer is a person's word given elsewhere: answer, print or drop, and
// tickets, ids joined by commas. A device that holds one of them as stale prints it late, or
// refuses it for good, not-wanted; its reply names those.
type BacklogLine struct {
	ID     string `json:"id"`
	Number string `json:"number,omitempty"` // "" where it was never handed over
	Order  string `json:"order,omitempty"`  // what the order is called across the kitchen
	Age    int64  `json:"age_ms"`           // since its release, when the command was made
}

// BacklogMax is how many lines one command may list.
const BacklogMax = 100
