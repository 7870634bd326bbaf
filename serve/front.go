package serve

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// front is what every front end goes by: limits, who is told, and what was counted.
type front struct {
	o      Options
	counts counts
}

type counts struct {
	connections, admitted, rejected, panics, timeouts, late, unmatched, duplicates, unreadable, slow, refused atomic.Uint64
}

// emit shows an event to the observer, if there is one.
func (f *front) emit(e Event) {
	if f.o.Observer == nil {
		return
	}
	defer func() { _ = recover() }() // telemetry never harms the work
	e.Listener = f.o.Listener
	f.o.Observer(e)
}

// stray shows what could not be used.
func (f *front) stray(x Stray) {
	if f.o.OnStray == nil {
		return
	}
	defer func() { _ = recover() }()
	x.Size = max(x.Size, len(x.Frame))
	x.Frame = x.Frame[:min(len(x.Frame), StrayBytes)]
	f.o.OnStray(x)
}

func (f *front) log(level slog.Level, text string, attrs ...slog.Attr) {
	if f.o.Logger == nil {
		return
	}
	defer func() { _ = recover() }()
	if f.o.Listener != "" {
		attrs = append(attrs, slog.String("listener", f.o.Listener))
	}
	f.o.Logger.LogAttrs(context.Background(), level, text, attrs...)
}
