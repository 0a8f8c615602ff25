package usb

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/transport"
	"chit/printer/transport/transporttest"
)

// open is a connection to a printer that is there, in the bubble of a test.
func open(t *testing.T, oneWay bool) (*conn, *transporttest.LP) {
	t.Helper()
	lp := transporttest.NewLP(oneWay)
	node, err := asNode(lp.Open())
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(node, Printer{Node: "/dev/usb/lp0", Port: "1-1"})
	t.Cleanup(func() { c.Close() })
	return c, lp
}

// in runs a test where time passes only when all wait.
func in(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }

// This is why Write waits: whoever writes and closes loses the tail and is told nothing
// (research/appliance.md section 2: 200 000 accepted, 196 608 received).
func TestUsblpThrowsAwayTheTailAtClose(t *testing.T) {
	in(t, func(t *testing.T) {
		lp := transporttest.NewLP(false)
		node, err := lp.Open()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := node.Write(make([]byte, 5000)); n != 5000 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		lp.Unplug()
		if got := lp.Receive(5000); len(got) != 0 {
			t.Errorf("%d bytes arrived: then Write need not wait", len(got))
		}
	})
}

func TestWriteReturnsWhenThePrinterHasTakenTheLastBlock(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		want := bytes.Repeat([]byte("ticket "), 3000) // Three blocks.
		if n, err := c.Write(want); n != len(want) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if left := lp.Underway(); left != 0 {
			t.Errorf("%d bytes are still on their way", left)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := lp.Receive(len(want)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived of %d", len(got), len(want))
		}
	})
}

func TestAPrinterThatTakesNothingIsProddedAndWaitedFor(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		lp.Takes(100)
		done := make(chan error, 1)
		begin := time.Now()
		go func() {
			_, err := c.Write(make([]byte, 20000))
			done <- err
		}()
		time.AfterFunc(10*time.Second, func() { lp.Takes(-1) })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the write took %v", took)
		}
		if prods := lp.Prods(); prods != 6 {
			t.Errorf("prodded %d times in 10 s, want 6: once in 1.5 s", prods)
		}
		if got := lp.Receive(20000); len(got) != 20000 {
			t.Errorf("%d bytes arrived", len(got))
		}
	})
}

func TestADeadlineEndsAStuckWriteAndItsBlockIsCounted(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		lp.Takes(0)
		begin := time.Now()
		if err := c.SetWriteDeadline(begin.Add(4 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Write(make([]byte, 20000))
		if n != 8192 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d, %v, want one block on its way and the deadline", n, err)
		}
		if took := time.Since(begin); took != 4*time.Second {
			t.Errorf("the deadline passed after %v", took)
		}
		// The block is accepted, so Close waits for it.
		time.AfterFunc(time.Second, func() { lp.Takes(-1) })
		if err := c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if got := lp.Receive(8192); len(got) != 8192 {
			t.Errorf("%d bytes arrived of the block", len(got))
		}
	})
}

func TestADeadlineMayBeMovedUnderAWrite(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		lp.Takes(0)
		begin := time.Now()
		time.AfterFunc(700*time.Millisecond, func() {
			if err := c.SetWriteDeadline(time.Now()); err != nil {
				t.Error(err)
			}
		})
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != 700*time.Millisecond {
			t.Errorf("ended after %v", took)
		}
	})
}

func TestCloseTellsOfATailThatWasNotTaken(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		lp.Takes(10)
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, _ := c.Write(make([]byte, 100)); n != 100 {
			t.Fatalf("wrote %d", n)
		}
		begin := time.Now()
		if err := c.Close(); !errors.Is(err, transport.ErrUndelivered) {
			t.Errorf("got %v, want ErrUndelivered", err)
		}
		if took := time.Since(begin); took != DrainMax {
			t.Errorf("Close waited %v, want %v", took, DrainMax)
		}
		if err := c.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
	})
}

func TestCloseEndsAStuckWriteAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		lp.Takes(0)
		done := make(chan error, 1)
		go func() {
			_, err := c.Write(make([]byte, 100))
			done <- err
		}()
		synctest.Wait()
		begin := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := <-done; !errors.Is(err, os.ErrClosed) {
			t.Errorf("the write ended with %v", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// With LPABORT, the write that hits the end of the paper says success, and the next one ENOSPC
// (research/escpos.md 2.10).
func TestUsblpTellsOfThePapersEndOneWriteLate(t *testing.T) {
	in(t, func(t *testing.T) {
		lp := transporttest.NewLP(false)
		node, err := lp.OpenWaiting()
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		if _, err := node.Ioctl(lpAbort, 1); err != nil {
			t.Fatal(err)
		}
		lp.Takes(0)
		lp.Paper(false)
		if n, err := node.Write(make([]byte, 100)); n != 100 || err != nil {
			t.Errorf("the write that hit the end: %d, %v, want success", n, err)
		}
		if n, err := node.Write(make([]byte, 100)); n != 0 || err != syscall.ENOSPC {
			t.Errorf("the next: %d, %v, want ENOSPC", n, err)
		}
		if lp.Underway() != 100 {
			t.Errorf("%d bytes are on their way, want the whole block", lp.Underway())
		}
	})
}

// Row 4 of DESIGN section 5: paper out is not failure.
func TestPaperOutIsWaitedForAndNothingIsLostOrDoubled(t *testing.T) {
	in(t, func(t *testing.T) {
		lp := transporttest.NewLP(false)
		node, err := asNode(lp.OpenWaiting())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := node.Ioctl(lpAbort, 1); err != nil {
			t.Fatal(err)
		}
		c := newConn(node, Printer{})
		defer c.Close()
		lp.Takes(5000) // The end comes in the middle of a block with others behind it.
		lp.Paper(false)
		want := bytes.Repeat([]byte("the roll ends in this ticket, the next one takes the rest"), 400)
		time.AfterFunc(20*time.Second, func() {
			lp.Paper(true)
			lp.Takes(-1)
		})
		for _, part := range [][]byte{want[:60], want[60:20000], want[20000:]} {
			if n, err := c.Write(part); n != len(part) || err != nil {
				t.Fatalf("wrote %d, %v", n, err)
			}
		}
		if got := lp.Receive(len(want)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes came, not the %d sent", len(got), len(want))
		}
	})
}

func TestThePortSaysWhatUsblpSays(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, true)
		for _, want := range []transport.Port{
			{Selected: true}, {Selected: true, PaperEmpty: true},
		} {
			lp.Paper(!want.PaperEmpty)
			if got, err := c.Port(); got != want || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		}
		lp.Unplug()
		if _, err := c.Port(); !errors.Is(err, syscall.ENODEV) {
			t.Errorf("unplugged: %v", err)
		}
	})
}

func TestAnEmptyPacketIsNotTheEnd(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, false)
		for range 300 {
			lp.Say(nil)
		}
		lp.Say([]byte{0x16})
		p := make([]byte, 8)
		if n, err := c.Read(p); n != 1 || err != nil || p[0] != 0x16 {
			t.Errorf("got % x, %v", p[:n], err)
		}
	})
}

// Row 40: a 58 mm printer whose interface is write-only.
func TestAPrinterThatCanSayNothingIsWaitedForAndNotAnEnd(t *testing.T) {
	in(t, func(t *testing.T) {
		c, lp := open(t, true)
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want only the deadline", err)
		}
		if err := c.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("paper")); err != nil || string(lp.Receive(5)) != "paper" {
			t.Errorf("writing: %v", err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
		synctest.Wait()
		lp.Unplug()
		if err := <-ended; !errors.Is(err, syscall.ENODEV) {
			t.Errorf("unplugged: %v", err)
		}
	})
}

func TestAPullInTheMiddleOfABlockIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		for _, size := range []int{100, 8192, 10000} { // Also in the last block.
			c, lp := open(t, false)
			lp.Takes(30)
			done := make(chan error, 1)
			go func() {
				_, err := c.Write(make([]byte, size))
				done <- err
			}()
			time.AfterFunc(time.Second, lp.Unplug)
			err := <-done
			if !errors.Is(err, syscall.ENODEV) && !errors.Is(err, syscall.EIO) {
				t.Errorf("%d bytes: got %v", size, err)
			}
		}
	})
}
