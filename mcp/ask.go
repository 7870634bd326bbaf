package mcp

// object gives the params of a request as an object: what is none counts as empty.
func (r InputRequest) object() []byte {
	if text, err := compact(r.Params); err == nil && isObject(text) {
		return text
	}
	return emptyObject
}

// askClient puts the questions to a client of the older era. Its exchange stays
// open, and the handler runs again when they are answered.
func (x *step) askClient(e *exchange, c *call, keys []string, in *InputRequired) {
	if c.run.Round() >= x.s.options.MaxRounds || e.runs >= mostRuns {
		x.fail(e, c, failRounds)
		return
	}
	c.asks = &asks{open: make(map[string]struct{}, len(keys)), state: in.State}
	if len(keys) == 0 {
		x.again(e, c)
		return
	}
	for _, key := range keys {
		c.asks.open[key] = struct{}{}
		x.ask(Effect{
			Kind: Ask, Exchange: e.id, Invocation: c.run.id, Key: key,
			Method: in.Requests[key].Method, Frame: in.Requests[key].object(),
		})
	}
}

// answered takes an answer of the client. When it is the last one, the handler runs
// again; when it is none, the request fails, and the other questions are withdrawn.
func (x *step) answered(in *Answered) {
	e, c := x.s.liveCall(in.Invocation)
	if c == nil || c.asks == nil || !x.s.session.ready { // what is held was not asked
		return
	}
	if _, open := c.asks.open[in.Key]; !open {
		return
	}
	delete(c.asks.open, in.Key)
	result, err := compact(in.Result)
	if err != nil || !isObject(result) {
		if len(c.asks.open) > 0 {
			x.out = append(x.out, Effect{Kind: Cancel, Exchange: e.id, Invocation: c.run.id})
		}
		x.fail(e, c, failInput)
		return
	}
	c.asks.got = append(c.asks.got, keyed{in.Key, result})
	if len(c.asks.open) == 0 {
		x.again(e, c)
	}
}

// again runs a handler with what the client answered.
func (x *step) again(e *exchange, c *call) {
	v := *c.run
	v.before = &round{number: v.Round() + 1, state: c.asks.state, inputs: c.asks.got}
	c.run, c.asks = &v, nil
	x.start(e, &v)
}
