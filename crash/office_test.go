package crash

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"chit/broker/alert"
	"chit/broker/intake"
	"chit/device/wire"
)

// receiver is where the alarms go.
type receiver struct {
	*httptest.Server

	mu sync.Mutex
	// heard are the messages that said of a cause that it began, by cause and then by webhook-id.
	heard map[string]map[string]bool
}

// hear starts a receiver.
func hear(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{heard: map[string]map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var body struct {
			Data alert.Message `json:"data"`
		}
		if err := json.NewDecoder(q.Body).Decode(&body); err != nil {
			t.Errorf("an alarm that is no JSON: %v", err)
			return
		}
		if body.Data.What != "began" {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.heard[body.Data.Cause] == nil {
			r.heard[body.Data.Cause] = map[string]bool{}
		}
		r.heard[body.Data.Cause][q.Header.Get("webhook-id")] = true
	}))
	t.Cleanup(r.Close)
	return r
}

// config is the broker's table for it.
func (r *receiver) config(t *testing.T) string {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	key := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	if err := os.WriteFile(secret, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[[alarms]]\nlevel = 1\nkind = \"webhook\"\nurl = %q\nsecret_file = %q\n"+
		"private = true\n", r.URL, secret)
}

// began counts the messages with ids of their own that a cause began.
func (r *receiver) began(cause string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.heard[cause])
}

// desertedFor is how many deserted stations are needed for each kill at one place, for all places
// that give tickets up together: what is under way at a death is finished after it.
const desertedFor = 60

// deserted is a kitchen of n stations without devices, where everything is too old at once.
func deserted(n int) string {
	text := "[[kitchens]]\nid = \"desert\"\nstale_after = \"1ms\"\nstale = \"ask\"\n"
	for i := range n {
		text += fmt.Sprintf("[[kitchens.stations]]\nid = \"desert%d\"\n", i)
	}
	return text
}

// giveUp lets a ticket become too old where no device is. It is wanted, then it is not; somebody is
// told, says so, and gives it up for good. Every step is repeated until it is answered.
func (k *brokerKiller) giveUp(name string, _ <-chan struct{}) {
	k.mu.Lock()
	station := fmt.Sprintf("desert%d", k.desert)
	k.desert++
	k.mu.Unlock()
	c := order("old-"+name, 1, station, wire.KindNew)
	c.Kitchen = "desert"
	if status, err := k.rig.Post(k.ctx, c); err != nil || status/100 != 2 {
		k.Errorf("posting %s: status %d, %v", c.ID, status, err)
		return
	}
	id, cause := c.ID+"@"+station, "dead/"+station
	for _, answer := range []string{"print", "drop"} {
		if !k.answered("POST", "/v1/stale/answer", http.StatusAccepted, fmt.Sprintf(
			`{"tickets":[%q],"answer":%q,"reason":"too late"}`, id, answer)) {
			return
		}
	}
	if !k.state(c, "dead") {
		return
	}
	err := k.rig.Until(k.ctx, "an alarm for "+cause, func(context.Context) bool {
		return k.told.began(cause) > 0
	})
	if err != nil {
		k.Error(err)
		return
	}
	if !k.answered("POST", "/v1/alarms/"+cause+"/acknowledge", http.StatusOK, `{"reason":"seen"}`) ||
		!k.answered("POST", "/v1/dead-letters/"+id+"/discard", http.StatusOK, `{"reason":"paid back"}`) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.given = append(k.given, c)
}

// outlast gives one ticket up and waits: an alarm is over a minute after its cause, and those of
// the stations before it come due one after the other.
func (k *brokerKiller) outlast(name string, dead <-chan struct{}) {
	k.giveUp(name, dead)
	select {
	case <-dead:
	case <-k.ctx.Done():
	}
}

// answered asks again and again until the door answers so.
func (k *brokerKiller) answered(method, path string, want int, body string) bool {
	var last string
	err := k.rig.Until(k.ctx, path+" to be answered", func(ctx context.Context) bool {
		status, raw, err := k.rig.Call(ctx, method, path, []byte(body))
		last = fmt.Sprintf("status %d, %v: %s", status, err, raw)
		return err == nil && status == want
	})
	if err != nil {
		k.Errorf("%v; the last answer was %s", err, last)
	}
	return err == nil
}

// judgeGiven looks at what was given up, and at the alarms about it: told once, whatever died
// meanwhile, and over.
func (k *brokerKiller) judgeGiven() {
	k.Helper()
	for _, c := range k.given {
		got, err := k.rig.Ticket(k.ctx, c.ID, c.Station)
		if err != nil || got.State != "cancelled" || got.Reason != "discarded" || got.Attempts > 0 {
			k.Errorf("%s is %s (%s) after %d attempts (%v), want cancelled, discarded", c.ID, got.State,
				got.Reason, got.Attempts, err)
		}
		cause := "dead/" + c.Station
		if n := k.told.began(cause); n != 1 {
			k.Errorf("%s: %d messages that it began, want 1", cause, n)
		}
		k.cleared(cause)
	}
}

// cleared waits until the alarm's cause has ended, and looks who has acknowledged it.
func (k *brokerKiller) cleared(cause string) {
	k.Helper()
	var one intake.Alarm
	err := k.rig.Until(k.ctx, cause+" to end", func(ctx context.Context) bool {
		status, raw, err := k.rig.Call(ctx, "GET", "/v1/alarms/"+cause, nil)
		return err == nil && status == http.StatusOK && json.Unmarshal(raw, &one) == nil &&
			(one.State == "clearing" || one.State == "over")
	})
	if err != nil || one.Episode != 1 || one.Acknowledged == nil {
		k.Errorf("%s: %v; episode %d, acknowledged %v, want 1 and by somebody", cause, err, one.Episode,
			one.Acknowledged)
	}
}

// redriveJob makes dead letters and redrives them by a job, which goes on over every death.
func (k *brokerKiller) redriveJob(name string, _ <-chan struct{}) {
	var dead []wire.Content
	for i := range 3 {
		dead = append(dead, order(fmt.Sprintf("dead-%s-%d", name, i), 1, "grill", wire.KindNew))
	}
	k.post(dead...)
	for _, c := range dead {
		if !k.state(c, "dead") {
			return
		}
	}
	const slow = 10 // Redrives per second: the job takes a step for each.
	body := fmt.Sprintf(`{"id":%q,"filter":{"station":"grill"},"per_second":%d,"reason":"again"}`,
		name, slow)
	if !k.answered("POST", "/v1/dead-letters/redrive", http.StatusAccepted, body) {
		return
	}
	var job intake.RedriveJob
	err := k.rig.Until(k.ctx, "job "+name+" to end", func(ctx context.Context) bool {
		status, raw, err := k.rig.Call(ctx, "GET", "/v1/dead-letters/redrive/"+name, nil)
		return err == nil && status == http.StatusOK && json.Unmarshal(raw, &job) == nil &&
			job.State == "done"
	})
	if err != nil || job.Redriven != len(dead) {
		k.Errorf("job %s: %v; it is %s with %d redriven, want %d", name, err, job.State, job.Redriven,
			len(dead))
	}
	for _, c := range dead {
		k.state(c, "settled")
	}
}
