package crash

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"chit/device/wire"
	"chit/printer/profile"
	"chit/printer/virtual"
	"chit/rig"
)

// withDevice is an installation whose device is a chitd.
var withDevice = []string{"chitd"}

// kinds are the printers that differ in what a device can know after a crash.
var kinds = []struct {
	name  string
	can   func(*virtual.Config)
	clean bool // no second paper at all: the printer's late answer or its odometer is always readable
	// evidence is what its tickets may end with.
	evidence []wire.Evidence
}{
	{"GS ( H and odometer", func(*virtual.Config) {}, true,
		[]wire.Evidence{wire.EvidenceConfirmed, wire.EvidenceCounted}},
	{"GS r alone", func(c *virtual.Config) { c.Can.ProcessID, c.Can.Odometer = false, false }, false,
		[]wire.Evidence{wire.EvidenceFenced}},
	{"mute", func(c *virtual.Config) {
		c.Faults = append(c.Faults, virtual.Fault{Name: virtual.Mute})
	}, false, []wire.Evidence{wire.EvidenceSent}},
}

func TestTheDeviceIsKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			k := newKiller(t, kind.can)
			k.evidence = kind.evidence
			for round := range *rounds {
				for _, point := range plainPoints() {
					k.killDevice(point, 1+round%3)
				}
			}
			k.judge(kind.clean)
		})
	}
}

// plainPoints are the device's failpoints that tickets pass without a recall; the others are for
// the tests of recalls and of failover.
func plainPoints() []string {
	return slices.DeleteFunc(points("device"), func(point string) bool {
		return strings.HasPrefix(point, "device.recalled.") || strings.HasPrefix(point, "device.clear.")
	})
}

func TestTheBrokerIsKilledUnderAWorkingDevice(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			k := newKiller(t, kind.can)
			for round := range *rounds {
				for _, point := range trafficPoints() {
					k.killBroker(point, 1+round%3)
				}
			}
			k.judge(true) // The device never forgot anything.
		})
	}
}

// trafficPoints are the broker's failpoints that posting a few tickets passes.
func trafficPoints() []string {
	var names []string
	for _, point := range points("broker") {
		switch command, _, _ := strings.Cut(strings.TrimPrefix(point, "broker."), "."); command {
		case "accept", "lease", "ticket", "ack":
			names = append(names, point)
		}
	}
	return names
}

// killer drives one installation from kill to kill.
type killer struct {
	*testing.T
	ctx   context.Context
	rig   *rig.Rig
	kills int
	torn  int            // connections that fell between two bytes of a command
	round []wire.Content // in flight around the newest kill
	// evidence is what tickets may end with; anything where nil.
	evidence []wire.Evidence
}

func newKiller(t *testing.T, can func(*virtual.Config)) *killer {
	t.Helper()
	return newKillerIn(t, t.TempDir(), can)
}

func newKillerIn(t *testing.T, dir string, can func(*virtual.Config)) *killer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patienceFor(10**rounds))
	t.Cleanup(cancel)
	model := rig.Model(profile.Safe80())
	can(&model)
	k := &killer{T: t, ctx: ctx, rig: install(ctx, t, rig.Config{Dir: dir, Device: withDevice,
		Stations: []string{"grill", "bar"}, Printer: model})}
	// An odometer is trusted after it has counted our own tickets right (DESIGN section 5): a first
	// ticket whose answer was read by a process that died has neither witness.
	k.post().Wait()
	k.over("nothing")
	return k
}

// post sends a few tickets at once, those of one order in their order, and waits until each is
// answered.
func (k *killer) post() *sync.WaitGroup {
	k.kills++
	k.round = inFlight(fmt.Sprintf("k%d", k.kills), "grill", "bar")
	byOrder := map[string][]wire.Content{}
	for _, c := range k.round {
		byOrder[c.Order] = append(byOrder[c.Order], c)
	}
	var posts sync.WaitGroup
	for _, contents := range byOrder {
		posts.Go(func() {
			for _, c := range contents {
				status, err := k.rig.Post(k.ctx, c)
				if err != nil || status != http.StatusOK && status != http.StatusAccepted {
					k.Errorf("posting %s: status %d, %v", c.ID, status, err)
				}
			}
		})
	}
	return &posts
}

// over waits until everything of the round has settled.
func (k *killer) over(what string) {
	k.Helper()
	for _, c := range k.round {
		got, err := k.rig.Over(k.ctx, c.ID, c.Station)
		if err != nil {
			k.Fatalf("after %s: %v", what, err)
		}
		if got.State != "settled" {
			k.Errorf("after %s: %s is %s (%s), want settled", what, c.ID, got.State, got.Reason)
		}
		if k.evidence != nil && !slices.Contains(k.evidence, wire.Evidence(got.Evidence)) {
			k.Errorf("after %s: %s has evidence %q, want one of %q", what, c.ID, got.Evidence,
				k.evidence)
		}
	}
}

// killDevice kills chitd at the nth passage of the point, with tickets in flight, starts it again
// and waits for their end.
func (k *killer) killDevice(point string, nth int) {
	k.Helper()
	device := k.rig.Device
	var posts *sync.WaitGroup
	switch step, _, _ := strings.Cut(strings.TrimPrefix(point, "device."), "."); step {
	case "start", "hello", "welcome": // Passed at a process's beginning, with answers unsaid.
		posts = k.twice("device.result.after-commit", nth, point)
	case "resolve", "resolved": // Passed by a process that finds an open intent.
		posts = k.twice("device.print.after-first-byte", nth, point)
	default:
		arm(k.T, device, point, nth)
		posts = k.post()
	}
	die(k.ctx, k.T, device, point)
	k.restart()
	posts.Wait()
	k.over(point)
}

// twice kills at a first point and arms the second for the process that follows.
func (k *killer) twice(first string, nth int, second string) *sync.WaitGroup {
	k.Helper()
	arm(k.T, k.rig.Device, first, nth)
	posts := k.post()
	die(k.ctx, k.T, k.rig.Device, first)
	arm(k.T, k.rig.Device, second, 1)
	k.restart()
	return posts
}

func (k *killer) restart() {
	k.Helper()
	if err := k.rig.Device.Start(); err != nil {
		k.Fatal(err)
	}
}

// killBroker does the same to the broker.
func (k *killer) killBroker(point string, nth int) {
	k.Helper()
	arm(k.T, k.rig.Broker, point, nth)
	posts := k.post()
	die(k.ctx, k.T, k.rig.Broker, point)
	if err := k.rig.Broker.Start(); err != nil {
		k.Fatal(err)
	}
	posts.Wait()
	k.over(point)
}

// judge lets the paper speak.
func (k *killer) judge(clean bool) rig.Verdict {
	k.Helper()
	v, err := k.rig.Judge(k.ctx)
	if err != nil {
		k.Fatal(err)
	}
	for _, broken := range k.without(v.Broken) {
		k.Error(broken)
	}
	k.inOrder()
	k.agreed()
	k.torso()
	if v.Dead > 0 || v.Refused > 0 {
		k.Errorf("%d dead, %d refused, want none", v.Dead, v.Refused)
	}
	if clean && v.MarkedDuplicates > 0 {
		k.Errorf("%d second papers, want none from this printer: %v", v.MarkedDuplicates, k.seconds())
	}
	k.Logf("%d kills, %d tickets, %d with paper, %d marked second papers, paper after p50 %v ms",
		k.kills, v.Accepted, v.Printed, v.MarkedDuplicates, v.TimeToPaper.P50)
	return v
}

// seconds are the ids that have more than one paper.
func (k *killer) seconds() (ids []string) {
	found := map[string]bool{}
	for _, sheet := range k.rig.Sheets() {
		id := rig.Read(sheet).ID
		if id != "" && found[id] {
			ids = append(ids, id)
		}
		found[id] = true
	}
	return ids
}

// without leaves out what a torn command makes of the first question behind it: the printer takes
// the DLE of DLE EOT for the torn command's next byte and does not know what comes of it.
func (k *killer) without(broken []string) []string {
	const each = 3 // 1D 10, 04 and 01
	allowed := each * k.torn
	var rest []string
	for _, b := range broken {
		if allowed > 0 && strings.HasPrefix(b, "the printer objected") &&
			strings.HasSuffix(b, "unknown command") {
			allowed--
			continue
		}
		rest = append(rest, b)
	}
	return rest
}

// inOrder looks at the first papers of each order: their mutations come in seq order (I6).
func (k *killer) inOrder() {
	k.Helper()
	first := map[string]bool{}
	newest := map[string]int{}
	for _, sheet := range k.rig.Sheets() {
		p := rig.Read(sheet)
		id, err := wire.ParseTicketID(p.ID)
		if err != nil || first[p.ID] {
			continue
		}
		first[p.ID] = true
		if id.Seq < newest[id.Order] && !strings.Contains(p.Text, "OLDER THAN") {
			k.Errorf("%s came after seq %d and does not say so", p.ID, newest[id.Order])
		}
		newest[id.Order] = max(newest[id.Order], id.Seq)
	}
}

// agreed compares the mark on the paper with what the door says of it: who reads one must not be
// told otherwise by the other.
func (k *killer) agreed() {
	k.Helper()
	for _, sheet := range k.rig.Sheets() {
		p := rig.Read(sheet)
		content, station, ok := strings.Cut(p.ID, "@")
		if !ok {
			continue
		}
		got, err := k.rig.Ticket(k.ctx, content, station)
		if err != nil {
			k.Error(err)
		} else if p.Marked && !got.Marked {
			k.Errorf("%s has paper with POSSIBLE DUPLICATE, and the door says nothing of it", p.ID)
		}
	}
	doubled := `chit_delivery_events_total{event="doubled"}`
	if n := counter(k.ctx, k.T, k.rig, doubled); n != 0 {
		k.Errorf("%v deliveries were doubled by another journal, and there is one journal", n)
	}
	// A hello that speaks of another journal or a lower n than was used makes the broker believe
	// in a lost memory, and mark every ticket from then on.
	log, err := os.ReadFile(k.rig.Broker.Log)
	if err != nil {
		k.Fatal(err)
	}
	if n := bytes.Count(log, []byte("device lost its memory")); n > 0 {
		k.Errorf("the broker believed %d times in a lost memory, and none was lost", n)
	}
}

// orderName finds the order's short name on paper, which is printed largest and first.
var orderName = regexp.MustCompile(`\bk[0-9]+[ab]\b`)

// torso looks at paper that ends before its foot: a cook has it in his hands like any other, so the
// whole ticket that follows must say that it may be a second one.
func (k *killer) torso() {
	k.Helper()
	marked := map[string]int{}
	torsos, joined := map[string]int{}, 0
	for _, sheet := range k.rig.Sheets() {
		p := rig.Read(sheet)
		name := orderName.FindString(p.Text)
		heads := 0
		for line := range strings.Lines(p.Text) {
			if strings.TrimSpace(line) == name {
				heads++
			}
		}
		switch {
		case name == "":
		case heads > 1 && p.Marked:
			joined++ // The piece and the whole hang together.
		case heads > 1:
			k.Errorf("order %s is twice on one paper, and nothing says so:\n%s", name, p.Text)
		case p.Marked:
			marked[name]++
		case p.ID == "":
			torsos[name]++
		}
	}
	total := joined
	for name, n := range torsos {
		total += n
		if marked[name] < n {
			k.Errorf("%d pieces of tickets of order %s, and %d papers of it say POSSIBLE DUPLICATE", n,
				name, marked[name])
		}
	}
	k.Logf("%d pieces of tickets came out", total)
}
