package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"chit/device/service"
)

var (
	// errNoDoor says that the configuration gives the daemon no door to press at.
	errNoDoor = errors.New(`the daemon has no door: "listen" is empty`)
	// errPress says that no running daemon took the press.
	errPress = errors.New("nobody took the press")
)

// pressMax is longer than the daemon itself waits.
const pressMax = 15 * time.Second

// press stands for the button of the daemon that runs with this configuration; long for holding it.
func press(ctx context.Context, conf service.Config, long bool, out io.Writer) error {
	if long {
		return pressAt[service.Wanted](ctx, conf, "/print-stale", out)
	}
	return pressAt[service.Seen](ctx, conf, "/seen", out)
}

// pressAt presses at a path of the daemon's door and tells what that did.
func pressAt[T fmt.Stringer](ctx context.Context, conf service.Config, path string,
	out io.Writer) error {
	if conf.Listen == "" {
		return errNoDoor
	}
	ctx, cancel := context.WithTimeout(ctx, pressMax)
	defer cancel()
	client, url := door(conf.Listen)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, nil)
	if err != nil {
		return fmt.Errorf("pressing: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", errPress, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("%w: %w", errPress, err)
	}
	var answer T
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s: %s", errPress, response.Status, strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("pressing: reading the answer: %w", err)
	}
	_, err = fmt.Fprintln(out, answer)
	return err
}

// door is how to reach a daemon's own address.
func door(listen string) (*http.Client, string) {
	path, local := strings.CutPrefix(listen, "unix:")
	if !local {
		return &http.Client{}, "http://" + listen
	}
	var dialer net.Dialer
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		},
	}}, "http://chitd"
}
