package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/escpos"
	"chit/printer/transport/transporttest"
)

// printedAnswer is how a printer says that a token's data has printed.
func printedAnswer(t escpos.Token) []byte {
	return slices.Concat([]byte{0x37, 0x22}, t[:], []byte{0})
}

// words are the byte strings that the dialogues in testdata name.
func words(j Job, earlier escpos.Token) map[string][]byte {
	ask := askToken(uint64(time.Now().UnixNano()) + 1)
	return map[string][]byte{
		"body": j.Paper.Body, "cut": j.Paper.Cut,
		"fence": escpos.ProcessID(j.Token), "body fence": escpos.ProcessID(bodyToken(j.Token)),
		"token": j.Token[:], "printed": printedAnswer(j.Token),
		"body printed": printedAnswer(bodyToken(j.Token)), "earlier printed": printedAnswer(earlier),
		"ask": escpos.ProcessID(ask), "asked": printedAnswer(ask),
	}
}

func TestDialogues(t *testing.T) {
	confirmed := Result{Started: true, Evidence: Confirmed}
	unknown := Result{Started: true}
	for _, c := range []struct {
		file   string
		known  Unit
		want   Result // Counters are not compared
		cause  error
		hold   Hold // the state to wait for before the job
		strict bool // the printer must have heard exactly its dialogue
	}{
		{file: "first-meeting", want: confirmed, strict: true},
		{file: "remembered", known: known, want: confirmed, strict: true},
		{file: "only-the-last-id", known: known, want: confirmed, strict: true},
		{file: "torn-answers", known: known, want: confirmed, strict: true},
		{file: "cut-that-failed", known: known,
			want: Result{Started: true, Evidence: Confirmed, CutFault: true}, strict: true},
		{file: "late-answers-first", known: known, want: confirmed},
		{file: "row38-status-that-never-comes", known: known,
			want: unknown, cause: ErrSilence},
		{file: "wrong-id", known: known, want: unknown, cause: ErrSilence},
		{file: "hung-up-in-the-answer", known: known, want: unknown, cause: ErrLink},
		{file: "row39-garbage", want: Result{Started: true, Evidence: Sent}, strict: true},
		{file: "row37-two-hellos-answered", want: confirmed, strict: true},
		{file: "remembered-but-silent", known: known,
			want: Result{Hold: HoldSilent}, cause: ErrHeld, hold: HoldSilent},
		{file: "refused-then-there", known: known, want: confirmed, strict: true},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				j := job(7, "A", 2)
				script, err := transporttest.Read(string(text), words(j, escpos.TokenOf(6)))
				if err != nil {
					t.Fatal(err)
				}
				st := &story{t: t}
				st.begin(Config{Dialer: script, Known: c.known})
				st.untilHold(c.hold)
				r := st.print(j)
				r.Counters = Counters{}
				if c.cause != nil && !errors.Is(r.Err, c.cause) {
					t.Errorf("got %v, want %v", r.Err, c.cause)
				}
				if c.cause != nil {
					r.Err = nil
				}
				if r != c.want {
					t.Errorf("got %+v, want %+v", r, c.want)
				}
				synctest.Wait()
				st.end()
				if slices.Contains(st.holds(), HoldCover) {
					t.Error("an answer was taken for another question's: no cover was ever open")
				}
				if err := script.Err(); err != nil && c.strict {
					t.Error(err)
				}
			})
		})
	}
}

// The late answer of "late-answers-first" speaks for the earlier document and for no other.
func TestALateAnswerIsKeptForTheDocumentItWasIssuedTo(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "late-answers-first.txt"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		script, err := transporttest.Read(string(text), words(job(7, "A", 2), escpos.TokenOf(6)))
		if err != nil {
			t.Fatal(err)
		}
		st := &story{t: t}
		st.begin(Config{Dialer: script, Known: known})
		st.untilReady()
		st.end() // Run is over, so its proofs may be read.
		for n, want := range map[uint64]part{5: nothing, 6: whole, 7: nothing} {
			if got, _ := st.s.proofs.of(escpos.TokenOf(n)); got != want {
				t.Errorf("document %d: %v, want %v", n, got, want)
			}
		}
		if err := script.Err(); err == nil {
			t.Error("the dialogue ended before its document, and nobody said so")
		}
	})
}
