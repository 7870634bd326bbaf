package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/link"
)

// WayOptions say how a server is spoken to by its owner. They are to be those of
// gateway.Upstream, and the same on all nodes.
type WayOptions struct {
	// Name names it in errors; "" is what Opener was told. It may differ where that tells
	// apart what has one name.
	Name string
	// Dropped hears, where the server lives, of each message of it that went nowhere, as
	// gateway.Relay has it. Nil is nobody.
	Dropped func(gateway.Reason)
	// Plain says that it speaks JSON-RPC but not MCP.
	Plain bool
	// ProbeTimeout and OpenTimeout are those of gateway.Upstream.
	ProbeTimeout, OpenTimeout time.Duration
	// OnPanic gets what the opener panicked with.
	OnPanic func(v any, stack []byte)
}

// Opener gives ways to a server that lives on one node at a time, which need not be
// this one: opener is used only while this node owns it. upstream is its name, the
// same on all nodes. Ways of one session are for that session's node alone: they are
// opened here, without a lease.
func (n *Node) Opener(upstream string, opener link.Opener, o WayOptions) link.Opener {
	o.Name = cmp.Or(o.Name, upstream)
	return &clustered{n: n, upstream: upstream, opener: opener, o: o}
}

type clustered struct {
	n        *Node
	upstream string
	opener   link.Opener
	o        WayOptions
}

// String implements link.Opener.
func (c *clustered) String() string { return c.opener.String() }

// Open implements link.Opener: it finds the owner, or becomes it. While an owner has a
// lease but does not answer, it waits for the lease to expire.
func (c *clustered) Open(ctx context.Context, owner link.Owner, k link.Key) (link.Upstream, error) {
	if k.Session != "" {
		return c.opener.Open(ctx, owner, k)
	}
	for {
		up, err := c.try(ctx, owner, k)
		wait, ok := errors.AsType[*notNow](err)
		if !ok {
			return up, err
		}
		timer := time.NewTimer(c.n.o.renew())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w (%w)", wait.why, context.Cause(ctx))
		case <-c.n.stop:
			timer.Stop()
			return nil, ErrClosed
		}
	}
}

// notNow is why a way has to be tried again.
type notNow struct{ why error }

func (w *notNow) Error() string { return w.why.Error() }

func (c *clustered) try(ctx context.Context, owner link.Owner, k link.Key) (link.Upstream, error) {
	n := c.n
	if h := n.find(keyOf(c.upstream, k)); h != nil {
		return c.local(ctx, h, owner)
	}
	limited, cancel := context.WithTimeout(ctx, n.o.fence())
	defer cancel()
	l, r, err := n.claim(limited, c.upstream, k)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &notNow{fmt.Errorf("cluster: the lease of %q: %w", c.o.Name, err)}
	case l != nil:
		h, ok := n.host(l, c.upstream, k, c.opener, c.o)
		if !ok {
			l.release()
			return nil, ErrClosed
		}
		return c.local(ctx, h, owner)
	case r.ID == n.id:
		return nil, &notNow{fmt.Errorf("cluster: %q is being ended here", c.o.Name)}
	}
	return c.remote(ctx, r, owner, k)
}

// find gives the host of a way that lives here.
func (n *Node) find(key string) *host {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hosts[key]
}
