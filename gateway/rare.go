package gateway

import "sync/atomic"

// rare is what few calls need beside the rest, so that the others stay small.
type rare struct {
	// part is set of a call that is no client's own but a part of one: see part.
	part  atomic.Pointer[part]
	parts []*call // of this one, while it waits for them; guarded by session.mu
	// rounds is set of a call of the older era at a server of the modern one that may
	// be answered by a request for input.
	rounds *rounds
	// holding is set of a call of the modern era that a server of the older one has
	// asked something for. can says what the client may be asked, logs whether it wants
	// to hear of log lines, level of which.
	holding atomic.Pointer[holding]
	can     uint8
	logs    bool
	level   level
	// span is what the Tracer gave.
	span any
	// batch gets the answer where the request came in one.
	batch *batch
	// cause is why it has no answer although its way goes on.
	cause Cause
	// released is asked when a taken call was cancelled; set before it is taken.
	released func()
}

// more is the call's rare part, made when it has none.
func (c *call) more() *rare {
	if r := c.rare.Load(); r != nil {
		return r
	}
	c.rare.CompareAndSwap(nil, new(rare))
	return c.rare.Load()
}

// asPart is set of a call that is a part of another.
func (c *call) asPart() *part {
	if r := c.rare.Load(); r != nil {
		return r.part.Load()
	}
	return nil
}

// held is set of a call that is held, or was.
func (c *call) held() *holding {
	if r := c.rare.Load(); r != nil {
		return r.holding.Load()
	}
	return nil
}
