package main

import (
	"context"
	"sync"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/conn"
)

// In turn, so many calls of each client are made before its allocations are counted, and
// while they are.
const turnCalls = 2_000

// allocations counts those of a call where the machine has other things to do: each client
// makes one call after the other, so that what is in flight does not depend on them.
func (b *bed) allocations() (row, error) {
	r := row{claim: claim.Claim{Name: "allocations per call, closed loop", Bound: claim.AtMost, Demand: 2}}
	c, err := join(b.socket("gate"), b.clients)
	defer c.leave()
	if err != nil {
		return r, err
	}
	if err := c.inTurn(turnCalls); err != nil {
		return r, err
	}
	before, err := b.gate.usage("now")
	if err != nil {
		return r, err
	}
	if err := c.inTurn(turnCalls); err != nil {
		return r, err
	}
	after, err := b.gate.usage("now")
	r.measured = float64(after.Mallocs-before.Mallocs) / float64(turnCalls*len(c.conns))
	return r, err
}

// inTurn has each client make n calls, one after the other.
func (c *crowd) inTurn(n int) error {
	var all sync.WaitGroup
	for _, one := range c.conns {
		all.Go(func() {
			for range n {
				if _, err := one.Call(context.Background(), "tools/call", params, conn.CallOptions{Timeout: callTimeout}); err != nil {
					c.fail(err)
					return
				}
			}
		})
	}
	all.Wait()
	return c.verdict()
}
