package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"chit/printer/virtual"
)

// event is what happens to one document of a random story.
type event struct {
	lines  int
	fault  string
	crash  time.Duration // the process dies this long after Print began; 0: it lives
	cancel time.Duration // the caller gives up this long after; 0: never
	away   time.Duration // how long the process is away
	back   time.Duration // it is taken back this long after; 0: never
}

func drawEvents(t *rapid.T) []event {
	n := rapid.IntRange(1, 4).Draw(t, "documents")
	events := make([]event, n)
	for i := range events {
		e := &events[i]
		e.lines = rapid.IntRange(2, 30).Draw(t, "lines")
		at := rapid.IntRange(1, 30).Draw(t, "at")
		bytes := rapid.IntRange(1, 400).Draw(t, "bytes")
		e.fault = rapid.SampledFrom([]string{
			"", "", fmt.Sprintf("paper-out:after=%d", at), fmt.Sprintf("cover-open:after=%d", at),
			fmt.Sprintf("head-hot:after=%d", at), fmt.Sprintf("power-off:after=%d,for=1m", at),
			fmt.Sprintf("power-off:after-bytes=%d,for=2s", bytes), fmt.Sprintf("drop:after-bytes=%d", bytes),
			fmt.Sprintf("forget-buffer:after=%d", at), fmt.Sprintf("silent:after=%d", at),
			"cutter-error", "cutter-error:slip", "late-answers:delay=700ms", "near-end",
		}).Draw(t, "fault")
		moment := time.Duration(rapid.IntRange(1, 4000).Draw(t, "ms")) * time.Millisecond
		switch rapid.SampledFrom([]string{"", "", "crash", "cancel", "back"}).Draw(t, "process") {
		case "crash":
			e.crash = moment
			e.away = rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(t, "away")
		case "cancel":
			e.cancel = moment
		case "back":
			e.back = moment
		}
	}
	return events
}

// Whatever happens to printer, cable and process: what a session says came out is on paper, whole;
// what it says did not start is not; nothing is on paper twice; and a document that nothing happens
// to comes out.
func TestWhatTheSessionSaysIsTrueOfThePaper(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		conf := good()
		conf.BufferBytes = rapid.SampledFrom([]int{256, 4096}).Draw(rt, "buffer")
		conf.KeepAnswers = rapid.Bool().Draw(rt, "keeps answers")
		for _, lack := range []string{"clone", "no-fence", "no-asb", "no-odometer"} {
			if rapid.IntRange(0, 3).Draw(rt, lack) == 0 {
				f, err := virtual.ParseFault(lack)
				if err != nil {
					rt.Fatal(err)
				}
				conf.Faults = append(conf.Faults, f)
			}
		}
		events := drawEvents(rt)
		var wrong []string
		synctest.Test(t, func(t *testing.T) {
			st := &story{t: t, m: newMachine(conf)}
			st.begin(Config{})
			for i, e := range events {
				wrong = append(wrong, st.live(i, e)...)
			}
			st.end()
			st.m.running.Wait()
		})
		if len(wrong) > 0 {
			rt.Fatal(strings.Join(wrong, "\n"))
		}
	})
}

var faultNames = []virtual.FaultName{
	virtual.PaperOut, virtual.CoverOpen, virtual.HeadHot, virtual.PowerCut, virtual.Drop,
	virtual.ForgetBuffer, virtual.Silent, virtual.CutterError, virtual.LateAnswers, virtual.NearEnd,
}

// live carries one document through its event and answers what was said wrongly.
func (st *story) live(i int, e event) (wrong []string) {
	name := fmt.Sprintf("doc%c", 'A'+i)
	j := job(uint64(i+1), name, e.lines)
	unit := st.untilReady().Unit
	unit.Trust.Text = max(unit.Trust.Text, Earned) // this odometer never counts wrongly
	intent := NewIntent(unit, j)
	if e.fault != "" {
		st.raise(e.fault)
	}
	repaired := make(chan struct{})
	go func() { // somebody comes after ten minutes
		defer close(repaired)
		pass(10 * time.Minute)
		for _, f := range faultNames {
			st.clear(f)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := st.begun(ctx, j)
	var r Result
	atClear := -1 // lines on paper when the printer said that it had forgotten the rest
	switch {
	case e.back > 0:
		pass(e.back)
		if st.s.Withdraw(ctx, j.Token) == nil {
			atClear = strings.Count(st.allPaper(), "two beers")
		}
		r = <-done
	case e.crash > 0:
		pass(e.crash)
		st.end()
		r = <-done
		pass(e.away)
		st.begin(Config{Known: unit})
	case e.cancel > 0:
		pass(e.cancel)
		cancel()
		r = <-done
	default:
		r = <-done
	}
	said, untouched := r.Evidence, false
	if r.Started && said == None {
		resolution := st.s.Resolve(context.Background(), intent)
		said, untouched = resolution.Evidence, resolution.Untouched
	}
	<-repaired
	st.untilReady()
	pass(10 * time.Minute) // what the printer still holds comes out
	paper := st.allPaper()
	times, whole := strings.Count(paper, name), strings.Contains(paper, ticket(name, e.lines))
	about := fmt.Sprintf("%s, %+v: result %+v, said %v, on paper %d times, whole %v",
		name, e, r, said, times, whole)
	switch {
	case atClear >= 0 && strings.Count(paper, "two beers") > atClear:
		wrong = append(wrong, "came out after it was cleared: "+about)
	case untouched && times > 0:
		wrong = append(wrong, "on paper though untouched: "+about)
	case times > 1:
		wrong = append(wrong, "printed twice: "+about)
	case !r.Started && times > 0:
		wrong = append(wrong, "printed though not started: "+about)
	case said >= Counted && !whole:
		wrong = append(wrong, "not whole on paper: "+about)
	case whole && r.Started && e.back == 0 && said < Counted &&
		unit.ProcessID && unit.Odometer && harmless(e.fault):
		wrong = append(wrong, "a second paper would be made for nothing: "+about)
	case e.fault == "" && e.crash == 0 && e.cancel == 0 && e.back == 0 &&
		(r.Evidence == None || !whole):
		wrong = append(wrong, "nothing happened to it, and it did not come out: "+about)
	}
	return wrong
}

// harmless is true of what neither loses answers nor moves the odometer by itself.
func harmless(fault string) bool {
	return fault == "" || fault == "near-end" || strings.HasPrefix(fault, "paper-out")
}

// allPaper is all text that was printed, cut or not.
func (st *story) allPaper() string {
	cut := strings.Join(st.m.papers(), " ")
	st.m.mu.Lock()
	defer st.m.mu.Unlock()
	return cut + " " + strings.Join(strings.Fields(st.m.p.Pending().Text()), " ")
}
