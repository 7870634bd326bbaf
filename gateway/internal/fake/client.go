package fake

import (
	"sync"

	"github.com/correlator-go/correlator/gateway/link"
)

// Client is a link.Client that remembers what it was sent.
type Client struct {
	// Who is what Peer says.
	Who link.Peer

	mu      sync.Mutex // guards what follows
	session link.Receiver
	frames  []string
	read    int
	full    bool
	queued  int64
	ended   error
	changed chan struct{}
	once    sync.Once
	held    link.Held
	writes  int
}

// Join gives the client its session.
func (c *Client) Join(session link.Receiver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
}

// Send implements link.Client.
func (c *Client) Send(f *link.Frame, b *link.Burst) error {
	err := c.take(f)
	if err == nil {
		c.once.Do(func() { c.held.Init(c.wrote) })
		b.Hold(&c.held)
	}
	return err
}

func (c *Client) wrote() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
}

// Writes is how often the client was written to: a burst counts once.
func (c *Client) Writes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

func (c *Client) take(f *link.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended != nil:
		return link.ErrGone
	case c.full:
		return link.ErrFull
	}
	c.frames = append(c.frames, string(f.AppendTo(nil)))
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	return nil
}

// Queued implements link.Client.
func (c *Client) Queued() (bytes, bound int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queued, Bound
}

// Bound is the byte bound of every Client.
const Bound = 1 << 20

// Queue sets what Queued says.
func (c *Client) Queue(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queued = bytes
}

// End implements link.Client.
func (c *Client) End(why error) {
	c.mu.Lock()
	first := c.ended == nil
	if first {
		c.ended = why
	}
	session := c.session
	c.mu.Unlock()
	if first && session != nil {
		go session.Gone(why)
	}
}

// Peer implements link.Client.
func (c *Client) Peer() link.Peer { return c.Who }

// Say brings a frame of the client.
func (c *Client) Say(frame string) error {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	return say(session, frame)
}

// Fill makes Send fail with ErrFull, or work again.
func (c *Client) Fill(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

// Next waits for the next frame.
func (c *Client) Next() string {
	for {
		c.mu.Lock()
		if c.read < len(c.frames) {
			defer c.mu.Unlock()
			c.read++
			return c.frames[c.read-1]
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		<-changed
	}
}

// Unread gives what was sent and not taken by Next.
func (c *Client) Unread() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := append([]string(nil), c.frames[c.read:]...)
	c.read = len(c.frames)
	return out
}

// Ended is why the gateway let go of the client, nil if it did not.
func (c *Client) Ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Forget lets go of what was sent.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames, c.read = nil, 0
}
