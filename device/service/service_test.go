package service

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/device/wire"
	"chit/metrics"
	"chit/printer/virtual"
)

func TestTicketBecomesPaperAndTwoAnswersBeforeItsPuback(t *testing.T) {
	k := newKitchen(t)
	k.sends("a1", 1)
	k.phone.untilSaid("stored a1/1@grill", "puback", "printed a1/1@grill")
	if text := k.papers(1)[0]; !strings.Contains(text, "Käsespätzle") {
		t.Errorf("paper:\n%s", text)
	}
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	// The first puback is the welcome's.
	story := k.phone.story[slices.Index(k.phone.story, "stored a1/1@grill"):]
	if story[1] != "puback" {
		t.Errorf("story %q, want the answer and then the PUBACK", k.phone.story)
	}
	last := k.phone.acks[len(k.phone.acks)-1]
	if last.Evidence != wire.EvidenceConfirmed || last.Device != "dev-1" || last.Marked {
		t.Errorf("last answer %+v", last)
	}
}

func TestSameTicketAThousandTimesIsOnePaper(t *testing.T) {
	k := newKitchen(t)
	for i := range 1000 {
		k.sends("a1", 1+i%3)
	}
	k.phone.until("a thousand PUBACKs", func() bool {
		n := 0
		for _, word := range k.phone.story {
			if word == "puback" {
				n++
			}
		}
		return n == 1001 // And the welcome's.
	})
	k.phone.untilSaid("printed a1/1@grill")
	k.sends("a2", 1)
	k.phone.untilSaid("printed a2/1@grill")
	k.papers(2)
}

func TestForgedAlteredAndRetainedMessagesAreCountedAndPrintNothing(t *testing.T) {
	k := newKitchen(t)
	good, err := k.ticket("a1", 1)
	if err != nil {
		t.Fatal(err)
	}
	stranger, _ := newSigner(t)
	own := k.phone.broker
	k.phone.broker = stranger
	forged, err := k.ticket("a1", 1)
	k.phone.broker = own
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(good)
	altered[len(altered)/2] ^= 1
	k.deliver(wire.LeafTicket, forged, nil)
	k.deliver(wire.LeafTicket, altered, nil)
	k.deliver(wire.LeafTicket, []byte("nonsense"), nil)
	k.deliver(wire.LeafRecall, good, nil)
	k.phone.handler.deliver(wire.LeafTicket, good, true, func() { k.phone.tell("puback", nil) })
	k.sends("a2", 1)
	k.phone.untilSaid("printed a2/1@grill")
	k.papers(1)
	counts := k.service.counters.flat()
	if counts["bad_messages.kid"] != 1 || counts["bad_messages.malformed"] < 1 ||
		counts["bad_messages.typ"] != 1 || counts["bad_messages.other"] != 1 {
		t.Errorf("counters %v", counts)
	}
}

func TestFailedCommitRefusesForNowAndTheDaemonGoesOn(t *testing.T) {
	k := newKitchen(t)
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	k.fail.Store(true)
	k.sends("a2", 1)
	k.phone.untilSaid("refused a2/1@grill")
	k.phone.mu.Lock()
	last := k.phone.acks[len(k.phone.acks)-1]
	k.phone.mu.Unlock()
	if last.Permanent || last.Reason != "storage" {
		t.Errorf("answer %+v, want a temporary refusal: storage", last)
	}
	if health := ask(k.service); health.Code != http.StatusServiceUnavailable ||
		!strings.Contains(health.Body.String(), "storage") {
		t.Errorf("health %d %s", health.Code, health.Body)
	}
	if text := strings.Join(strings.Fields(k.papers(2)[1]), " "); !strings.Contains(text,
		"THIS PRINTER CANNOT REMEMBER ORDERS") {
		t.Errorf("slip:\n%s", text)
	}
	k.fail.Store(false)
	k.phone.until("a greeting after the reopening", func() bool { return k.phone.greets > 0 })
	k.sends("a2", 2)
	k.phone.untilSaid("printed a2/1@grill")
	k.papers(3)
	if health := ask(k.service); health.Code != http.StatusOK {
		t.Errorf("health %d %s", health.Code, health.Body)
	}
}

func ask(s *Service) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.healthz(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	return w
}

func TestDamagedJournalIsLeftAloneAndTicketsAreRefused(t *testing.T) {
	k := newKitchen(t)
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	k.stop()
	path := k.conf.JournalPath()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, good[:5000], 0o600); err != nil {
		t.Fatal(err)
	}
	k.start()
	k.sends("a2", 1)
	k.phone.untilSaid("refused a2/1@grill")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, good[:5000]) {
		t.Errorf("the damaged file was changed (%v)", err)
	}
	t.Logf("# a person puts the file right, and the daemon finds it")
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	k.phone.until("a greeting after the reopening", func() bool { return k.phone.greets > 0 })
	k.sends("a1", 2)
	k.phone.untilSaid("duplicate a1/1@grill")
}

func TestRestartRemembersAndHeldTicketPrintsOnce(t *testing.T) {
	k := newKitchen(t)
	if err := k.printer.Raise(virtual.Fault{Name: virtual.PaperOut}); err != nil {
		t.Fatal(err)
	}
	k.phone.until("the printer to be held", func() bool {
		return len(k.phone.status.Printers) == 1 && k.phone.status.Printers[0].Held == "paper_out"
	})
	k.sends("a1", 1)
	k.phone.untilSaid("held a1/1@grill")
	k.stop()
	k.start()
	if err := k.printer.Clear(virtual.PaperOut); err != nil {
		t.Fatal(err)
	}
	k.phone.untilSaid("printed a1/1@grill")
	if text := k.papers(1)[0]; strings.Contains(text, "DUPLICATE") {
		t.Errorf("paper is marked:\n%s", text)
	}
}

func TestMetricsShowTheCounters(t *testing.T) {
	k := newKitchen(t)
	k.sends("a1", 1)
	k.phone.untilSaid("printed a1/1@grill")
	found := map[string]float64{}
	k.service.measure(func(_ metrics.Kind, name, _ string, value float64, labels ...string) {
		found[name+strings.Join(labels, ":")] = value
	})
	if found["chitd_tickets_total"] != 1 || found["chitd_printer_readyprinter:main"] != 1 ||
		found["chitd_answers_by_label_totallabel:printed"] != 1 {
		t.Errorf("metrics %v", found)
	}
}

func TestConfigNamesTheFieldThatCannotBe(t *testing.T) {
	good := func() Config {
		return Config{State: "/x", Printers: []Printer{{
			Name: "main", URL: "tcp://127.0.0.1:9100", Profile: "safe-80",
		}}, RetryFirst: time.Second, RetryMax: time.Second}
	}
	second := func(first, second string) func(*Config) {
		return func(c *Config) {
			c.Printers[0].URL = first
			c.Printers = append(c.Printers, Printer{Name: "bar", URL: second, Profile: "safe-80"})
		}
	}
	for _, tt := range []struct {
		name, want string
		change     func(*Config)
	}{
		{"no printer", "printers: is empty", func(c *Config) { c.Printers = nil }},
		{"no state", "state: is empty", func(c *Config) { c.State = "" }},
		{"bad url", "printers[0].url:", func(c *Config) { c.Printers[0].URL = "ftp://x" }},
		{"usb", "four hex digits", func(c *Config) { c.Printers[0].URL = "usb:04b8" }},
		{"same usb printer", "printers[0] has this one", second("usb:04B8:0202", "usb:04b8:0202")},
		{"same port", "printers[0] has this one", second("serial:///dev/ttyS0",
			"serial:///dev/ttyS0?baud=19200")},
		{"bad profile", "printers[0].profile:", func(c *Config) { c.Printers[0].Profile = "x" }},
		{"bad name", "printers[0].name:", func(c *Config) { c.Printers[0].Name = "a b" }},
		{"same name", "is there twice", func(c *Config) {
			c.Printers = append(c.Printers, c.Printers[0])
		}},
		{"same url", "printers[1].url: found", second("tcp://grill:9100", "tcp://grill:9100")},
		{"same url in another spelling", "printers[0] has this one",
			second("tcp://Grill", "tcp://grill:9100/")},
		{"same file", "printers[1].url:", second("file:///dev/usb/lp0", "file://localhost/dev/usb/lp0")},
		{"no first pause", "retry_first: found 0s, expected more", func(c *Config) { c.RetryFirst = 0 }},
		{"negative pause", "retry_max: found -1s", func(c *Config) { c.RetryMax = -time.Second }},
		{"first pause over the longest", "retry_first: found 1m0s, expected at most retry_max",
			func(c *Config) { c.RetryFirst = time.Minute }},
		{"virtual in a program without one", "no virtual printer",
			func(c *Config) { c.Printers[0].URL = "virtual:" }},
		{"qos", "ack_qos: found 2", func(c *Config) { c.AckQoS = 2 }},
		{"zone", "zone: found", func(c *Config) { c.Zone = "Mars/Olympus" }},
		{"open door", "listen: found", func(c *Config) { c.Listen = "0.0.0.0:9200" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := good()
			tt.change(&c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	for _, change := range []func(*Config){
		func(*Config) {}, second("file:///dev/null", "file:///dev/null"),
		second("tcp://grill:9100", "tcp://grill:9101"), second("file:///a", "file:///A"),
	} {
		c := good()
		change(&c)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}
