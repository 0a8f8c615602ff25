package status

// Event is one thing the printer said: [Printer], [Offline], [Error], [Paper], [ASB], [Fence],
// [ProcessID], [Cleared], [WentOffline], [Identity], [Counter], [Flow] or [Unknown].
type Event interface{ event() }

// Printer is the answer to DLE EOT 1.
type Printer struct {
	DrawerHigh bool
	Offline    bool
	Recovering bool // waits for online recovery
	FeedButton bool
}

// Offline is the answer to DLE EOT 2, the cause of being offline.
type Offline struct {
	CoverOpen  bool
	FeedButton bool // paper is being fed by the button
	PaperEnd   bool // printing stopped by the end of the roll
	Error      bool
}

// Error is the answer to DLE EOT 3, the cause of an error.
type Error struct {
	Recoverable   bool // ends by DLE ENQ
	Cutter        bool // autocutter error
	Unrecoverable bool
	AutoRecover   bool // hot head, or cover opened while printing
}

// Paper is the answer to DLE EOT 4, the roll sensors.
type Paper struct {
	NearEnd bool
	End     bool
}

// ASB is one automatic status block of four bytes.
type ASB struct {
	DrawerHigh    bool
	Offline       bool
	CoverOpen     bool
	Feeding       bool // paper is being fed by the button
	Recovering    bool
	FeedButton    bool
	Recoverable   bool
	Cutter        bool
	Unrecoverable bool
	AutoRecover   bool
	NearEnd       bool
	End           bool
}

// Fence is the answer to a queued GS r 1: everything before it has been printed.
type Fence struct{ Paper Paper }

// ProcessID is the answer to GS ( H fn 48: everything before that token has been printed.
type ProcessID struct{ Token [4]byte }

// Cleared is the answer to DLE DC4 8: both buffers are empty.
type Cleared struct{}

// WentOffline is the offline response of GS ( H fn 49 with its 0 to 10 cause bytes.
type WentOffline struct{ Causes []byte }

// Identity is one block of GS I, printer information B.
type Identity struct{ Text string }

// Counter is the answer to GS g 2.
type Counter struct{ Value uint64 }

// Flow is XON (On) or XOFF on a serial line.
type Flow struct{ On bool }

// Unknown is bytes that answer nothing that was asked. It is never a success.
type Unknown struct {
	Raw    []byte
	Reason string
}

func (Printer) event()     {}
func (Offline) event()     {}
func (Error) event()       {}
func (Paper) event()       {}
func (ASB) event()         {}
func (Fence) event()       {}
func (ProcessID) event()   {}
func (Cleared) event()     {}
func (WentOffline) event() {}
func (Identity) event()    {}
func (Counter) event()     {}
func (Flow) event()        {}
func (Unknown) event()     {}
