package faults

import (
	"slices"
	"strings"
	"time"

	"chit/printer/session"
	"chit/printer/virtual"
)

// complaints are all rows, in their order.
func complaints() []complaint {
	return slices.Concat(hostRows(), printerRows(), textRows())
}

// hostRows are 1 to 17: orders lost and doubled, and rolls that end.
func hostRows() []complaint {
	return []complaint{
		{row: 1, symptom: "the printer drops off for seconds, staff press again, two papers",
			here: "the same id meets itself: one paper",
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(300 * time.Millisecond)
				s.hand((*virtual.Printer).HangUp)
				s.arrives("A")
				s.wants(id, "printed", "confirmed")
				s.papers("A")
			}},
		{row: 2, symptom: "an earlier ticket comes out again when food is added",
			here: "each id is printed once, whatever else arrives",
			play: func(s *scene) {
				for _, name := range []string{"A", "B", "C"} {
					s.wants(s.arrives(name), "printed", "confirmed")
				}
				s.papers("A", "B", "C")
			}},
		{row: 3, symptom: "an old ticket comes out at a station that has nothing to make",
			here: "a mutation that does not concern a station makes no ticket for it",
			shown: []string{"broker/delivery TestAVoidOfWhatNoDeviceHadCostsNoPaper",
				"broker/delivery TestOnlyOpenLowerMutationsOfTheStationBlock"}},
		{row: 4, symptom: "print state is not recorded, the reprint has no mark",
			here:   "the intent is on disk before the first byte; a start that finds it marks the paper",
			faults: []string{"clone", "no-odometer"},
			play: func(s *scene) {
				s.wait(time.Minute) // It is known by then.
				id := s.arrives("A")
				s.wait(500 * time.Millisecond)
				s.dies()
				s.wait(time.Minute)
				s.start()
				s.wants(id, "printed", "fenced")
				s.papers("A", "A*")
			}},
		{row: 5, symptom: "fast repeated taps print several tickets", here: "an id is one paper",
			play: func(s *scene) {
				id := ""
				for range 5 {
					id = s.arrives("A")
				}
				s.wants(id, "printed", "confirmed")
				s.papers("A")
			}, shown: []string{"broker/delivery TestATicketIsAcceptedOnce"}},
		{row: 6, symptom: "two parts of a program touch one printer: half jobs, garbage",
			here:  "a session is the only opener, and another program is named",
			shown: []string{"printer/transport/usb TestAnotherProgramThatHasThePrinterIsNamed"}},
		{row: 7, symptom: "an idle connection is reset, and later prints all fail",
			here: "it is made anew before the next ticket",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.wait(time.Hour)
				s.hand((*virtual.Printer).HangUp)
				s.wants(s.arrives("B"), "printed", "confirmed")
				s.papers("A", "B")
			}},
		{row: 8, symptom: "what reached the queue counts as success",
			here: "printed is said with evidence only", faults: []string{"paper-out:after=3"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(6 * time.Hour)
				s.unanswered(id)
			}},
		{row: 9, symptom: "restaurants get the same ticket several times",
			here: "an id is remembered past restarts and answered as a duplicate",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.dies()
				s.start()
				s.arrives("A")
				s.papers("A")
			}, shown: []string{"device/core TestSameIdAThousandTimesIsOnePaperAndNoCommit"}},
		{row: 10, symptom: "an order is lost because the printer was off",
			here: "it is held, and printed when the printer is there",
			play: func(s *scene) {
				s.off()
				id := s.arrives("A")
				s.wait(50 * time.Minute)
				s.on()
				s.wants(id, "printed", "confirmed")
				s.papers("A")
			}},
		{row: 11, symptom: "after the paper change far more receipts than jobs",
			here: "a document is written once and waited for", faults: []string{"paper-out:after=3"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(6 * time.Hour)
				s.hand((*virtual.Printer).LoadPaper)
				s.wants(id, "printed", "confirmed")
				s.papers("A")
			}},
		{row: 12, symptom: "out of paper is reported as success",
			here: "held: paper_out", faults: []string{"clone", "paper-out:after=3"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(time.Hour)
				s.unanswered(id)
				if got := s.holds(id); got != string(session.HoldPaper) {
					s.Errorf("held %q", got)
				}
			}},
		{row: 13, symptom: "jobs pile up in a printer without paper and all come out later",
			here: "they wait in the device; the printer gets questions alone", faults: []string{"paper-out"},
			play: func(s *scene) {
				ids := []string{s.arrives("A"), s.arrives("B"), s.arrives("C")}
				s.wait(10 * time.Minute)
				s.hand(func(p *virtual.Printer, now time.Time) {
					if p.Buffered() > 400 { // Less than two tickets, and more than the questions.
						s.Errorf("the printer holds %d bytes", p.Buffered())
					}
					p.LoadPaper(now)
				})
				for _, id := range ids {
					s.wants(id, "printed", "confirmed")
				}
				s.papers("A", "B", "C")
			}},
		{row: 14, symptom: "people ask for a way to drop what the printer still holds",
			here: "only on purpose, DLE DC4 8 and after an error DLE ENQ 2",
			shown: []string{"printer/session TestRow14ClearedBuffersPrintNothingMore",
				"printer/session TestNothingButAWishClearsOrRecovers"}},
		{row: 15, symptom: "a newer batch of the same model pushes no status",
			here: "it is probed and polled", faults: []string{"no-asb", "paper-out:after=3"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(time.Minute)
				if got := s.holds(id); got != string(session.HoldPaper) {
					s.Errorf("held %q", got)
				}
				s.hand((*virtual.Printer).LoadPaper)
				s.wants(id, "printed", "confirmed")
			}},
		{row: 16, symptom: "Success, and no paper", here: "held: paper_out before the first byte",
			faults: []string{"paper-out"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(time.Hour)
				s.unanswered(id)
				s.papers()
			}},
		{row: 17, symptom: "five jobs in one go, paper ends after two: which were printed?",
			here: "one ticket in flight", faults: []string{"paper-out:after=45"},
			play: func(s *scene) {
				ids := []string{s.arrives("A"), s.arrives("B"), s.arrives("C"), s.arrives("D")}
				s.wait(time.Hour)
				s.wants(ids[0], "printed", "confirmed")
				s.unanswered(ids[3])
				s.hand((*virtual.Printer).LoadPaper)
				for _, id := range ids {
					s.wants(id, "printed", "confirmed")
				}
				s.papers("A", "B", "C", "D")
			}},
	}
}

// printerRows are 18 to 32: buffers, links and drivers.
func printerRows() []complaint {
	return []complaint{
		{row: 18, symptom: "paper ends inside an image, then garbage until a power cycle",
			here: "small strips; NULs end one that was cut off",
			shown: []string{"printer/session TestRow18PaperThatEndsInsideAnImageLeavesTheNextTicketWhole",
				"printer/session TestAStripTornByACrashIsEndedBeforeAnythingIsAsked"}},
		{row: 19, symptom: "stops before the cut, the next job is garbage: a full buffer drops bytes",
			here: "the link holds the host back, and the next ticket waits for the fence", buffer: 128,
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.wants(s.arrives("B"), "printed", "confirmed")
				s.papers("A", "B")
			}},
		{row: 20, symptom: "tall images turn into garbage",
			here:  "strips no larger than the printer takes",
			shown: []string{"printer/escpos TestAStripIsNeverLargerThanThePrinterTakes"}},
		{row: 21, symptom: "the first job after the printer was off and on disappears",
			here: "an answer is demanded before each ticket",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.off()
				s.wait(10 * time.Second)
				s.on()
				s.wants(s.arrives("B"), "printed", "confirmed")
				s.papers("A", "B")
			}},
		{row: 22, symptom: "power off in the middle: no error, lines lost",
			here:   "unknown, resolved by the odometer, the second paper marked",
			faults: []string{"power-off:after=5,for=10s"},
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.papers("A*")
			}},
		{row: 23, symptom: "after hours no more sockets are accepted",
			here: "one connection for all",
			play: func(s *scene) {
				for n := range 12 {
					s.wants(s.arrives(string(rune('A'+n))), "printed", "confirmed")
					s.wait(time.Hour)
				}
				if s.dials() != 1 {
					s.Errorf("%d connections", s.dials())
				}
			}},
		{row: 24, symptom: "a second job within 30 s vanishes",
			here: "it comes on the same connection",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.wants(s.arrives("B"), "printed", "confirmed")
				if s.dials() != 1 {
					s.Errorf("%d connections", s.dials())
				}
				s.papers("A", "B")
			}},
		{row: 25, symptom: "a second client is refused while the first stays connected",
			here:  "the device is the only client; who has the printer is named",
			shown: []string{"printer/transport/network TestARefusedConnectionSaysWhereItWentTo"}},
		{row: 26, symptom: "reset after 90 s of idleness; a pulled cable looks connected",
			here: "asked within 60 s, so that it is missed before the next ticket",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.bench.pull()
				s.wait(time.Minute)
				id := s.arrives("B")
				s.wait(time.Second)
				got := s.holds(id)
				if !strings.Contains(got, "silent") && !strings.Contains(got, "absent") {
					s.Errorf("held %q with the cable out", got)
				}
			}, shown: []string{"printer/session TestRow26AnIdleLinkIsNeverQuietForAMinute"}},
		{row: 27, symptom: "connecting hangs for 40 s and more", here: "a time-out of its own",
			shown: []string{"printer/transport/network TestAConnectHasItsOwnTimeOut"}},
		{row: 28, symptom: "closed too early: last lines and cut are missing",
			here: "closed after the fence",
			shown: []string{"printer/transport/network TestACloseIsAFinAndNotAReset",
				"printer/transport/usb TestCloseTellsOfATailThatWasNotTaken"}},
		{row: 29, symptom: "the cut goes through the last lines", here: "fed to the blade first",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.wants(s.arrives("B"), "printed", "confirmed")
				sheets := s.bench.printer().papers()
				if len(sheets) < 2 || !strings.Contains(sheets[0], "END OF A") ||
					strings.Contains(sheets[1], "END OF A") {
					s.Errorf("papers %q", sheets)
				}
			}, shown: []string{"printer/escpos TestTheBodyFeedsToTheBladeAndTheCutStandsAlone"}},
		{row: 30, symptom: "usblp is gone after the printer restarts",
			here: "found again by what it is",
			usb:  true,
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				s.off()
				s.wait(time.Minute)
				s.on()
				s.wants(s.arrives("B"), "printed", "confirmed")
				s.papers("A", "B")
			}, shown: []string{"printer/transport/usb TestAPrinterThatIsPluggedInElsewhereIsFoundAgain"}},
		{row: 31, symptom: "permission denied on lp0, again after each replug",
			here:  "the error names the group, the package ships the rule",
			shown: []string{"printer/transport/usb TestAForbiddenNodeSaysWhichGroupItNeeds"}},
		{row: 32, symptom: "flushed line by line: 8 s instead of 2 s",
			here: "a ticket is one write",
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				m := s.bench.printer()
				m.mu.Lock()
				defer m.mu.Unlock()
				if m.large != 1 {
					s.Errorf("%d writes of more than 64 bytes for one ticket", m.large)
				}
			}},
	}
}

// textRows are 33 to 40: letters, and what printers say of themselves.
func textRows() []complaint {
	return []complaint{
		{row: 33, symptom: "accents become Chinese signs on clones", here: "FS . behind each ESC @",
			faults: []string{"kanji"},
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "confirmed")
				if got := s.bench.printer().papers()[0]; !strings.Contains(got, "1 Käsespätzle") {
					s.Errorf("paper %q", got)
				}
			}},
		{row: 34, symptom: "the euro prints as something else", here: "its page, or drawn",
			shown: []string{"printer/escpos TestWhatNoPageSpellsIsDrawnInItsPlace",
				"printer/escpos/codepage TestKnownBytes"}},
		{row: 35, symptom: "Chinese garbage: the ROM has another encoding",
			here: "drawn, or refused",
			shown: []string{"printer/escpos TestWhatNoPageSpellsIsDrawnInItsPlace",
				"printer/escpos TestAWordThatCannotBePrintedRefusesTheDocument"}},
		{row: 36, symptom: "a Star printer in ESC/POS mode says offline though it prints",
			here:  "a limit: such a unit is held, off line, and a person is told; nothing is lost",
			shown: []string{"printer/session TestAUnitThatSaysOfflineWithoutACauseIsHeldAndToldSo"}},
		{row: 37, symptom: "an answer belongs to the question before",
			here: "kinds are matched, and a late answer speaks for its own document",
			shown: []string{"printer/session TestRow37ALateFenceSpeaksForItsOwnDocument",
				"printer/session TestALateAnswerIsKeptForTheDocumentItWasIssuedTo"}},
		{row: 38, symptom: "a status read blocks for ever", here: "bounded, then held: silent",
			faults: []string{"silent:after=20"},
			play: func(s *scene) {
				id := s.arrives("A")
				s.wait(3 * time.Minute)
				if got := s.holds(id); got != string(session.HoldSilent) {
					s.Errorf("held %q", got)
				}
			}},
		{row: 39, symptom: "a status failure stops all printing",
			here: "a unit that never answers is printed to, evidence sent", faults: []string{"mute"},
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "sent")
				s.papers("A")
			}},
		{row: 40, symptom: "a printer whose USB can only be written to", here: "evidence sent",
			faults: []string{"mute"}, usb: true,
			play: func(s *scene) {
				s.wants(s.arrives("A"), "printed", "sent")
				s.papers("A")
			}},
	}
}
