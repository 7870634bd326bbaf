package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// A call that is taken is ended by the gateway or its router, not by an engine: for as
// long as it is, it has no number. Who ends it and who cancels it agree by giveUp: the
// first to set it has the call.

// take makes c a taken call; false says that it was cancelled before, and is over.
func (c *call) take() bool {
	c.taken.Store(true)
	if why := c.giveUp.Load(); why != nil {
		c.abandon(why.err)
		return false
	}
	return true
}

// untake gives c back, to be sent to a server; false says that it was cancelled, and is
// over.
func (c *call) untake() bool {
	c.taken.Store(false)
	if why := c.giveUp.Load(); why != nil {
		c.abandon(why.err)
		return false
	}
	return true
}

// abandon ends a taken call that was cancelled. Both who takes it and who cancels it
// may call it.
func (c *call) abandon(why error) {
	if c.over.CompareAndSwap(false, true) {
		if r := c.rare.Load(); r != nil {
			if r.released != nil {
				r.released()
			}
			c.cancelParts()
		}
		c.stop(why)
	}
}

// finished is in giveUp of a taken call that got its answer.
var finished = &reasonToStop{}

// finish answers a taken call: with e, or with result. False says that it was
// cancelled before.
func (c *call) finish(b *link.Burst, outcome Outcome, result []byte, e *codec.Error) bool {
	if !c.giveUp.CompareAndSwap(nil, finished) {
		return false
	}
	c.over.Store(true)
	c.end(b, outcome, result, e)
	return true
}

// reply is a Reply.
func (c *call) reply(result []byte, failed *codec.Error) bool {
	if failed != nil {
		return c.finish(nil, Failed, nil, failed)
	}
	return c.finish(nil, Answered, result, nil)
}
