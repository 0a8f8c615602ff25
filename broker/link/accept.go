package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"chit/device/wire"
)

// listenerName is what mochi calls our connections; it has no listener of its own.
const listenerName = "chit"

// accept takes connections at no more than AcceptRate. Past it the listener's own queue fills,
// which to a device looks like a slow network: cheaper than a refusal after TLS.
func (e *Embedded) accept(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { e.conf.Listener.Close() })()
	defer e.conf.Listener.Close()
	rate := pace{rate: e.conf.AcceptRate}
	pause := time.Duration(0)
	for {
		conn, err := e.conf.Listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("link: listener closed: %w", err)
		case err != nil:
			// Out of file descriptors, most likely: the connections that we have go on.
			pause = min(time.Second, max(5*time.Millisecond, 2*pause))
			e.conf.Log.Warn("accepting a connection", "error", err, "retry_in", pause)
			wait(ctx, pause)
			continue
		}
		pause = 0
		place, ok := e.begin(conn)
		if !ok {
			e.counters.handshakeFailed.Add(1)
			conn.Close()
			continue
		}
		wait(ctx, rate.take(time.Now()))
		select {
		case e.connects <- struct{}{}:
		case <-ctx.Done():
			conn.Close()
			return nil
		}
		if !e.enter(conn) {
			<-e.connects
			return nil
		}
		go func() {
			defer e.leave(conn)
			e.serveTLS(conn, place)
		}()
	}
}

// begin counts a connection to its address until the place it gives is freed. One address may have
// three quarters of the places, so that nobody who opens connections and says nothing keeps all
// others out; more are closed at once.
func (e *Embedded) begin(conn net.Conn) (address netip.Addr, ok bool) {
	if tcp, is := conn.RemoteAddr().(*net.TCPAddr); is {
		address = tcp.AddrPort().Addr().Unmap().WithZone("")
		if address.Is6() {
			prefix, _ := address.Prefix(64) // One machine has all of that; 64 is never too long.
			address = prefix.Addr()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.beginning[address] >= max(1, e.conf.ConnectsMax*3/4) {
		return address, false
	}
	e.beginning[address]++
	return address, true
}

// begun frees what begin counted.
func (e *Embedded) begun(address netip.Addr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.beginning[address]--; e.beginning[address] <= 0 {
		delete(e.beginning, address)
	}
}

// enter notes an open connection, or closes it where the engine has ended.
func (e *Embedded) enter(conn net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || !e.running.Load() {
		conn.Close()
		return false
	}
	e.open[conn] = struct{}{}
	e.wg.Add(1)
	return true
}

func (e *Embedded) leave(conn net.Conn) {
	conn.Close()
	e.mu.Lock()
	delete(e.open, conn)
	e.mu.Unlock()
	e.wg.Done()
}

// serveTLS does the handshake and then serves the connection. It holds a place in e.connects until
// CONNECT is judged.
func (e *Embedded) serveTLS(raw net.Conn, place netip.Addr) {
	placed := true
	free := func() {
		if placed {
			placed = false
			e.begun(place)
			<-e.connects
		}
	}
	defer free()
	deadline := time.Now().Add(e.conf.ConnectTimeout)
	_ = raw.SetDeadline(deadline)
	conn := tls.Server(raw, e.conf.TLS)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		e.counters.handshakeFailed.Add(1)
		e.conf.Log.Debug("TLS handshake", "remote", raw.RemoteAddr().String(), "error", err)
		return
	}
	state := conn.ConnectionState()
	if len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		e.counters.refused.Add(1)
		return
	}
	e.serve(conn, state.PeerCertificates[0], free)
}

// ServeConn serves one connection that was accepted elsewhere, such as MQTT over WebSocket on the
// HTTP server's port, until it ends. cert is its verified client certificate. Errors:
// ErrNotRunning.
func (e *Embedded) ServeConn(conn net.Conn, cert *x509.Certificate) error {
	if !e.enter(conn) {
		return ErrNotRunning
	}
	defer e.leave(conn)
	_ = conn.SetDeadline(time.Now().Add(e.conf.ConnectTimeout))
	e.serve(conn, cert, func() {})
	return nil
}

// serve reads the start of CONNECT, asks the gate and hands the connection to mochi.
func (e *Embedded) serve(conn net.Conn, cert *x509.Certificate, judged func()) {
	prefix, err := readConnect(conn)
	if err != nil {
		if errors.Is(err, errLevel) {
			refuse(conn, connackLevel) // [MQTT-3.1.2-2]
		}
		e.counters.handshakeFailed.Add(1)
		e.conf.Log.Debug("reading CONNECT", "remote", conn.RemoteAddr().String(), "error", err)
		return
	}
	g, err := e.admit(cert)
	if err != nil {
		refuse(conn, connackNotAuthorized)
		e.refused(g, conn.RemoteAddr(), err)
		return
	}
	c := newDeviceConn(conn, g, prefix, e.conf.WriteTimeout)
	c.slow = func() { e.counters.slow.Add(1) }
	c.judged = judged
	c.again = func() error {
		now, err := e.admit(cert)
		if err == nil && now != g {
			err = errors.New("the certificate is another device's by now")
		}
		return err
	}
	e.establish(c)
	if !c.asked {
		e.counters.handshakeFailed.Add(1) // mochi found CONNECT malformed.
	}
	c.Close()
	c.sent.Wait()
	e.giveSlot(c)
	close(c.done)
}

// admit asks the gate and checks its answer against the certificate.
func (e *Embedded) admit(cert *x509.Certificate) (grant, error) {
	tenant, device, err := e.conf.Gate.Admit(cert)
	g := grant{tenant: tenant, device: device}
	if err != nil {
		return g, err
	}
	if err := wire.CheckID(tenant); err != nil {
		return g, fmt.Errorf("tenant: %w", err)
	}
	if err := wire.CheckID(device); err != nil {
		return g, fmt.Errorf("device: %w", err)
	}
	if cert.Subject.CommonName != device {
		return g, errors.New("common name of the certificate is not the device")
	}
	return g, nil
}

// refused counts and logs a refusal; ids only.
func (e *Embedded) refused(g grant, remote net.Addr, err error) {
	e.counters.refused.Add(1)
	e.conf.Log.Warn("device refused", "tenant", g.tenant, "device", g.device,
		"remote", remote.String(), "error", err)
}

// establish gives the connection to mochi until it ends. A panic there, such as its decoder's on
// foreign bytes, costs this connection and no more.
func (e *Embedded) establish(c *deviceConn) {
	defer func() {
		if r := recover(); r != nil {
			e.counters.panics.Add(1)
			e.conf.Log.Error("engine panicked on a connection", "device", c.grant.device,
				"panic", fmt.Sprint(r))
			e.sweep(c)
		}
	}()
	// The error says how the connection ended; mochi logs it and the will tells the rest.
	_ = e.server.EstablishConnection(listenerName, c)
}

// sweep does what mochi leaves out after a panic: it forgets the client and publishes its will.
func (e *Embedded) sweep(c *deviceConn) {
	cl, ok := e.server.Clients.Get(c.grant.device)
	if !ok || deviceOf(cl) != c {
		return
	}
	cl.ClearInflights()
	e.server.UnsubscribeClient(cl)
	e.server.Clients.Delete(cl.ID)
	if will := cl.Properties.Will; will.Flag != 0 {
		if err := e.server.Publish(will.TopicName, will.Payload, will.Retain, 1); err != nil {
			e.conf.Log.Warn("publishing a will", "device", c.grant.device, "error", err)
		}
	}
}

// takeSlot makes c the device's one connection. An older one is closed and waited for.
func (e *Embedded) takeSlot(c *deviceConn) error {
	defer c.judged()
	limit := time.NewTimer(e.conf.ConnectTimeout)
	defer limit.Stop()
	for {
		e.mu.Lock()
		old := e.slots[c.grant.device]
		if old == nil {
			e.slots[c.grant.device] = c
			e.mu.Unlock()
			return nil
		}
		e.mu.Unlock()
		old.over.Do(func() { e.counters.takenOver.Add(1) })
		old.Close()
		select {
		case <-old.done:
		case <-e.stop:
			return ErrNotRunning
		case <-limit.C:
			return errBusy
		}
	}
}

// giveSlot frees the device's place where c holds it.
func (e *Embedded) giveSlot(c *deviceConn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.slots[c.grant.device] == c {
		delete(e.slots, c.grant.device)
	}
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
