package session

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/transport"
	"chit/printer/virtual"
)

// A printer that loses its power while the connection stands says nothing more. Its station's
// backup waits for the word "silent", not for the longest ticket's time.
func TestAPrinterThatDiesInTheMiddleIsCalledSilentWithinSeconds(t *testing.T) {
	for _, c := range []struct {
		name   string
		lacks  []string
		within time.Duration
	}{
		{"GS ( H", nil, 12 * time.Second},
		{"GS r alone, polled", []string{"clone", "no-asb"}, 12 * time.Second},
		{"GS r alone, pushes", []string{"clone"}, 25 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			tell(t, with(t, c.lacks...), Unit{}, func(st *story) {
				unit := st.untilReady().Unit
				j := job(1, "A", 30)
				done := st.begun(st.t.Context(), j)
				pass(time.Second)
				st.m.do(func(p *virtual.Printer, now time.Time) {
					p.Silence(now)
					p.ForgetBuffer(now)
				})
				begin := time.Now()
				if s := st.untilHold(HoldSilent); s.Err == "" {
					t.Errorf("nobody is told why: %+v", s)
				}
				if took := time.Since(begin); took > c.within {
					t.Errorf("called silent after %v, want %v", took, c.within)
				}
				select {
				case r := <-done:
					t.Errorf("given up with the word: %+v", r)
				default:
				}
				if r := <-done; !r.Started || r.Evidence != None || !errors.Is(r.Err, ErrSilence) {
					t.Errorf("got %+v, want an unknown outcome", r)
				}
				if holds := st.holds(); slices.Contains(holds[slices.Index(holds, HoldSilent):], HoldNone) {
					t.Errorf("it was called well in between: %q", holds)
				}
				st.m.do(func(p *virtual.Printer, now time.Time) { p.Speak(now) })
				st.untilReady()
				if r := st.s.Resolve(st.t.Context(), NewIntent(unit, j)); r.Evidence != None || !r.Torn {
					t.Errorf("resolved to %+v, want torn", r)
				}
			})
		})
	}
}

// What matters is whether it answers, not how long it takes.
func TestASlowPrinterIsNeverCalledSilent(t *testing.T) {
	for _, faults := range [][]string{nil, {"clone"}, {"clone", "no-asb"}} {
		faults = append(faults, "slow:lines-per-second=0.6")
		tell(t, with(t, faults...), Unit{}, func(st *story) {
			st.untilReady()
			if r := st.print(job(1, "A", 40)); r.Evidence < Fenced {
				t.Errorf("%v: got %+v", faults, r)
			}
			if holds := st.holds(); !slices.Equal(holds, []Hold{HoldNone}) {
				t.Errorf("%v: holds %q", faults, holds)
			}
		})
	}
}

// A link that takes no bytes cannot even be asked: a cable pulled out of a serial port.
func TestAWriteThatMakesNoProgressIsSilence(t *testing.T) {
	c := with(t, "clone", "no-asb")
	c.BufferBytes = 256
	tell(t, c, Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 200))
		pass(2 * time.Second)
		st.m.do(func(p *virtual.Printer, now time.Time) {
			p.Silence(now)
			p.RemovePaper(now)
		})
		begin := time.Now()
		st.untilHold(HoldSilent)
		if took := time.Since(begin); took > stallMax+time.Second {
			t.Errorf("called silent after %v", took)
		}
		if r := <-done; !r.Started || r.Evidence != None {
			t.Errorf("got %+v", r)
		}
		st.clear(virtual.PaperOut) // What it holds must have room before the line can end.
	})
}

// One that answers again is taken at its word, and its document is still waited for.
func TestASilentPrinterThatSpeaksAgainIsReadyAgain(t *testing.T) {
	tell(t, with(t, "slow:lines-per-second=0.5"), Unit{}, func(st *story) {
		st.untilReady()
		done := st.begun(st.t.Context(), job(1, "A", 30))
		pass(time.Second)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Silence(now) })
		st.untilHold(HoldSilent)
		pass(7 * time.Second)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Speak(now) })
		st.untilReady()
		wantResult(t, <-done, Confirmed)
		if holds := st.holds(); !slices.Equal(holds, []Hold{HoldNone, HoldSilent, HoldNone}) {
			t.Errorf("holds %q", holds)
		}
		wantResult(t, st.print(job(2, "B", 2)), Confirmed)
	})
}

// stubborn accepts a connection, says nothing, and refuses the next.
type stubborn struct{ dials int }

func (d *stubborn) Name() string { return "stubborn:" }
func (d *stubborn) TwoWay() bool { return true }
func (d *stubborn) Dial(ctx context.Context) (transport.Conn, error) {
	if d.dials++; d.dials%2 == 0 {
		return nil, errNoRoute
	}
	host, printer := net.Pipe()
	context.AfterFunc(ctx, func() { printer.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			if _, err := printer.Read(buffer); err != nil {
				return
			}
		}
	}()
	return host, nil
}

// A mute printer without paper flapped between absent and silent every 1.3 s: its board holds the
// slot of the connection before until its buffer has room.
func TestAPrinterThatIsAwayInTwoWaysIsCalledOneOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &story{t: t}
		st.begin(Config{Dialer: &stubborn{}, Known: known})
		pass(10 * time.Minute)
		if holds := st.holds(); !slices.Equal(holds, []Hold{HoldSilent}) {
			t.Errorf("holds %q, want silent alone", holds)
		}
		st.end()
	})
}

func TestASilentPrinterThatIsSwitchedOffBecomesAbsent(t *testing.T) {
	tell(t, good(), known, func(st *story) {
		st.untilReady()
		st.m.do(func(p *virtual.Printer, now time.Time) { p.Silence(now) })
		st.untilHold(HoldSilent)
		st.m.do(func(p *virtual.Printer, now time.Time) { p.PowerOff(now) })
		begin := time.Now()
		st.untilHold(HoldAbsent)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("called absent after %v", took)
		}
	})
}
