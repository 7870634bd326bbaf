package rival

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// GoSDK has the shapes of the official MCP SDK for Go (v1.8.0, client side): all
// state under one lock and changed by a closure, a map keyed by an id that holds
// any value, a channel per call that is closed under the lock, and a context
// with a timeout per call. Only what it costs to correlate is here: no encoding,
// no I/O.
type GoSDK struct {
	seq atomic.Int64

	mu    sync.Mutex
	state sdkState // changed only in update
	done  chan struct{}
}

type sdkState struct {
	closing  bool
	readErr  error
	writeErr error
	outgoing map[SDKID]*SDKCall
	notes    int
	incoming int
	handling bool
}

// SDKID is an id of any JSON type.
type SDKID struct{ value any }

// SDKCall is one call of a [GoSDK].
type SDKCall struct {
	ID     SDKID         // what the answer must carry
	Method string        // what was asked
	ready  chan struct{} // closed when value is set
	value  []byte
	err    error
	ctx    context.Context
	cancel context.CancelFunc
}

var errSDKClosing = errors.New("rival: client is closing")

// NewGoSDK returns an empty table.
func NewGoSDK() *GoSDK { return &GoSDK{done: make(chan struct{})} }

func (g *GoSDK) update(f func(*sdkState)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	f(s)
	select {
	case <-g.done:
		return
	default:
	}
	if s.idle() && s.shuttingDown() != nil {
		close(g.done)
	}
}

func (s *sdkState) idle() bool {
	return len(s.outgoing) == 0 && s.notes == 0 && s.incoming == 0 && !s.handling
}

func (s *sdkState) shuttingDown() error {
	switch {
	case s.closing:
		return errSDKClosing
	case s.readErr != nil:
		return s.readErr
	}
	return s.writeErr
}

// Begin registers a call under a context that ends after timeout.
func (g *GoSDK) Begin(ctx context.Context, method string, timeout time.Duration) *SDKCall {
	c := &SDKCall{ID: SDKID{g.seq.Add(1)}, Method: method, ready: make(chan struct{})}
	c.ctx, c.cancel = context.WithTimeout(ctx, timeout)
	var err error
	g.update(func(s *sdkState) {
		if err = s.shuttingDown(); err != nil {
			return
		}
		if s.outgoing == nil {
			s.outgoing = map[SDKID]*SDKCall{}
		}
		s.outgoing[c.ID] = c
	})
	if err != nil {
		c.retire(nil, err)
	}
	return c
}

func (c *SDKCall) retire(value []byte, err error) {
	select {
	case <-c.ready:
		panic("rival: call retired twice")
	default:
	}
	c.value, c.err = value, err
	close(c.ready)
}

// Resolve gives the call of that id its answer, and reports whether it was still
// pending.
func (g *GoSDK) Resolve(id SDKID, value []byte) bool {
	found := false
	g.update(func(s *sdkState) {
		if c, ok := s.outgoing[id]; ok {
			delete(s.outgoing, id)
			c.retire(value, nil)
			found = true
		}
	})
	return found
}

// Wait returns the answer, or the error of the call's context, which ends the
// call.
func (g *GoSDK) Wait(c *SDKCall) ([]byte, error) {
	defer c.cancel()
	select {
	case <-c.ctx.Done():
		g.update(func(s *sdkState) {
			if s.outgoing[c.ID] == c {
				delete(s.outgoing, c.ID)
				c.retire(nil, c.ctx.Err())
			}
		})
		return nil, c.ctx.Err()
	case <-c.ready:
	}
	return c.value, c.err
}
