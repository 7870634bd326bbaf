package mcp

// Step is the protocol: what one input makes of a connection. It appends the
// effects to the slice given, in the order in which they are to be carried out,
// and returns it. It has no clock, no I/O and no randomness: the same inputs give
// the same effects. It keeps nothing of the input but copies.
//
// Step may be called by one goroutine at a time for one State. It never panics
// because of what a peer or a handler did.
func Step(s *State, in Input, effects []Effect) []Effect {
	x := step{s: s, out: effects}
	switch in := in.(type) {
	case Received:
		x.received(&in)
	case Finished:
		x.finished(in.Invocation, &in.Outcome)
	case Progressed:
		x.progressed(in.Invocation, &in.Progress)
	case Logged:
		x.logged(in.Invocation, &in.Message)
	case Crashed:
		x.failed(in.Invocation, failInternal)
	case TimedOut:
		x.failed(in.Invocation, failTimeout)
	case ExchangeClosed:
		x.exchangeClosed(in.Exchange)
	case Notify:
		x.notify(in.Notification)
	case RegisterTool:
		x.registerTool(&in.Tool)
	case UnregisterTool:
		x.unregisterTool(in.Name)
	case EndStreams:
		x.endStreams()
	case Answered:
		x.answered(&in)
	}
	s.check(x.out[len(effects):])
	return x.out
}

// step is one call of Step.
type step struct {
	s   *State
	out []Effect
}

// write sends an answer or a notification.
func (x *step) write(e ExchangeID, frame []byte, final bool) {
	x.out = append(x.out, Effect{Kind: Write, Exchange: e, Frame: frame, Final: final})
}

// closed says that nothing follows, and remembers the exchange.
func (x *step) closed(id ExchangeID, c Correlation) {
	x.out = append(x.out, Effect{Kind: Close, Exchange: id, Correlation: c})
	x.s.remember(id)
}

// end closes an exchange that was open.
func (x *step) end(e *exchange) {
	id, c := e.id, e.correlation
	x.s.release(e)
	x.closed(id, c)
}

func (x *step) registerTool(t *ServerTool) {
	server, err := x.s.server.withTool(*t)
	if err != nil {
		return // a duplicate, or no tool: nothing changes
	}
	x.s.server = server
	x.notify(Notification{Kind: ToolsChanged})
}

func (x *step) unregisterTool(name string) {
	if server, ok := x.s.server.withoutTool(name); ok {
		x.s.server = server
		x.notify(Notification{Kind: ToolsChanged})
	}
}

func (x *step) exchangeClosed(id ExchangeID) {
	e, known := x.s.lookup(id)
	if !known {
		if id > 0 {
			x.s.highest = max(x.s.highest, id)
			x.s.remember(id) // a frame that still comes for it has no effect
		}
		return
	}
	if e == nil {
		return
	}
	e.each(func(c *call) { x.cancel(c) })
	x.end(e)
}

// cancel signals the handler of a call.
func (x *step) cancel(c *call) {
	if c.run != nil {
		x.out = append(x.out, Effect{Kind: Cancel, Exchange: c.run.Exchange(), Invocation: c.run.id})
		x.s.unhold(c.run.id)
		c.run = nil
	}
}
