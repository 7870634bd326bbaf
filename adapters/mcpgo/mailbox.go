package mcpgo

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// mailbox hands notifications to the handler one at a time, in order, on a
// goroutine that lives while there are some. So the handler holds up nobody, and
// may make calls.
type mailbox struct {
	deliver func(mcp.JSONRPCNotification)
	places  chan struct{} // a token for each that waits
	closed  chan struct{}
	once    sync.Once

	mu      sync.Mutex // protects the fields below
	waiting []letter
	running bool
}

type letter struct {
	n    mcp.JSONRPCNotification
	read chan struct{} // closed when the handler has returned
}

func newMailbox(limit int, deliver func(mcp.JSONRPCNotification)) *mailbox {
	return &mailbox{deliver: deliver, places: make(chan struct{}, limit), closed: make(chan struct{})}
}

// put queues n and returns what is closed when the handler has seen it. It waits
// for a place until ctx ends, limit fires or the mailbox is closed; then n is
// dropped, and nil returned. What was put in before the mailbox closed is still
// delivered.
func (m *mailbox) put(ctx context.Context, limit <-chan time.Time, n mcp.JSONRPCNotification) <-chan struct{} {
	if !m.tryPlace() {
		select {
		case m.places <- struct{}{}:
		case <-limit:
			return nil
		case <-ctx.Done():
			return nil
		case <-m.closed:
			return nil
		}
	}
	return m.post(n)
}

func (m *mailbox) tryPlace() bool {
	select {
	case m.places <- struct{}{}:
		return true
	default:
		return false
	}
}

// post takes n, for which a place is held.
func (m *mailbox) post(n mcp.JSONRPCNotification) <-chan struct{} {
	l := letter{n, make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, l)
	if !m.running {
		m.running = true
		go m.run()
	}
	return l.read
}

// close lets go of whoever waits for a place.
func (m *mailbox) close() { m.once.Do(func() { close(m.closed) }) }

func (m *mailbox) run() {
	left := true
	defer func() {
		if left { // a handler ended this goroutine, not what waits for it
			go m.run()
		}
	}()
	for {
		l, ok := m.take()
		if !ok {
			left = false
			return
		}
		m.hand(l)
	}
}

func (m *mailbox) hand(l letter) {
	defer close(l.read)
	m.deliver(l.n)
}

func (m *mailbox) take() (letter, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		m.waiting, m.running = nil, false
		return letter{}, false
	}
	l := m.waiting[0]
	m.waiting[0] = letter{}
	m.waiting = m.waiting[1:]
	<-m.places
	return l, true
}
