package session

import "chit/printer/status"

// health is the printer's condition as far as its answers tell: each answer refreshes its own part,
// so that a condition stands until the printer itself takes it back.
type health struct {
	offline       bool
	cover         bool
	paperEnd      bool // roll sensor
	stopped       bool // printing stopped by paper end
	paperLow      bool
	cutter        bool
	recoverable   bool
	unrecoverable bool
	hot           bool // auto-recoverable: a hot head, or a cover that was open while printing
}

// after is the condition once e was said. Answers about other things change nothing.
func (h health) after(e status.Event) health {
	switch e := e.(type) {
	case status.Printer:
		h.offline = e.Offline
	case status.Offline:
		h.cover, h.stopped = e.CoverOpen, e.PaperEnd
	case status.Error:
		h.recoverable, h.cutter = e.Recoverable, e.Cutter
		h.unrecoverable, h.hot = e.Unrecoverable, e.AutoRecover
	case status.Paper:
		h.paperLow, h.paperEnd = e.NearEnd, e.End
	case status.Fence:
		h.paperLow, h.paperEnd = e.Paper.NearEnd, e.Paper.End
	case status.WentOffline:
		h.offline = true
	case status.ASB:
		h = health{
			offline: e.Offline, cover: e.CoverOpen, paperEnd: e.End, stopped: e.End && e.Offline,
			paperLow: e.NearEnd, cutter: e.Cutter, recoverable: e.Recoverable,
			unrecoverable: e.Unrecoverable, hot: e.AutoRecover,
		}
	}
	return h
}

// hold is the one reason that a person should act on first. The cover comes before the paper: while
// it is open the paper sensor keeps its old value (Epson, DLE EOT).
func (h health) hold() Hold {
	switch {
	case h.cover:
		return HoldCover
	case h.paperEnd, h.stopped:
		return HoldPaper
	case h.cutter:
		return HoldCutter
	case h.unrecoverable, h.recoverable:
		return HoldError
	case h.hot:
		return HoldHot
	case h.offline:
		return HoldOff
	}
	return HoldNone
}

// touches is true where e says that somebody may have moved paper, so that the odometer must be
// read again before it is believed.
func touches(e status.Event) bool {
	switch e := e.(type) {
	case status.Printer:
		return e.FeedButton || e.Offline
	case status.Offline:
		return e.FeedButton || e.CoverOpen || e.PaperEnd
	case status.ASB:
		return e.Feeding || e.FeedButton || e.CoverOpen || e.Offline || e.End
	case status.WentOffline:
		return true
	}
	return false
}
