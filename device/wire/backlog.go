package wire

// BacklogLine is one stale ticket in the argument "tickets" of the command backlog, a JSON list of
// them. The command's other arguments are station and printer; its reply comes when a person at the
// device has answered, with answer = print and tickets, the ids joined by commas.
type BacklogLine struct {
	ID     string `json:"id"`
	Number string `json:"number,omitempty"` // "" where it was never handed over
	Order  string `json:"order,omitempty"`  // what the order is called across the kitchen
	Age    int64  `json:"age_ms"`           // since its release, when the command was made
}

// BacklogMax is how many lines one command may list.
const BacklogMax = 100
