package serve

import (
	"context"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

// asks are the requests of the older era to the client: sampling, elicitation,
// roots. They are calls like any other, in a table of pending calls that is made
// when the first is asked.
//
// A1: every ask is answered to the reducer once: by the client, or with nothing
// when it was withdrawn, expired, or the connection went.
type asks struct {
	mu   sync.Mutex // protects the fields below
	pend *engine.Engine[[]byte]
	open map[mcp.ExchangeID][]codec.ID // by what they were asked for
}

// answer is a client's response, borrowed like the frame that it came in.
type answer struct {
	id     codec.ID
	result []byte
	err    *codec.Error
}

// table is the table of pending calls.
func (a *asks) table(c *Connection) (*engine.Engine[[]byte], error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pend != nil {
		return a.pend, nil
	}
	e, err := engine.New(engine.Options[[]byte]{
		MaxPending: c.o.MaxLive, Timeout: c.o.AskTimeout, MatchText: true,
	})
	if err != nil {
		return nil, err
	}
	a.pend, a.open = e, make(map[mcp.ExchangeID][]codec.ID)
	return e, nil
}

// ask registers a call and writes it. c.mu is held, so that its end is told to
// the reducer by nobody before this step is over.
func (c *Connection) ask(e *mcp.Effect) {
	c.asked = true
	in := mcp.Answered{Invocation: e.Invocation, Key: e.Key}
	table, err := c.asks.table(c)
	if err != nil {
		go c.answered(in)
		return
	}
	x := e.Exchange
	var id codec.ID
	known := make(chan struct{})
	call, err := table.Begin(context.Background(), engine.CallOptions[[]byte]{
		Method: e.Method, NoWait: true,
		// It may run under the lock of who registers, or of a step: the table is
		// closed, or a call is withdrawn. So it hands over.
		Notify: func(o engine.Outcome[[]byte]) {
			if o.Err == nil {
				in.Result = append([]byte{}, o.Value...)
			}
			expired := o.Status == engine.Expired
			go func() {
				<-known
				c.asks.forget(x, id)
				if expired {
					c.withdraw(x, id)
				}
				c.answered(in)
			}()
		},
	})
	if err != nil {
		close(known)
		go c.answered(in)
		return
	}
	id = call.ID()
	close(known)
	c.asks.remember(x, id)
	table.Dispatch(id)
	frame := codec.AppendRequest(nil, id, e.Method, e.Frame)
	if err := c.out.write(x, &mcp.Effect{Kind: mcp.Ask, Exchange: x, Frame: frame}, nil); err != nil {
		c.later.drops = append(c.later.drops, id)
	}
}

// answered tells the reducer what became of an ask.
func (c *Connection) answered(in mcp.Answered) {
	c.mu.Lock()
	defer c.unlock()
	c.step(in)
}

// withdraw tells the client that nobody waits for its answer any more.
func (c *Connection) withdraw(x mcp.ExchangeID, id codec.ID) {
	c.mu.Lock()
	defer c.unlock()
	c.writeWithdrawal(x, id)
}

func (c *Connection) writeWithdrawal(x mcp.ExchangeID, id codec.ID) {
	params := append(id.Append([]byte(`{"requestId":`)), '}')
	frame := codec.AppendNotification(nil, mcp.NoteCancelled, params)
	_ = c.out.write(x, &mcp.Effect{Kind: mcp.Write, Exchange: x, Frame: frame}, nil)
}

func (a *asks) remember(x mcp.ExchangeID, id codec.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[x] = append(a.open[x], id)
}

func (a *asks) forget(x mcp.ExchangeID, id codec.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := a.open[x]
	for i := range ids {
		if ids[i] == id {
			ids = append(ids[:i:i], ids[i+1:]...)
			break
		}
	}
	if len(ids) == 0 {
		delete(a.open, x)
		return
	}
	a.open[x] = ids
}

// drop withdraws what was asked for an exchange. c.mu is held.
func (a *asks) drop(c *Connection, x mcp.ExchangeID) {
	a.mu.Lock()
	ids := a.open[x]
	delete(a.open, x)
	a.mu.Unlock()
	for _, id := range ids {
		c.writeWithdrawal(x, id)
		c.later.drops = append(c.later.drops, id)
	}
}

// settle gives answers to the calls that wait for them, and cancels what was
// dropped. It runs outside the connection's lock.
func (a *asks) settle(c *Connection, answers []answer, drops []codec.ID) {
	if len(answers) == 0 && len(drops) == 0 {
		return
	}
	a.mu.Lock()
	table := a.pend
	a.mu.Unlock()
	for _, r := range answers {
		found := false
		switch {
		case table == nil:
		case r.err != nil:
			found = table.Reject(r.id, r.err)
		default:
			found = table.Resolve(r.id, r.result)
		}
		if !found {
			c.server.counts.late.Add(1)
			c.server.stray(Stray{Reason: StrayLate, Frame: []byte(r.id.String())})
		}
	}
	for _, id := range drops {
		table.Cancel(id, nil)
	}
}

// fail ends all calls: no answer can come any more.
func (a *asks) fail(err error) {
	a.mu.Lock()
	table := a.pend
	a.mu.Unlock()
	if table != nil {
		table.FailAll(err, true)
	}
}
