package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"chit/printer/transport"
	"chit/printer/virtual/serve"
)

// virtualPrinters are the virtual: printers of this process, one for each URL, made when first
// asked for.
type virtualPrinters struct {
	dir string

	mu   sync.Mutex
	made map[string]*serve.Server
	// paper is their folders.
	paper []string
}

// folders names where the paper is, "" where there is no virtual printer.
func (v *virtualPrinters) folders() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.paper, ", ")
}

// Dialer implements the virtual: scheme; its paper is kept under the data folder.
func (v *virtualPrinters) Dialer(rest string) (transport.Dialer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.made[rest]; s != nil {
		return s.Dialer(), nil
	}
	flags, err := serve.FromURL(rest)
	if err != nil {
		return nil, err
	}
	flags.Out, flags.KeepAnswers = v.dir, true
	if len(v.made) > 0 {
		flags.Out = fmt.Sprintf("%s-%d", v.dir, len(v.made)+1)
	}
	v.paper = append(v.paper, flags.Out)
	c, err := flags.Config(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	s, err := serve.Start(context.Background(), c)
	if err != nil {
		return nil, fmt.Errorf("virtual printer: %w", err)
	}
	if v.made == nil {
		v.made = map[string]*serve.Server{}
	}
	v.made[rest] = s
	return s.Dialer(), nil
}

// Close ends them all.
func (v *virtualPrinters) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for _, s := range v.made {
		errs = append(errs, s.Close())
	}
	v.made = nil
	return errors.Join(errs...)
}
