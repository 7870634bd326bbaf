package websocket

import (
	"context"
	"errors"
	"sync"
	"time"
)

// pings makes a Stream ping. Between two pings there is a timer and no goroutine.
type pings struct {
	over sync.WaitGroup // the timer runs, or what it has begun

	mu    sync.Mutex // protects the fields below
	timer *time.Timer
	stop  context.CancelFunc // ends the wait for a pong
	ended bool
}

// begin calls ping every so often until that says false, or end. A pause that is not
// positive never does.
func (p *pings) begin(pause time.Duration, ping func(context.Context) bool) {
	if pause <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over.Add(1)
	p.timer = time.AfterFunc(pause, func() {
		ctx, ok := p.next()
		if !ok || !p.again(pause, ping(ctx)) {
			p.over.Done()
		}
	})
}

// next is what the next ping goes by, false if there shall be none.
func (p *pings) next() (context.Context, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, false
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	return ctx, true
}

// again winds the timer, if there was a pong and there shall be more pings.
func (p *pings) again(pause time.Duration, pong bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
	p.stop = nil
	if !pong || p.ended {
		return false
	}
	p.timer.Reset(pause)
	return true
}

// end lets no more pings begin, and ends the one that waits; over says when it has.
func (p *pings) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.stop != nil {
		p.stop()
	}
	if p.timer != nil && p.timer.Stop() {
		p.over.Done()
	}
}

// ping sends one ping and awaits its pong; false says that the link has ended.
func (s *Stream) ping(ctx context.Context) bool {
	if s.o.PingTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.PingTimeout)
		defer cancel()
	}
	err := s.socket.Ping(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.fail(ErrNoPong)
	}
	return err == nil // else the reader knows better why
}
