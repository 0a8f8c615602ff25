package link

import (
	"context"
	"log/slog"
)

// quietHandler passes on what mochi warns of, as debug lines, without the packets that it logs
// whole: they hold tickets.
type quietHandler struct{ log *slog.Logger }

// Enabled implements slog.Handler.
func (h quietHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (h quietHandler) Handle(ctx context.Context, r slog.Record) error {
	var kept []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" || a.Key == "client" {
			kept = append(kept, a)
		}
		return true
	})
	h.log.LogAttrs(ctx, slog.LevelDebug, "engine: "+r.Message, kept...)
	return nil
}

// WithAttrs implements slog.Handler.
func (h quietHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h quietHandler) WithGroup(string) slog.Handler { return h }
