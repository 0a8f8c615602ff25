package virtual

import "time"

// Hands are what people and bad luck do to a printer while it runs. Each takes the time at which it
// happens.

// OpenCover stops the mechanism at once, even within a line; that line is begun again later.
func (p *Printer) OpenCover(now time.Time) {
	p.Advance(now)
	p.status.torn = p.status.torn || p.doing != nil
	p.status.coverOpen = true
	p.interrupt()
	p.changed()
}

// CloseCover lets the sensors be believed again and the printer go on by itself.
func (p *Printer) CloseCover(now time.Time) {
	p.Advance(now)
	p.status.coverOpen, p.status.torn = false, false
	p.status.paperOut = p.status.paperGone
	p.changed()
	p.resume(now)
}

// RemovePaper is the end of the roll. The line under the head is finished. With the cover open the
// sensor keeps its value until the cover closes.
func (p *Printer) RemovePaper(now time.Time) {
	p.Advance(now)
	p.status.paperGone = true
	if !p.status.coverOpen {
		p.status.paperOut = true
	}
	p.changed()
}

// LoadPaper puts in a new roll; the printer goes on by itself with what it still holds.
func (p *Printer) LoadPaper(now time.Time) {
	p.Advance(now)
	p.status.paperGone, p.status.nearEnd = false, false
	if !p.status.coverOpen {
		p.status.paperOut = false
	}
	p.changed()
	p.resume(now)
}

// SetNearEnd moves the sensor that sees the roll becoming thin.
func (p *Printer) SetNearEnd(now time.Time, low bool) {
	p.Advance(now)
	p.status.nearEnd = low
	p.changed()
}

// JamCutter makes the next cut fail, and each after it until ClearJam.
func (p *Printer) JamCutter(now time.Time) {
	p.Advance(now)
	p.status.jammed = true
}

// ClearJam frees the blade; the cut is made and printing goes on by itself.
func (p *Printer) ClearJam(now time.Time) {
	p.Advance(now)
	p.status.jammed, p.status.cutterError = false, false
	p.changed()
	p.resume(now)
}

// Overheat stops the mechanism within a line; Cool lets it go on.
func (p *Printer) Overheat(now time.Time) {
	p.Advance(now)
	p.status.hot = true
	p.interrupt()
	p.changed()
}

// Cool ends Overheat.
func (p *Printer) Cool(now time.Time) {
	p.Advance(now)
	p.status.hot = false
	p.changed()
	p.resume(now)
}

// Break is an unrecoverable error; only switching off and on ends it.
func (p *Printer) Break(now time.Time) {
	p.Advance(now)
	p.status.broken = true
	p.interrupt()
	p.changed()
}

// PowerOff forgets everything but the paper: buffer, settings, answers, status reporting, and with
// the fault odometer-loses what was counted since the mechanism last began to move.
func (p *Printer) PowerOff(now time.Time) {
	p.Advance(now)
	if !p.on {
		return
	}
	if !p.idle() || p.line.used() {
		p.note("fault", "power off while printing", p.executed)
	}
	p.on, p.hungUp, p.powerOnAt = false, true, time.Time{}
	p.forget()
	p.out.clear()
	p.asb = 0
	if p.loses {
		p.count = p.saved
	}
	p.status.cutterError, p.status.hot, p.status.broken = false, false, false
	p.status.torn = false
}

// PowerOn starts afresh, with whatever paper hung in the machine.
func (p *Printer) PowerOn(now time.Time) {
	if p.on {
		return
	}
	p.on, p.powerOnAt, p.clock = true, time.Time{}, now
	p.saved = p.count
	p.status.paperOut = p.status.paperGone && !p.status.coverOpen
	p.initialise()
}

// ForgetBuffer is a reset in the middle of work: buffer and settings are lost, the link stays.
func (p *Printer) ForgetBuffer(now time.Time) {
	p.Advance(now)
	p.note("fault", "buffer forgotten", p.executed)
	p.forget()
	p.initialise()
}

// Silence ends all answers; printing goes on. Speak lets it answer again.
func (p *Printer) Silence(now time.Time) {
	p.Advance(now)
	p.out.silent = true
}

// Speak ends Silence.
func (p *Printer) Speak(now time.Time) {
	p.Advance(now)
	p.out.silent, p.out.counted = false, false
}

// HangUp ends the connection from the printer's side.
func (p *Printer) HangUp(now time.Time) {
	p.Advance(now)
	p.hungUp = true
}

// Unplug pulls the data cable. Nothing comes or goes, and neither side is told: what is on its way
// arrives when the cable is back, as on TCP. Printing goes on with what the buffer holds.
func (p *Printer) Unplug(now time.Time) {
	p.Advance(now)
	p.unplugged = true
}

// Plug puts the data cable back.
func (p *Printer) Plug(now time.Time) {
	p.Advance(now)
	p.unplugged = false
}

// Tear is a hand tearing the paper off at the blade.
func (p *Printer) Tear(now time.Time) {
	p.Advance(now)
	p.endSheet(Torn)
}

// KickDrawer moves the sensor of the cash drawer (pin 3).
func (p *Printer) KickDrawer(now time.Time, high bool) {
	p.Advance(now)
	p.status.drawer = high
	p.changed()
}

// Wrong lists what keeps the printer from printing, or will soon, as the names of the faults that
// [Printer.Clear] undoes.
func (p *Printer) Wrong() []FaultName {
	var names []FaultName
	for _, w := range []struct {
		on   bool
		name FaultName
	}{
		{!p.on, PowerCut}, {p.unplugged, CableOut},
		{p.status.coverOpen, CoverOpen}, {p.status.paperGone, PaperOut},
		{p.status.nearEnd, NearEnd}, {p.status.jammed || p.status.cutterError, CutterError},
		{p.status.hot, HeadHot}, {p.status.broken, Broken}, {p.out.silent, Silent},
	} {
		if w.on {
			names = append(names, w.name)
		}
	}
	return names
}
