package client

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// subscriptions are those that are open, and how often a resource is watched in the
// older era.
type subscriptions struct {
	mu      sync.Mutex
	open    []*Subscription
	watched map[string]*watch
}

// watch is one resource that a server of the older era was asked to watch.
type watch struct {
	// mu is held while the server is asked, so that watching and its end reach it
	// in the order in which they were counted.
	mu    sync.Mutex
	count int
	holds int // who uses this value; guarded by the mu of subscriptions
}

func (l *subscriptions) add(s *Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, s)
}

func (l *subscriptions) remove(s *Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(o *Subscription) bool { return o == s })
}

// all is a copy, so that nobody is told of anything under the lock.
func (l *subscriptions) all() []*Subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.open)
}

// unnamed takes an acknowledgement that names no subscription: it can only be that
// of one that waits for it, which fails, since nothing that follows could be told
// apart.
func (l *subscriptions) unnamed() {
	for _, s := range l.all() {
		s.mu.Lock()
		waits := !s.acknowledged && s.err == nil
		s.mu.Unlock()
		if waits {
			s.finish(invalid(mcp.MethodListen, "the acknowledgement names no subscription"))
			s.stop()
			return
		}
	}
}

// offerAll takes a change that names no subscription. The older era has no others.
// A modern server must name one; of one that does not (mcp-go, over stdio) it is
// for all that asked for such a change, since nobody else may be told.
func (l *subscriptions) offerAll(method string, params []byte) {
	n, ok := readChange(method, params)
	if !ok {
		return
	}
	for _, s := range l.all() {
		if wants(s.Granted(), n) {
			s.offer(n)
		}
	}
}

func wants(f mcp.ListenFilter, n mcp.Notification) bool {
	switch n.Kind {
	case mcp.ToolsChanged:
		return f.ToolsListChanged
	case mcp.PromptsChanged:
		return f.PromptsListChanged
	case mcp.ResourcesChanged:
		return f.ResourcesListChanged
	}
	return slices.Contains(f.ResourceSubscriptions, n.URI)
}

// readChange reads a notification of a change.
func readChange(method string, params []byte) (mcp.Notification, bool) {
	switch method {
	case mcp.NoteToolsChanged:
		return mcp.Notification{Kind: mcp.ToolsChanged}, true
	case mcp.NotePromptsChanged:
		return mcp.Notification{Kind: mcp.PromptsChanged}, true
	case mcp.NoteResourcesChanged:
		return mcp.Notification{Kind: mcp.ResourcesChanged}, true
	case mcp.NoteResourceUpdated:
		var p struct {
			URI string `json:"uri"`
		}
		if codec.DecodeValue(params, &p) != nil || p.URI == "" {
			return mcp.Notification{}, false
		}
		return mcp.Notification{Kind: mcp.ResourceUpdated, URI: p.URI}, true
	}
	return mcp.Notification{}, false
}

// listenLegacy makes a subscription of what the older era has: the changes of lists
// that the server declares, and resources that are watched one by one.
func (c *Client) listenLegacy(ctx context.Context, s *Subscription, want mcp.ListenFilter, o CallOptions) error {
	have := c.Capabilities()
	granted := mcp.ListenFilter{
		ToolsListChanged:     want.ToolsListChanged && have.Tools != nil && have.Tools.ListChanged,
		PromptsListChanged:   want.PromptsListChanged && have.Prompts != nil && have.Prompts.ListChanged,
		ResourcesListChanged: want.ResourcesListChanged && have.Resources != nil && have.Resources.ListChanged,
	}
	if have.Resources != nil && have.Resources.Subscribe {
		granted.ResourceSubscriptions = slices.Compact(slices.Sorted(slices.Values(want.ResourceSubscriptions)))
	}
	var once sync.Once
	watching := 0
	s.end = func() {
		once.Do(func() {
			c.subscriptions.remove(s)
			// The end of a subscription waits for nobody, least of all for a
			// server that does not answer.
			go func() {
				for _, uri := range granted.ResourceSubscriptions[:watching] {
					c.unwatch(context.WithoutCancel(ctx), uri, o)
				}
			}()
		})
	}
	s.acknowledge(granted)
	c.subscriptions.add(s) // before the first is watched, so that no change is missed
	for _, uri := range granted.ResourceSubscriptions {
		if err := c.watch(ctx, uri, o); err != nil {
			_ = s.Close()
			return fmt.Errorf("client: %s %q: %w", mcp.MethodSubscribe, uri, err)
		}
		watching++
	}
	go func() {
		select {
		case <-c.Done():
			s.finish(c.Err())
			c.subscriptions.remove(s)
		case <-s.over:
		}
	}()
	return nil
}

// hold gives the watch of a resource, and keeps it until as many calls of release.
func (l *subscriptions) hold(uri string) *watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watched == nil {
		l.watched = map[string]*watch{}
	}
	w := l.watched[uri]
	if w == nil {
		w = &watch{}
		l.watched[uri] = w
	}
	w.holds++
	return w
}

func (l *subscriptions) release(uri string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watched[uri]
	if w.holds -= n; w.holds == 0 {
		delete(l.watched, uri)
	}
}

// watch asks the server to watch a resource, unless it does already.
func (c *Client) watch(ctx context.Context, uri string, o CallOptions) error {
	w := c.subscriptions.hold(uri) // until unwatch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		if _, err := c.Call(ctx, mcp.MethodSubscribe, uriParams(uri), o); err != nil {
			c.subscriptions.release(uri, 1)
			return err
		}
	}
	w.count++
	return nil
}

// unwatch tells the server when nobody wants to hear of a resource any more.
func (c *Client) unwatch(ctx context.Context, uri string, o CallOptions) {
	w := c.subscriptions.hold(uri)
	defer c.subscriptions.release(uri, 2) // this one, and that of watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 {
		_, _ = c.Call(ctx, mcp.MethodUnsubscribe, uriParams(uri), o) // nobody is left to be told
	}
}

func uriParams(uri string) []byte {
	return append(codec.AppendString([]byte(`{"uri":`), uri), '}')
}
