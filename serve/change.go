package serve

import "github.com/correlator-go/correlator/mcp"

// changes are notifications that wait until the peer has read what was written to
// it. The same change is told once, however often it happened meanwhile.
type changes struct {
	most  int
	order []mcp.Notification
	known map[mcp.Notification]struct{}
}

// add takes a change; false says that too many wait.
func (q *changes) add(n mcp.Notification) bool {
	if _, ok := q.known[n]; ok {
		return true
	}
	if len(q.order) >= q.most {
		return false
	}
	if q.known == nil {
		q.known = make(map[mcp.Notification]struct{})
	}
	q.known[n] = struct{}{}
	q.order = append(q.order, n)
	return true
}

// take empties the queue.
func (q *changes) take() []mcp.Notification {
	order := q.order
	q.order, q.known = nil, nil
	return order
}

// notify tells the peer's subscriptions of a change, now or when there is room. It
// never waits.
func (c *Connection) notify(n mcp.Notification) {
	c.mu.Lock()
	defer c.unlock()
	if c.closed || c.state.Session() == "" && len(c.state.OpenStreams()) == 0 {
		return
	}
	if _, full := c.out.full(1); !full && len(c.changes.order) == 0 {
		c.step(mcp.Notify{Notification: n})
		return
	}
	if !c.changes.add(n) {
		c.server.counts.slow.Add(1)
		c.later.fail = ErrSlowSubscriber
	}
}

// replay tells what had to wait; the outlet calls it when there is room again.
func (c *Connection) replay() {
	c.mu.Lock()
	defer c.unlock()
	if c.closed {
		return
	}
	for _, n := range c.changes.take() {
		c.step(mcp.Notify{Notification: n})
	}
}
