package lsp

import (
	"encoding/json"
	"sync"

	"github.com/correlator-go/correlator/conn"
)

// notes are the notifications that wait for their handlers, which one goroutine runs in
// order. It lives while there is work.
type notes struct {
	client *Client
	most   int // how many may wait
	bytes  int // that their methods and params may have together

	mu      sync.Mutex // protects the fields below
	waiting []note
	size    int // of what waits
	running bool
}

type note struct {
	method  string
	params  json.RawMessage
	handler NotificationHandler
}

func newNotes(c *Client) *notes {
	return &notes{
		client: c, most: limitOr(c.o.Conn.MaxQueued, conn.DefaultMaxQueued, 0),
		bytes: limitOr(c.o.Conn.MaxQueuedBytes, conn.DefaultMaxQueuedBytes, 1<<31-1),
	}
}

// limitOr is n, or def for zero and negative for what is below it, as in conn.
func limitOr(n, def, negative int) int {
	switch {
	case n == 0:
		return def
	case n < 0:
		return negative
	}
	return n
}

// put takes a notification from the reader; false says that too many wait.
func (q *notes) put(n note) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := len(n.method) + len(n.params)
	if q.running && (len(q.waiting) >= q.most || len(q.waiting) > 0 && q.size+size > q.bytes) {
		return false
	}
	q.waiting = append(q.waiting, n)
	q.size += size
	if !q.running {
		q.running = true
		go q.run()
	}
	return true
}

func (q *notes) run() {
	left := true
	defer func() {
		if left { // a handler ended this goroutine, not what waits for it
			go q.run()
		}
	}()
	for {
		n, ok := q.take()
		if !ok {
			left = false
			return
		}
		q.client.guard(func() {
			if err := n.handler(q.client.ctx, n.params); err != nil {
				q.client.failed(n.method, err)
			}
		})
	}
}

func (q *notes) take() (n note, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting, q.running = nil, false
		return n, false
	}
	n = q.waiting[0]
	q.waiting[0] = note{}
	q.waiting = q.waiting[1:]
	q.size -= len(n.method) + len(n.params)
	return n, true
}
