package wire

// Kind is what a ticket tells the station.
type Kind string

// The kinds of tickets. A door takes new, change, void and notice; reprint is made by the broker.
const (
	KindNew     Kind = "new"
	KindChange  Kind = "change"
	KindVoid    Kind = "void"
	KindNotice  Kind = "notice"
	KindReprint Kind = "reprint"
)

// Content is the data of a ticket: the validated request of POST /v1/tickets.
//
// A pointer or an empty slice means absent; no default is ever filled in, because the canonical
// bytes of exactly what was said are stored, hashed and signed. Instants are RFC 3339 strings as
// given.
type Content struct {
	// ID is "<order>/<seq>": the order id is 1-64 of [A-Za-z0-9._~-], seq counts from 1.
	ID      string `json:"id"`
	Kitchen string `json:"kitchen"`
	Station string `json:"station"`
	Kind    Kind   `json:"kind"`
	// Order is the short name printed largest, such as "41" or "Anna".
	Order     string    `json:"order,omitempty"`
	Type      string    `json:"type,omitempty"` // dine-in, take-away, delivery
	Table     string    `json:"table,omitempty"`
	Guests    int       `json:"guests,omitempty"`
	PlacedAt  string    `json:"placed_at,omitempty"`
	DueAt     string    `json:"due_at,omitempty"`
	ReleaseAt string    `json:"release_at,omitempty"`
	Customer  *Customer `json:"customer,omitempty"`
	Items     []Item    `json:"items,omitempty"`
	Note      string    `json:"note,omitempty"`
}

// Customer is off the paper unless the kitchen says so, and never in logs or feeds.
type Customer struct {
	Name  string `json:"name,omitempty"`
	Phone string `json:"phone,omitempty"`
}

// Item is one line of an order.
type Item struct {
	Quantity  int      `json:"quantity"` // 1 to 999
	Name      string   `json:"name"`
	Modifiers []string `json:"modifiers,omitempty"`
	Note      string   `json:"note,omitempty"`
	Allergens []string `json:"allergens,omitempty"`
	Course    string   `json:"course,omitempty"`
	Seat      string   `json:"seat,omitempty"`
}

// Changes is what a change ticket adds to, takes from and alters in the last accepted seq, computed
// at acceptance; it travels beside data, signed, and is not part of the digest.
type Changes struct {
	// Since is the seq that the change is told against.
	Since   int    `json:"since"`
	Added   []Item `json:"added,omitempty"`
	Removed []Item `json:"removed,omitempty"`
	// Altered has the item as it is now; Was, of the same length, as it was.
	Altered []Item `json:"altered,omitempty"`
	Was     []Item `json:"was,omitempty"`
	// Omitted is true where the lists are left out because the message would be over MessageMax.
	Omitted bool `json:"omitted,omitempty"`
}
