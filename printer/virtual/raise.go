package virtual

import (
	"math"
	"time"
)

// Raise makes a fault happen, at once or when its count is reached.
func (p *Printer) Raise(now time.Time, f Fault) {
	p.Advance(now)
	switch {
	case f.Name == CutterError:
		p.blade = blade{armed: true, left: f.After, slip: f.Slip}
	case f.Name == Silent && f.After > 0:
		p.out.left, p.out.counted = f.After, true
	case f.HasBytes && f.AfterBytes > 0, f.HasAfter && f.After > 0:
		p.armed = append(p.armed, f)
	default:
		p.happen(now, f)
	}
}

// Clear undoes a fault: an armed one is disarmed, one that happened is put right.
func (p *Printer) Clear(now time.Time, name FaultName) {
	p.Advance(now)
	p.disarm(name)
	switch name {
	case PaperOut:
		p.LoadPaper(now)
	case NearEnd:
		p.SetNearEnd(now, false)
	case CoverOpen:
		p.CloseCover(now)
	case CutterError:
		p.ClearJam(now)
	case HeadHot:
		p.Cool(now)
	case Broken:
		p.PowerOff(now)
		p.PowerOn(now)
	case Slow:
		p.slow = 0
	case Silent, Mute:
		p.Speak(now)
	case CableOut:
		p.Plug(now)
	case PowerCut:
		p.PowerOn(now)
	case LateAnswers:
		p.out.delay = 0
	case Clone:
		p.can.ProcessID = p.conf.Can.ProcessID
	case NoFence:
		p.can.Fence = p.conf.Can.Fence
	case NoOdometer:
		p.can.Odometer = p.conf.Can.Odometer
	case NoASB:
		p.can.ASB = p.conf.Can.ASB
	case NoClear:
		p.can.Clear = p.conf.Can.Clear
	case OdometerLoses:
		p.loses = false
	case Kanji:
		p.can.KanjiFirst = p.conf.Can.KanjiFirst
	}
}

func (p *Printer) disarm(name FaultName) {
	kept := p.armed[:0:0]
	for _, f := range p.armed {
		if f.Name != name {
			kept = append(kept, f)
		}
	}
	p.armed = kept
	switch name {
	case Silent:
		p.out.counted = false
	case CutterError:
		p.blade = blade{}
	}
}

// happen makes a fault come true.
func (p *Printer) happen(now time.Time, f Fault) {
	p.note("fault", f.String(), p.executed)
	switch f.Name {
	case PaperOut:
		p.status.paperGone, p.status.paperOut = true, !p.status.coverOpen
	case NearEnd:
		p.status.nearEnd = true
	case CoverOpen:
		p.status.torn = p.status.torn || !p.idle()
		p.status.coverOpen = true
		p.interrupt()
	case HeadHot:
		p.status.hot = true
		p.interrupt()
	case Broken:
		p.status.broken = true
		p.interrupt()
	case Drop:
		p.hungUp = true
	case CableOut:
		p.unplugged = true
	case PowerCut:
		p.PowerOff(now)
		if f.Wait > 0 {
			p.powerOnAt = now.Add(f.Wait)
		}
	case ForgetBuffer:
		p.forget()
		p.initialise()
	case Slow:
		p.slow = f.LinesPerSecond
	case Silent, Mute:
		p.out.silent = true
	case LateAnswers:
		p.out.delay = f.Wait
	default:
		p.lack(f.Name)
	}
	p.changed()
}

// lack takes a capability away.
func (p *Printer) lack(name FaultName) {
	switch name {
	case Clone:
		p.can.ProcessID = false
	case NoFence:
		p.can.Fence = false
	case NoOdometer:
		p.can.Odometer = false
	case NoASB:
		p.can.ASB, p.asb = false, 0
	case NoClear:
		p.can.Clear = false
	case OdometerLoses:
		p.loses = true
	case Kanji:
		p.can.KanjiFirst, p.set.kanji.on = true, true
	}
}

// countsLines are the faults whose "after" counts lines of paper.
func countsLines(f Fault) bool {
	switch f.Name {
	case PaperOut, NearEnd, CoverOpen, HeadHot, Broken, PowerCut, ForgetBuffer, CableOut:
		return f.HasAfter && f.After > 0
	}
	return false
}

// fireLines counts one line, or one band of dots, against the armed faults.
func (p *Printer) fireLines() {
	p.fire(countsLines, func(f *Fault) bool { f.After--; return f.After <= 0 })
}

// fireBytes counts received bytes against the armed faults.
func (p *Printer) fireBytes(n int64) {
	p.fire(func(f Fault) bool { return f.HasBytes && f.AfterBytes > 0 },
		func(f *Fault) bool { f.AfterBytes -= n; return f.AfterBytes <= 0 })
}

// fire counts down those armed faults that count what just happened, and lets the due ones happen.
func (p *Printer) fire(counts func(Fault) bool, due func(*Fault) bool) {
	if len(p.armed) == 0 {
		return
	}
	var happening []Fault
	kept := p.armed[:0:0]
	for _, f := range p.armed {
		if counts(f) && due(&f) {
			f.HasAfter, f.HasBytes, f.After, f.AfterBytes = false, false, 0, 0
			happening = append(happening, f)
			continue
		}
		kept = append(kept, f)
	}
	p.armed = kept
	for _, f := range happening {
		p.happen(p.moment(), f)
	}
}

// bytesToFault is how many bytes may be received before a fault that counts them is due.
func (p *Printer) bytesToFault() int {
	least := int64(math.MaxInt32)
	for _, f := range p.armed {
		if f.HasBytes && f.AfterBytes > 0 {
			least = min(least, f.AfterBytes)
		}
	}
	return int(least)
}

// blade is when the cutter jams.
type blade struct {
	armed bool
	left  int  // cuts that still succeed
	slip  bool // frees itself: only the error stands
}

// jams tells whether the cut that is due now fails, and sets the error where it does.
func (p *Printer) jams() bool {
	if p.blade.armed && p.blade.left > 0 {
		p.blade.left--
		return false
	}
	if !p.blade.armed && !p.status.jammed {
		return false
	}
	p.status.jammed = !p.blade.slip
	p.status.cutterError = true
	p.blade = blade{}
	return true
}
