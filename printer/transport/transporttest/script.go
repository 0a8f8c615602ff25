package transporttest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"chit/printer/transport"
)

// Script is a printer that follows a written dialogue, one line a step:
//
//	# a comment, for the reader
//	connect            a client dials; the steps below it are this connection's
//	refuse             a client dials and is refused
//	> 10 04 01         these bytes are expected next
//	> 8192*00          the same, 8192 times
//	> {body}           so are those that the test named body
//	< 16               these bytes are answered
//	wait 3s            this long nothing is said and nothing is taken
//	hear 3s            this long everything is taken and nothing is said
//	close              the connection ends from the printer's side
//	rest               from here on everything is taken and nothing is said
//
// Bytes are hex pairs, "quoted text" or {names}, in any mixture. A connection whose steps are over
// takes nothing more. What does not follow the dialogue ends the connection and is told by
// [Script.Err]. Connections are net.Pipe, so that scripts play inside testing/synctest.
type Script struct {
	mu      sync.Mutex
	calls   []call // connections still to be dialled
	errs    []error
	playing sync.WaitGroup
	open    []net.Conn
}

// call is one connection of the dialogue.
type call struct {
	line    int
	refused bool
	steps   []step
}

type step struct {
	line  int
	verb  string
	bytes []byte
	time  time.Duration
}

// ErrScript says that the text of a dialogue cannot be read.
var ErrScript = errors.New("bad dialogue")

// errRefused is what a client of a refuse step gets.
var errRefused = errors.New("connection refused by the dialogue")

// Read reads a dialogue. words are the byte strings that it names in braces.
func Read(text string, words map[string][]byte) (*Script, error) {
	s := &Script{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.add(i+1, line, words); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrScript, i+1, err)
		}
	}
	return s, nil
}

func (s *Script) add(number int, line string, words map[string][]byte) error {
	verb, rest, _ := strings.Cut(line, " ")
	if verb == "connect" || verb == "refuse" {
		s.calls = append(s.calls, call{line: number, refused: verb == "refuse"})
		return nil
	}
	if len(s.calls) == 0 || s.calls[len(s.calls)-1].refused {
		return fmt.Errorf("%q stands before any connect", line)
	}
	last := &s.calls[len(s.calls)-1]
	one := step{line: number, verb: verb}
	var err error
	switch verb {
	case ">", "<":
		one.bytes, err = parseBytes(rest, words)
	case "wait", "hear":
		one.time, err = time.ParseDuration(strings.TrimSpace(rest))
	case "close", "rest":
	default:
		err = fmt.Errorf("%q is no step, want connect, refuse, >, <, wait, hear, close or rest", verb)
	}
	last.steps = append(last.steps, one)
	return err
}

// parseBytes reads hex pairs, quoted text and names.
func parseBytes(text string, words map[string][]byte) ([]byte, error) {
	var out []byte
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		switch text[0] {
		case '"':
			quoted, rest, found := strings.Cut(text[1:], `"`)
			if !found {
				return nil, errors.New("a quote is not closed")
			}
			out, text = append(out, quoted...), rest
		case '{':
			name, rest, _ := strings.Cut(text[1:], "}")
			word, found := words[name]
			if !found {
				return nil, fmt.Errorf("nothing is named %q", name)
			}
			out, text = append(out, word...), rest
		default:
			pair, rest, _ := strings.Cut(text, " ")
			var times int
			if n, err := fmt.Sscanf(pair, "%d*%s", &times, &pair); n < 2 || err != nil {
				times = 1
			}
			b, err := hex.DecodeString(pair)
			if err != nil {
				return nil, fmt.Errorf("%q: want hex pairs, \"text\" or {name}", pair)
			}
			out, text = append(out, bytes.Repeat(b, times)...), rest
		}
	}
	return out, nil
}

// Name is a URL for logs.
func (s *Script) Name() string { return "script:" }

// TwoWay is true.
func (s *Script) TwoWay() bool { return true }

// Dial begins the next connection of the dialogue.
func (s *Script) Dial(ctx context.Context) (transport.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return nil, fmt.Errorf("the dialogue is over: %w", errRefused)
	}
	next := s.calls[0]
	s.calls = s.calls[1:]
	if next.refused {
		return nil, errRefused
	}
	host, printer := net.Pipe()
	s.open = append(s.open, printer)
	s.playing.Go(func() {
		if err := play(printer, next.steps); err != nil {
			s.mu.Lock()
			s.errs = append(s.errs, err)
			s.mu.Unlock()
			printer.Close()
		}
	})
	return host, nil
}

// play follows the steps. A client that leaves in the middle did not follow the dialogue, except
// where it is told nothing more.
func play(c net.Conn, steps []step) error {
	for _, one := range steps {
		var err error
		switch one.verb {
		case ">":
			got := make([]byte, len(one.bytes))
			var n int
			n, err = io.ReadFull(c, got)
			if err == nil && !bytes.Equal(got, one.bytes) || err != nil {
				return fmt.Errorf("line %d: expected % x, got % x (%v)", one.line, one.bytes, got[:n], err)
			}
		case "<":
			_, err = c.Write(one.bytes)
		case "wait":
			<-time.After(one.time)
		case "hear":
			err = hear(c, one.time)
		case "rest":
			_, err = io.Copy(io.Discard, c)
		case "close":
			return c.Close()
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", one.line, one.verb, err)
		}
	}
	return nil
}

// hear takes everything for a while.
func hear(c net.Conn, d time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, c)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return c.SetReadDeadline(time.Time{})
	}
	return errors.Join(err, io.ErrUnexpectedEOF)
}

// Err ends all connections and tells what did not follow the dialogue, or was never asked for. Call
// it after the client has closed.
func (s *Script) Err() error {
	s.mu.Lock()
	open := s.open
	s.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
	s.playing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		s.errs = append(s.errs, fmt.Errorf("line %d: nobody dialled", c.line))
	}
	s.calls = nil
	return errors.Join(s.errs...)
}
