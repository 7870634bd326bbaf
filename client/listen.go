package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Subscription is a stream of changes that Listen asked for. Its methods are safe
// for concurrent use.
type Subscription struct {
	client *Client
	stop   context.CancelFunc
	end    func() // tells a server of the older era; nil in the modern one

	mu      sync.Mutex
	granted mcp.ListenFilter
	pending []mcp.Notification
	err     error // why it ended

	acknowledged bool          // granted is known
	settled      chan struct{} // closed when it is acknowledged or has ended
	over         chan struct{} // closed when it has ended
	signal       chan struct{} // holds one token when there is something to take
}

// Listen asks the server to tell of changes, and returns when it has said of which
// it will. ctx bounds that alone; the subscription lasts until Close of it or of the
// client, or until the server or the connection ends it.
//
// A server of the older era is asked to watch each resource, and tells of changed
// lists by itself.
func (c *Client) Listen(ctx context.Context, want mcp.ListenFilter, o CallOptions) (*Subscription, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &Subscription{client: c, stop: stop, settled: make(chan struct{}), over: make(chan struct{}), signal: make(chan struct{}, 1)}
	if !c.Revision().IsModern() {
		if err := c.listenLegacy(ctx, s, want, o); err != nil {
			return nil, err
		}
		return s, nil
	}
	params := struct {
		Notifications mcp.ListenFilter `json:"notifications"`
	}{want}
	text, err := codec.AppendValue(nil, params)
	if err == nil {
		text, err = c.complete(text, o)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("client: %s: params: %w", mcp.MethodListen, err)
	}
	c.subscriptions.add(s)
	go func() {
		_, err := c.follow(life, c.link, &request{method: mcp.MethodListen, params: text, timeout: NoTimeout, idle: NoTimeout, notes: s.note})
		if errors.Is(err, conn.ErrSubscriptionEnded) {
			err = nil // a server may cancel instead of answering, or do both
		}
		s.finish(err)
		c.subscriptions.remove(s)
		stop()
	}()
	if err := s.await(ctx, c.timeout(o)); err != nil {
		stop() // which cancels the request too
		return nil, err
	}
	return s, nil
}

// Granted is what the server said it will tell of.
func (s *Subscription) Granted() mcp.ListenFilter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// Next waits for the next change. Changes that were not taken yet are merged: of
// equal ones there is one. When the subscription has ended and everything was
// taken, its error is ErrSubscriptionEnded after a regular end, else that of the
// connection; when ctx ends, it is ctx's cause.
func (s *Subscription) Next(ctx context.Context) (mcp.Notification, error) {
	for {
		s.mu.Lock()
		if len(s.pending) > 0 {
			n := s.pending[0]
			s.pending = append(s.pending[:0], s.pending[1:]...)
			s.mu.Unlock()
			return n, nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			s.wake() // for others that wait
			return mcp.Notification{}, err
		}
		select {
		case <-s.signal:
		case <-ctx.Done():
			return mcp.Notification{}, context.Cause(ctx)
		}
	}
}

// Close ends the subscription, and tells the server. It may be called again, and
// returns nil.
func (s *Subscription) Close() error {
	s.finish(nil)
	s.stop()
	if s.end != nil {
		s.end()
	}
	return nil
}

// note takes a notification of a modern subscription.
func (s *Subscription) note(method string, params []byte) {
	if method == mcp.NoteAcknowledged {
		var ack struct {
			Notifications mcp.ListenFilter `json:"notifications"`
		}
		if err := decode(method, params, &ack); err != nil {
			s.finish(err)
			s.stop()
			return
		}
		s.acknowledge(ack.Notifications)
		return
	}
	if n, ok := readChange(method, params); ok {
		s.offer(n)
	}
}

func (s *Subscription) acknowledge(granted mcp.ListenFilter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.acknowledged && s.err == nil {
		s.acknowledged, s.granted = true, granted
		close(s.settled)
	}
}

// offer puts a change behind the others. The queue is bounded by what was granted:
// a kind or a resource stands in it once.
func (s *Subscription) offer(n mcp.Notification) {
	s.mu.Lock()
	waiting := s.err != nil
	for _, p := range s.pending {
		waiting = waiting || p == n
	}
	if !waiting {
		s.pending = append(s.pending, n)
	}
	s.mu.Unlock()
	s.wake()
}

func (s *Subscription) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// finish ends the subscription; the first reason stands, nil is a regular end.
func (s *Subscription) finish(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = ErrSubscriptionEnded
		if err != nil {
			s.err = err
		}
		if !s.acknowledged {
			close(s.settled)
		}
		close(s.over)
	}
	s.mu.Unlock()
	s.wake()
}

// await waits for the acknowledgement, at most for d; negative means for ever.
func (s *Subscription) await(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if d >= 0 {
		late := fmt.Errorf("client: %s was not acknowledged in %v: %w", mcp.MethodListen, d, conn.ErrTimeout)
		defer s.client.clock().AfterFunc(d, func() { cancel(late) }).Stop()
	}
	select {
	case <-s.settled:
	case <-ctx.Done():
		s.finish(context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.acknowledged:
		return nil
	case errors.Is(s.err, ErrSubscriptionEnded):
		return invalid(mcp.MethodListen, "ended before it was acknowledged")
	}
	return s.err
}
