package usb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/session"
	"chit/printer/transport/transporttest"
	"chit/printer/transport/usb"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// kitchen is a session on a virtual printer behind usblp.
func kitchen(t *testing.T, oneWay bool) (*serve.Server, *session.Session) {
	t.Helper()
	printer, err := serve.Start(t.Context(), serve.Config{
		Printer: virtual.ConfigFor(profile.Safe80()), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	cable, err := printer.Dialer().Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lp := transporttest.NewLP(oneWay)
	detach := lp.Attach(cable)
	tree := transporttest.NewTree(t)
	device := transporttest.Device{Port: "1-1", Vendor: "04b8", Product: "0e15", Protocol: "02"}
	if oneWay {
		device.Protocol = "01"
	}
	tree.Plug(device, "lp0")
	ready := make(chan struct{}, 1)
	s := session.New(session.Config{
		Dialer: usb.New(usb.Match{Vendor: "04b8", Product: "0e15"}, usb.Config{
			Roots: usb.Roots{Sys: tree.Root + "/sys", Dev: tree.Root + "/dev"},
			Open:  func(string) (usb.Node, error) { return lp.Open() },
		}),
		Changed: func(state session.State) {
			if state.Ready() {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		},
		Timing: session.Timing{Hello: 300 * time.Millisecond, Answer: 500 * time.Millisecond},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		detach()
		printer.Close()
	})
	select {
	case <-ready:
	case <-time.After(transporttest.Patience):
		t.Fatalf("not ready: %+v", s.State())
	}
	return printer, s
}

func TestATicketComesOutOnUSBWithTheEvidenceThatTheCableAllows(t *testing.T) {
	for _, c := range []struct {
		name   string
		oneWay bool
		want   session.Evidence
	}{
		{"with answers", false, session.Confirmed},
		{"write-only", true, session.Sent},
	} {
		t.Run(c.name, func(t *testing.T) {
			printer, s := kitchen(t, c.oneWay)
			var d document.Document
			for range 200 { // More than the driver takes at once.
				d.Add(document.Line{Spans: []document.Span{{Text: "2 x a margherita without basil"}}})
			}
			paper, err := escpos.Encode(d, profile.Safe80())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), transporttest.Patience)
			defer cancel()
			result := s.Print(ctx, session.Job{Paper: paper, Token: escpos.TokenOf(7)})
			if result.Err != nil || result.Evidence != c.want {
				t.Fatalf("got %+v, want %v", result, c.want)
			}
			err = printer.Wait(ctx, func(all []virtual.Sheet) bool { return len(all) == 1 })
			if err != nil || len(printer.Sheets()[0].Lines) != 200 {
				t.Errorf("%d sheets, %v", len(printer.Sheets()), err)
			}
		})
	}
}
