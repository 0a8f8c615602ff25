package escpos

import (
	"errors"
	"fmt"
)

// DataBytesMax is the longest command the decoder accepts, parameters and image included. A strip
// of 576 dots and 4095 rows, the tallest that Epson allows, has 295 kB.
const DataBytesMax = 1 << 20

// errorsPerWrite bounds the errors one call of [Decoder.Write] keeps; all are counted.
const errorsPerWrite = 16

// UnknownError is one byte sequence that the decoder does not know.
type UnknownError struct {
	// Offset of the first byte, from the start of the stream.
	Offset int64
	// Raw is at most 16 bytes; decoding went on at the byte after the sequence.
	Raw []byte
	// Reason names the command and what was wrong with it, where that much is known.
	Reason string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("escpos: byte %d: % X: %s", e.Offset, e.Raw, e.Reason)
}

// Decoder turns a stream of bytes into commands, strictly: what is not in the list of [Op] is an
// error, never a guess. The zero value is ready.
//
// Two things happen to every byte, as in a printer. At receipt the last bytes are compared with the
// real-time commands, and a match yields its command at once, also where the bytes are part of an
// image or of another command's parameters; there they stay part of it as well (Command.Inside).
// Sources: Epson, "Notes of real-time commands"; research/escpos.md 2.2 and 3.7. Then the byte
// takes its place in the queued stream. NULs between commands are legal and yield [OpNUL], one
// command per run and call, with the bytes in Raw.
//
// Commands may be cut anywhere between calls. A text run ends with the call, so that a printer can
// act on what it has; two runs in a row are one text.
type Decoder struct {
	offset  int64  // of the next byte
	pending []byte // the queued command that is not complete
	want    int    // bytes the pending command is known to need, at least
	window  [liveBytesMax]byte
	filled  int // bytes of window in use, at its end
	unknown int64
}

// Pending returns the number of bytes of the command that is not complete yet.
func (d *Decoder) Pending() int { return len(d.pending) }

// Offset returns the number of bytes written so far.
func (d *Decoder) Offset() int64 { return d.offset }

// Unknown returns the number of errors so far, including those that no longer fitted into the error
// that Write returned.
func (d *Decoder) Unknown() int64 { return d.unknown }

// Write decodes all of p and returns the commands that became complete, in the order in which a
// printer would act. The error joins the first 16 [UnknownError] of this call; the commands around
// them are returned all the same, and decoding went on at the byte after each. errors.As finds the
// first.
func (d *Decoder) Write(p []byte) ([]Command, error) {
	var out []Command
	var failed []error
	fail := func(e *UnknownError) {
		d.unknown++
		if len(failed) < errorsPerWrite {
			failed = append(failed, e)
		}
	}
	for i := 0; i < len(p); {
		if len(d.pending) == 0 {
			if n := d.run(p[i:], &out); n > 0 {
				i += n
				continue
			}
		}
		out = d.step(p[i], out, fail)
		i++
	}
	return out, errors.Join(failed...)
}

// run takes text or NULs from the start of p as one command and returns how many bytes it took.
func (d *Decoder) run(p []byte, out *[]Command) int {
	op, belongs := OpText, func(b byte) bool { return b >= 0x20 }
	if p[0] == 0 {
		op, belongs = OpNUL, func(b byte) bool { return b == 0 }
	}
	n := 0
	for n < len(p) && belongs(p[n]) {
		if d.receive(p[n], out) {
			// A real-time command ended on this byte. It acts before the run that its last
			// byte is part of, and the run is split here.
			n++
			break
		}
		n++
	}
	if n == 0 {
		return 0
	}
	raw := append([]byte(nil), p[:n]...)
	c := Command{Op: op, Offset: d.offset - int64(n), Raw: raw}
	if op == OpText {
		c.Data = raw
	}
	*out = append(*out, c)
	return n
}

// receive is the real-time half: it notes b and tells whether a command ended on it that started
// before the queued stream's present command, or inside it.
func (d *Decoder) receive(b byte, out *[]Command) bool {
	copy(d.window[:], d.window[1:])
	d.window[liveBytesMax-1] = b
	d.filled = min(d.filled+1, liveBytesMax)
	d.offset++
	acted := false
	for n := d.filled; n >= 3; n-- {
		raw := d.window[liveBytesMax-n:]
		if raw[0] != dle || !liveWhole(raw) {
			continue
		}
		// A command of its own starts where the pending one does; all others are inside.
		own := n == len(d.pending)+1 && len(d.pending) > 0 && d.pending[0] == dle
		*out = append(*out, liveCommand(raw, d.offset-int64(n), !own))
		acted = true
	}
	return acted
}

// step gives one byte to both halves.
func (d *Decoder) step(b byte, out []Command, fail func(*UnknownError)) []Command {
	d.receive(b, &out)
	d.pending = append(d.pending, b)
	if len(d.pending) < d.want {
		return out
	}
	start := d.offset - int64(len(d.pending))
	need, reason := length(d.pending)
	switch {
	case reason == "" && need > DataBytesMax:
		reason = fmt.Sprintf("command of %d bytes, expected at most %d", need, DataBytesMax)
		fallthrough
	case reason != "":
		raw := append([]byte(nil), d.pending[:min(len(d.pending), 16)]...)
		fail(&UnknownError{Offset: start, Raw: raw, Reason: reason})
		d.drop()
	case need > len(d.pending):
		d.want = need
	case d.pending[0] == dle:
		d.drop() // The real-time half has told of it already.
	default:
		c, reason := parse(d.pending)
		if reason != "" {
			raw := append([]byte(nil), d.pending[:min(len(d.pending), 16)]...)
			fail(&UnknownError{Offset: start, Raw: raw, Reason: reason})
		} else {
			c.Offset = start
			out = append(out, c)
		}
		d.drop()
	}
	return out
}

// drop forgets the pending command. Its memory is kept for the next one unless it was an image's.
func (d *Decoder) drop() {
	d.want = 0
	if cap(d.pending) > 4096 {
		d.pending = nil
		return
	}
	d.pending = d.pending[:0]
}
