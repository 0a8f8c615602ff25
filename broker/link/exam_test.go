package link_test

import (
	"context"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"chit/broker/link"
	"chit/broker/link/linktest"
)

// anyone admits every device of the exam's tenant.
type anyone struct{}

func (anyone) Admit(cert *x509.Certificate) (tenant, device string, err error) {
	return linktest.Tenant, cert.Subject.CommonName, nil
}

// run starts an engine and stops it at the end of the test.
func run(tb testing.TB, e link.Engine) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := within(tb, done, "Run to return"); err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
	select {
	case <-e.Ready():
	case err := <-done:
		tb.Fatalf("Run ended: %v", err)
	case <-time.After(30 * time.Second):
		tb.Fatal("engine is not ready")
	}
}

func within[T any](tb testing.TB, c <-chan T, what string) T {
	tb.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		tb.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

func embedded(tb testing.TB, change func(*link.EmbeddedConfig)) (linktest.Rig, *link.Embedded) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	rig := linktest.Rig{
		Hub: &linktest.Hub{}, Address: listener.Addr().String(),
		Authority: linktest.NewAuthority(tb), Refuses: true,
	}
	conf := link.EmbeddedConfig{Listener: listener, TLS: rig.Authority.Server(), Gate: anyone{}}
	if change != nil {
		change(&conf)
	}
	e, err := link.NewEmbedded(conf, rig.Hub)
	if err != nil {
		tb.Fatal(err)
	}
	run(tb, e)
	rig.Engine = e
	return rig, e
}

func outside(tb testing.TB) (linktest.Rig, *link.Outside) {
	tb.Helper()
	rig := linktest.Rig{Hub: &linktest.Hub{}, Authority: linktest.NewAuthority(tb)}
	rig.Address = linktest.StartMosquitto(tb, rig.Authority)
	e, err := link.NewOutside(link.OutsideConfig{
		Address: "tls://" + rig.Address, TLS: rig.Authority.Client(linktest.BrokerName),
		Replica: "replica",
	}, rig.Hub)
	if err != nil {
		tb.Fatal(err)
	}
	run(tb, e)
	rig.Engine = e
	return rig, e
}

func TestEmbeddedPassesTheExam(t *testing.T) {
	t.Parallel()
	rig, _ := embedded(t, nil)
	linktest.Exam(t, rig)
}

func TestMosquittoPassesTheExam(t *testing.T) {
	t.Parallel()
	rig, _ := outside(t)
	linktest.Exam(t, rig)
}
