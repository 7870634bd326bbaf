package conn

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of one inbound request. It costs nothing until
// somebody waits on it, and unlike one from context.WithCancel it hangs on no
// parent's lock.
type requestContext struct {
	conn *Conn

	mu    sync.Mutex // protects the fields below
	ended bool
	done  chan struct{}   // made on demand
	after map[*int]func() // AfterFunc's, by the address that stands for each
}

var _ context.Context = (*requestContext)(nil)

// Deadline says that there is none: time is the handler's own business.
func (x *requestContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value is nil for every key.
func (x *requestContext) Value(any) any { return nil }

// Err is context.Canceled once the context has ended.
func (x *requestContext) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended || x.conn.cutOff() {
		return context.Canceled
	}
	return nil
}

// Done is closed when the context ends.
func (x *requestContext) Done() <-chan struct{} {
	x.mu.Lock()
	if x.done == nil {
		x.done = make(chan struct{})
		if x.ended {
			close(x.done)
		}
	}
	done := x.done
	x.mu.Unlock()
	x.conn.serving.watch(x)
	return done
}

// AfterFunc is what package context looks for when it derives a context, so
// that no goroutine has to wait for this one.
func (x *requestContext) AfterFunc(f func()) (stop func() bool) {
	x.mu.Lock()
	if x.ended {
		x.mu.Unlock()
		go f()
		return func() bool { return false }
	}
	key := new(int)
	if x.after == nil {
		x.after = make(map[*int]func())
	}
	x.after[key] = f
	x.mu.Unlock()
	x.conn.serving.watch(x)
	return func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		_, waits := x.after[key]
		delete(x.after, key)
		return waits
	}
}

// end ends the context. It runs no user code: functions get a goroutine each,
// as context.AfterFunc has it.
func (x *requestContext) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.ended = true
	if x.done != nil {
		close(x.done)
	}
	for _, f := range x.after {
		go f()
	}
	x.after = nil
}

// used reports whether somebody may be waiting.
func (x *requestContext) used() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.ended && (x.done != nil || len(x.after) > 0)
}
