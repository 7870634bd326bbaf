package status

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// laterMost is how many records wait for a log that is slower than what it is told.
const laterMost = 8192

// later is a slog.Handler that hands records to another one on a goroutine, which lives
// while there are some. The board is told of things by those who bring answers to
// clients: no log may hold them up. What finds no room is dropped and counted.
type later struct {
	to    slog.Handler
	queue *records
}

// records wait for their handler.
type records struct {
	dropped atomic.Uint64

	mu      sync.Mutex // guards the fields below
	waiting []record
	running bool
	idle    sync.Cond // with mu: nothing waits, and nothing is being handed over
}

type record struct {
	to   slog.Handler
	what slog.Record
}

func newLater(to slog.Handler) *later {
	q := new(records)
	q.idle.L = &q.mu
	return &later{to, q}
}

// Enabled implements slog.Handler.
func (l *later) Enabled(ctx context.Context, level slog.Level) bool { return l.to.Enabled(ctx, level) }

// Handle implements slog.Handler. It never waits.
func (l *later) Handle(_ context.Context, what slog.Record) error {
	q := l.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == laterMost {
		q.dropped.Add(1)
		return nil
	}
	q.waiting = append(q.waiting, record{l.to, what.Clone()})
	if !q.running {
		q.running = true
		go q.run()
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l *later) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &later{l.to.WithAttrs(attrs), l.queue}
}

// WithGroup implements slog.Handler.
func (l *later) WithGroup(name string) slog.Handler { return &later{l.to.WithGroup(name), l.queue} }

func (q *records) run() {
	for {
		q.mu.Lock()
		all := q.waiting
		q.waiting = nil
		if q.running = len(all) > 0; !q.running {
			q.idle.Broadcast()
		}
		q.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, r := range all {
			hand(r)
		}
	}
}

// hand gives a record to a handler that is somebody else's, and may panic.
func hand(r record) {
	defer func() { _ = recover() }() // there is no log to tell
	_ = r.to.Handle(context.Background(), r.what)
}

// flush waits until all is handed over, for so long at most.
func (q *records) flush(most time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	over := false
	late := time.AfterFunc(most, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		over = true
		q.idle.Broadcast()
	})
	defer late.Stop()
	for q.running && !over {
		q.idle.Wait()
	}
}
