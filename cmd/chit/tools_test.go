package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bounds of the scripts' waiting. Programs are looked at from outside, so it is by asking again.
const (
	scriptWait = 30 * time.Second
	askEvery   = 30 * time.Millisecond
)

// waitFor asks until done says so.
func waitFor(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, scriptWait)
	defer cancel()
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// door is "door [-data DIR | -url URL] [-token TOKEN] [-want STATUS] METHOD PATH [FILE]": one
// request, as curl would make it. The answer's body is printed; another status is an error.
func door(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("door", flag.ContinueOnError)
	data := flags.String("data", "", "")
	url := flags.String("url", "", "")
	token := flags.String("token", "", "")
	want := flags.Int("want", 200, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data != "" {
		raw, err := os.ReadFile(filepath.Join(*data, "token"))
		if err != nil {
			return err
		}
		if *token == "" {
			*token = strings.TrimSpace(string(raw))
		}
		if *url, err = writtenAddress(filepath.Join(*data, "addresses.json")); err != nil {
			return err
		}
	}
	var body io.Reader
	if flags.NArg() > 2 {
		raw, err := os.ReadFile(flags.Arg(2))
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, flags.Arg(0), *url+flags.Arg(1), body)
	if err != nil {
		return err
	}
	if *token != "" && *token != "none" {
		request.Header.Set("Authorization", "Bearer "+*token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return err
	}
	if response.StatusCode != *want {
		return fmt.Errorf("status %d, want %d", response.StatusCode, *want)
	}
	return nil
}

// ready is "ready DIR" or "ready URL": it waits until the door says that it is ready.
func ready(ctx context.Context, args []string) error {
	return waitFor(ctx, func() (bool, error) {
		at := args[0]
		if !strings.HasPrefix(at, "http") {
			var err error
			if at, err = writtenAddress(filepath.Join(at, "addresses.json")); err != nil {
				return false, err
			}
		}
		response, err := http.Get(at + "/readyz")
		if err != nil {
			return false, err
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

// until is "until REGEXP PROGRAM ARGS...": it runs the program until its output matches.
func until(ctx context.Context, args []string) error {
	pattern, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	var out []byte
	err = waitFor(ctx, func() (bool, error) {
		var err error
		out, err = exec.CommandContext(ctx, args[1], args[2:]...).CombinedOutput()
		return err == nil && pattern.Match(out), err
	})
	_, _ = os.Stdout.Write(out)
	return err
}

// exits is "exits CODE PROGRAM ARGS...": the program must end with that very code.
func exits(ctx context.Context, args []string) error {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != want {
		return fmt.Errorf("exit code %d, want %d (%v)", code, want, err)
	}
	return nil
}

// paper is "paper DIR COUNT": exactly so many sheets must be there, the last of which may still
// be on its way to the disk; their text is printed.
func paper(ctx context.Context, args []string) error {
	want, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var sheets [][]byte
	err = waitFor(ctx, func() (bool, error) {
		raw, err := os.ReadFile(filepath.Join(args[0], "paper.jsonl"))
		if err != nil && !(want == 0 && errors.Is(err, os.ErrNotExist)) {
			return false, err
		}
		sheets = bytes.SplitAfter(raw, []byte("\n"))
		sheets = sheets[:len(sheets)-1] // What follows the last line's end.
		return len(sheets) >= want, nil
	})
	for _, line := range sheets {
		var sheet struct {
			Text   string   `json:"text"`
			Errors []string `json:"errors"`
		}
		if err := json.Unmarshal(line, &sheet); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		fmt.Println(sheet.Text)
		for _, e := range sheet.Errors {
			fmt.Println("printer error:", e)
		}
	}
	if len(sheets) != want {
		return fmt.Errorf("found %d sheets, want %d (%w)", len(sheets), want, err)
	}
	return err
}
