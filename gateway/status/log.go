package status

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
)

// logCall writes the line of a call. Params, results and credentials are in none.
func (b *Board) logCall(e *gateway.Event) {
	level := slog.LevelInfo
	if e.Outcome != gateway.Answered && e.Outcome != gateway.Cancelled {
		level = slog.LevelWarn
	}
	if !b.log.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs, slog.Uint64("client", e.Client), slog.String("transport", e.Peer.Transport))
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	add("address", e.Peer.Address)
	add("identity", e.Peer.Identity)
	add("upstream", e.Upstream)
	add("method", e.Method)
	add("tool", e.Tool)
	attrs = append(attrs, slog.String("id", string(e.ID.Append(nil))), slog.String("outcome", string(e.Outcome)),
		slog.Duration("queue", e.Waited), slog.Duration("took", e.Took))
	if e.Err != nil {
		add("error", auth.Redact(e.Err.Error()))
	}
	b.log.LogAttrs(context.Background(), level, "call", attrs...)
}

// DefaultAsyncBuffer is how many bytes an AsyncWriter holds.
const DefaultAsyncBuffer = 1 << 20

// AsyncWriter writes from a goroutine of its own, so that nobody waits for whoever
// reads the log. What does not fit into its buffer is dropped as a whole and counted.
type AsyncWriter struct {
	w       io.Writer
	most    int
	dropped atomic.Uint64
	done    chan struct{}

	mu     sync.Mutex // guards the fields below
	wake   sync.Cond
	buffer []byte
	closed bool
}

// NewAsyncWriter begins to write to w. most bounds what waits, in bytes; zero is
// DefaultAsyncBuffer.
func NewAsyncWriter(w io.Writer, most int) *AsyncWriter {
	if most <= 0 {
		most = DefaultAsyncBuffer
	}
	a := &AsyncWriter{w: w, most: most, done: make(chan struct{})}
	a.wake.L = &a.mu
	go a.run()
	return a
}

// Write takes p, or drops it. It never waits for w.
func (a *AsyncWriter) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.buffer)+len(p) > a.most {
		a.dropped.Add(1)
		return len(p), nil
	}
	a.buffer = append(a.buffer, p...)
	a.wake.Signal()
	return len(p), nil
}

// Dropped is how many writes were.
func (a *AsyncWriter) Dropped() uint64 { return a.dropped.Load() }

// Close takes nothing more and waits until the rest is written.
func (a *AsyncWriter) Close() error {
	a.mu.Lock()
	a.closed = true
	a.wake.Signal()
	a.mu.Unlock()
	<-a.done
	return nil
}

func (a *AsyncWriter) run() {
	defer close(a.done)
	var spare []byte
	for {
		a.mu.Lock()
		for len(a.buffer) == 0 && !a.closed {
			a.wake.Wait()
		}
		out := a.buffer
		a.buffer = spare[:0]
		a.mu.Unlock()
		if len(out) == 0 {
			return
		}
		_, _ = a.w.Write(out) // a log has nobody to tell
		spare = out
	}
}
