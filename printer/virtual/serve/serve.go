// Package serve runs a virtual printer behind a TCP port and keeps its paper in a folder.
package serve

import (
	"context"
	"log/slog"

	"chit/printer/transport"
	"chit/printer/virtual"
)

// Config says how to run one virtual printer.
type Config struct {
	Printer virtual.Config
	// Listen is the address of the raw port, such as "127.0.0.1:9100"; empty means no port, and then
	// only [Server.Dialer] reaches the printer.
	Listen string
	// Control is the loopback address of the HTTP control; empty means none.
	Control string
	// Out is the folder for 0001.png, 0001.txt and paper.jsonl; empty keeps paper in memory only.
	Out string
	// SecondWaits lets a second client wait for the first to leave; false refuses it, as cheap
	// boards do.
	SecondWaits bool
	Log         *slog.Logger
}

// Server is a running virtual printer.
type Server struct{}

// Start runs a virtual printer until ctx ends or [Server.Close] is called.
func Start(ctx context.Context, c Config) (*Server, error) { return &Server{}, nil }

// Close stops the printer and waits for all it started. It may be called twice.
func (s *Server) Close() error { return nil }

// Addr is the address of the raw port, host:port; empty without one.
func (s *Server) Addr() string { return "" }

// ControlAddr is the address of the HTTP control; empty without one.
func (s *Server) ControlAddr() string { return "" }

// Dialer reaches the printer inside this process, without a port.
func (s *Server) Dialer() transport.Dialer { return nil }

// Sheets is all paper that was cut so far, oldest first.
func (s *Server) Sheets() []virtual.Sheet { return nil }

// Wait blocks until done is true of the cut sheets. The error is ctx's.
func (s *Server) Wait(ctx context.Context, done func([]virtual.Sheet) bool) error { return nil }

// Raise makes a fault happen, Clear undoes it, as a person at the machine would.
func (s *Server) Raise(f virtual.Fault) error { return nil }

// Clear undoes a fault: paper is loaded, the cover closed, power switched on.
func (s *Server) Clear(name virtual.FaultName) error { return nil }
