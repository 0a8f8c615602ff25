package serve

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
)

func TestTheCommandSaysWhereItListensAndShowsEachSheet(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	screen, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, Flags{Listen: "127.0.0.1:0", Out: t.TempDir()}, out, nil)
		out.Close()
		ended <- err
	}()
	text := bufio.NewScanner(screen)
	if !text.Scan() {
		t.Fatal("nothing was said")
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(text.Text(), "printer "), ",")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	write(t, c, "soup\n"+cut)
	c.Close()
	for _, want := range []string{"--- sheet 0001, 15 mm, partial", "soup"} {
		if !text.Scan() || text.Text() != want {
			t.Errorf("the screen says %q, want %q", text.Text(), want)
		}
	}
	cancel()
	if text.Scan() {
		t.Errorf("and then %q", text.Text())
	}
	if err := <-ended; err != nil {
		t.Errorf("the command ended with %v", err)
	}
}
