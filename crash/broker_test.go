package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/wire"
	"chit/rig"
)

// brokerKills is the fewest kills at each of the broker's failpoints in a ticket's way to paper,
// officeKills at each of those of people's work with what did not get there.
const (
	brokerKills = 10
	officeKills = 4
)

// TestTheBrokerIsKilledAtEachStep kills the broker at every failpoint that tickets pass, with a
// device that never fails, and then asks of every id that was answered whether it is there, once,
// and has settled.
func TestTheBrokerIsKilledAtEachStep(t *testing.T) {
	t.Parallel()
	k := newBrokerKiller(t, max(brokerKills, *rounds))
	k.walk(func(command string) bool { return !office[command] && !rare[command] })
	k.judge()
	if k.statuses[http.StatusOK] == 0 {
		k.Error("no post was lost after its commit and answered by repetition: the kills prove little")
	}
}

// TestTheBrokerIsKilledAtEachStepOfPeoplesWork does the same to what people do with tickets that
// did not get to paper, and to the alarms that call them.
func TestTheBrokerIsKilledAtEachStepOfPeoplesWork(t *testing.T) {
	t.Parallel()
	k := newBrokerKiller(t, max(officeKills, *rounds))
	k.walk(func(command string) bool { return office[command] })
	k.judge()
}

// newBrokerKiller starts a broker that is killed each times at a place.
func newBrokerKiller(t *testing.T, each int) *brokerKiller {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patienceFor(each))
	t.Cleanup(cancel)
	told := hear(t)
	r := install(ctx, t, rig.Config{Stations: []string{"grill"}, More: told.config(t) +
		deserted(desertedFor*each)})
	k := &brokerKiller{T: t, ctx: ctx, rig: r, actor: play(ctx, t, r, "grill"), told: told,
		each: each, statuses: map[int]int{}}
	k.actor.reply(k.answer)
	return k
}

// walk kills at the failpoints of the chosen commands.
func (k *brokerKiller) walk(chosen func(command string) bool) {
	k.Helper()
	for _, point := range points("broker") {
		command, _, _ := strings.Cut(strings.TrimPrefix(point, "broker."), ".")
		if !chosen(command) {
			continue
		}
		for round := range k.each {
			k.kill(point, round)
		}
	}
}

// rare are the commands that need a day to end or a copy of the store to be put back: they have
// tests of their own, TestTheBrokerIsKilledAtEachStepOfADaysEnd and …OfARestore.
var rare = map[string]bool{"close-day": true, "restore": true}

// office are the commands of people's work and of the alarms.
var office = map[string]bool{
	"redrive-plan": true, "redrive-step": true, "stale-answer": true, "discard": true,
	"alarm-raise": true, "alarm-record": true, "alarm-settle": true, "alarm-acknowledge": true,
	"alarm-clear": true, "alarm-elapse": true,
}

// brokerKiller drives one broker from kill to kill.
type brokerKiller struct {
	*testing.T
	ctx   context.Context
	rig   *rig.Rig
	actor *actor
	each  int
	kills int

	mu     sync.Mutex
	posted []wire.Content
	made   []wire.Content
	// cancelled are those that were cancelled before their time.
	cancelled []wire.Content
	statuses  map[int]int // HTTP status → how often
	// told hears the alarms; given are those that somebody was told of, desert the stations used.
	told   *receiver
	given  []wire.Content
	desert int
}

// drives lead to the points that plain traffic does not pass.
var drives = map[string]func(k *brokerKiller, name string, dead <-chan struct{}){
	"broker.hello":   (*brokerKiller).reconnect,
	"broker.advance": (*brokerKiller).leave,
	"broker.redrive": (*brokerKiller).redrive,
	"broker.made":    (*brokerKiller).make,
	"broker.cancel":  (*brokerKiller).cancel,

	"broker.redrive-plan": (*brokerKiller).redriveJob,
	"broker.redrive-step": (*brokerKiller).redriveJob,

	"broker.stale-answer":      (*brokerKiller).giveUp,
	"broker.discard":           (*brokerKiller).giveUp,
	"broker.alarm-raise":       (*brokerKiller).giveUp,
	"broker.alarm-record":      (*brokerKiller).giveUp,
	"broker.alarm-settle":      (*brokerKiller).giveUp,
	"broker.alarm-acknowledge": (*brokerKiller).giveUp,
	"broker.alarm-clear":       (*brokerKiller).giveUp,
	"broker.alarm-elapse":      (*brokerKiller).outlast,
}

// kill arms the point, does what leads there until the broker is dead, and starts it again. What
// was under way meanwhile goes on over the death until it is answered.
func (k *brokerKiller) kill(point string, round int) {
	k.Helper()
	k.kills++
	drive := (*brokerKiller).traffic
	for prefix, other := range drives {
		if strings.HasPrefix(point, prefix+".") {
			drive = other
		}
	}
	dead := k.rig.Broker.Ended()
	nth := 1 + round%3
	if strings.HasPrefix(point, "broker.alarm-") {
		nth = 1 // Each takes a station of its own.
	}
	arm(k.T, k.rig.Broker, point, nth)
	var driving sync.WaitGroup
	driving.Go(func() {
		for i := 0; !isClosed(dead) && k.ctx.Err() == nil; i++ {
			drive(k, fmt.Sprintf("k%d-%d", k.kills, i), dead)
		}
	})
	die(k.ctx, k.T, k.rig.Broker, point)
	if err := k.rig.Broker.Start(); err != nil {
		k.Fatal(err)
	}
	driving.Wait()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// post posts all at once, each until it is answered.
func (k *brokerKiller) post(contents ...wire.Content) {
	var posts sync.WaitGroup
	for _, c := range contents {
		posts.Go(func() {
			status, err := k.rig.Post(k.ctx, c)
			if err != nil {
				k.Errorf("posting %s: %v", c.ID, err)
				return
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			k.statuses[status]++
			k.posted = append(k.posted, c)
		})
	}
	posts.Wait()
}

// traffic is several tickets at once.
func (k *brokerKiller) traffic(name string, _ <-chan struct{}) {
	k.post(inFlight(name, "grill", "grill")...)
}

// reconnect makes the device say hello.
func (k *brokerKiller) reconnect(_ string, dead <-chan struct{}) {
	k.rig.Cable.Cut()
	k.rig.Cable.Mend()
	select {
	case <-k.actor.ups:
	case <-dead:
	case <-k.ctx.Done():
	}
}

// leave hands a ticket to a device that says nothing and is gone.
func (k *brokerKiller) leave(name string, dead <-chan struct{}) {
	k.actor.mute()
	k.post(order(name, 1, "grill", wire.KindNew))
	k.actor.handedOrDead(name+"/1@grill", dead)
	k.rig.Cable.Cut()
	k.actor.reply(k.answer)
	k.rig.Cable.Mend()
}

// redrive makes a dead letter and goes on with it.
func (k *brokerKiller) redrive(name string, _ <-chan struct{}) {
	c := order("dead-"+name, 1, "grill", wire.KindNew)
	k.post(c)
	if !k.state(c, "dead") {
		return
	}
	err := k.rig.Until(k.ctx, "a redrive to be answered", func(ctx context.Context) bool {
		status, _, err := k.rig.Call(ctx, "POST", "/v1/dead-letters/"+c.ID+"@grill/redrive", nil)
		return err == nil && (status == http.StatusAccepted || status == http.StatusConflict)
	})
	if err != nil {
		k.Error(err)
	}
}

// cancel posts a ticket for later and cancels it before its time, again and again until that is
// answered: it never comes out.
func (k *brokerKiller) cancel(name string, _ <-chan struct{}) {
	c := order("gone-"+name, 1, "grill", wire.KindNew)
	c.ReleaseAt = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	if _, err := k.rig.Post(k.ctx, c); err != nil {
		k.Errorf("posting %s: %v", c.ID, err)
		return
	}
	err := k.rig.Until(k.ctx, "a cancellation to be answered", func(ctx context.Context) bool {
		status, raw, err := k.rig.Call(ctx, "POST", "/v1/tickets/"+c.ID+"/cancel",
			[]byte(`{"reason":"guest left"}`))
		if err == nil && status == http.StatusOK && !strings.Contains(string(raw), `"cancelled"`) {
			k.Errorf("%s is answered with %s", c.ID, raw)
		}
		return err == nil && status == http.StatusOK
	})
	if err != nil {
		k.Error(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cancelled = append(k.cancelled, c)
}

// state waits until the ticket is there.
func (k *brokerKiller) state(c wire.Content, want string) bool {
	err := k.rig.Until(k.ctx, c.ID+" to be "+want, func(ctx context.Context) bool {
		got, err := k.rig.Ticket(ctx, c.ID, c.Station)
		return err == nil && got.State == want
	})
	if err != nil {
		k.Error(err)
	}
	return err == nil
}

// make prints a ticket at the device that the broker has not seen.
func (k *brokerKiller) make(name string, _ <-chan struct{}) {
	c := order(name, 1, "grill", wire.KindNew)
	k.actor.make(c)
	k.mu.Lock()
	k.made = append(k.made, c)
	k.mu.Unlock()
	// A report that was lost is said again after the next hello; a living broker needs no
	// repetition.
	err := k.rig.Until(k.ctx, "the made ticket to be known", func(ctx context.Context) bool {
		status, _, err := k.rig.Call(ctx, "GET", "/v1/tickets/"+c.ID+"/d1", nil)
		return err == nil && status == http.StatusOK
	})
	if err != nil {
		k.Error(err)
	}
}

// answer refuses what is named dead- at its first attempt and prints everything else.
func (k *brokerKiller) answer(ticket wire.Ticket) []wire.Ack {
	if !strings.HasPrefix(ticket.ID, "dead-") || ticket.Attempt > 1 {
		return k.actor.print(ticket)
	}
	ack := k.actor.ack(ticket, wire.OutcomeRefused, wire.EvidenceNone)
	ack.Permanent, ack.Reason = true, "poison"
	return []wire.Ack{ack}
}

// judge asks for every id after the last kill.
func (k *brokerKiller) judge() {
	k.Helper()
	for _, c := range k.posted {
		got, err := k.rig.Over(k.ctx, c.ID, c.Station)
		if err != nil {
			k.Fatal(err)
		}
		if got.State != "settled" {
			k.Errorf("%s is %s (%s), want settled", c.ID, got.State, got.Reason)
		}
		data, err := wire.CanonicalContent(c)
		if err != nil || got.Digest != wire.Digest(data) {
			k.Errorf("%s has digest %s, posted were other bytes (%v)", c.ID, got.Digest, err)
		}
		// Without a station the door refuses to choose between several.
		status, _, err := k.rig.Call(k.ctx, "GET", "/v1/tickets/"+c.ID, nil)
		if err != nil || status != http.StatusOK {
			k.Errorf("%s is not there exactly once: status %d, %v", c.ID, status, err)
		}
	}
	for _, c := range k.cancelled {
		got, err := k.rig.Ticket(k.ctx, c.ID, c.Station)
		if err != nil || got.State != "cancelled" || got.Attempts > 0 {
			k.Errorf("%s is %s after %d attempts (%v), want cancelled", c.ID, got.State, got.Attempts,
				err)
		}
	}
	k.judgeGiven()
	for _, c := range k.made {
		if err := k.settledMade(c); err != nil {
			k.Error(err)
		}
	}
	if n := k.statuses[http.StatusOK] + k.statuses[http.StatusAccepted]; n != len(k.posted) {
		k.Errorf("%d posts and these answers: %v", len(k.posted), k.statuses)
	}
	k.actor.judge(k.posted, k.made)
	k.Logf("%d kills, %d tickets, answers %v, %d made at the device, %d given up", k.kills,
		len(k.posted), k.statuses, len(k.made), len(k.given))
}

func (k *brokerKiller) settledMade(c wire.Content) error {
	return k.rig.Until(k.ctx, "made "+c.ID+" to settle", func(ctx context.Context) bool {
		status, raw, err := k.rig.Call(ctx, "GET", "/v1/tickets/"+c.ID+"/d1", nil)
		return err == nil && status == http.StatusOK && strings.Contains(string(raw), `"settled"`)
	})
}

// handedOrDead waits until the ticket is handed over or the broker is dead.
func (a *actor) handedOrDead(id string, dead <-chan struct{}) {
	for {
		a.mu.Lock()
		for _, ticket := range a.handed {
			if ticket.ID == id {
				a.mu.Unlock()
				return
			}
		}
		news := a.news
		a.mu.Unlock()
		select {
		case <-news:
		case <-dead:
			return
		}
	}
}

// judge compares what was handed over with what was posted. What was made here is handed over only
// where the broker died between its report and its ack.
func (a *actor) judge(posted, made []wire.Content) {
	a.t.Helper()
	want := map[string]string{}
	add := func(id string, c wire.Content) {
		data, err := wire.CanonicalContent(c)
		if err != nil {
			a.t.Error(errors.Join(errors.New(c.ID), err))
		}
		want[id] = wire.Digest(data)
	}
	for _, c := range posted {
		add(c.ID+"@"+c.Station, c)
	}
	for _, c := range made {
		add(c.ID+"/d1@"+c.Station, c)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := map[string]int{}
	for _, ticket := range a.handed {
		if want[ticket.ID] != wire.Digest(ticket.Data) {
			a.t.Errorf("%s was handed over with other bytes than were posted", ticket.ID)
		}
		if ticket.Attempt <= seen[ticket.ID] {
			a.t.Errorf("%s was handed over as attempt %d after %d", ticket.ID, ticket.Attempt,
				seen[ticket.ID])
		}
		seen[ticket.ID] = ticket.Attempt
	}
	for _, c := range posted {
		if id := c.ID + "@" + c.Station; seen[id] == 0 {
			a.t.Errorf("%s was accepted and never handed over", id)
		}
	}
}
