package mcp

// exchange is a frame that is being answered: a request, a batch of them or a
// subscription. Records are used again, so nothing keeps a pointer to one beyond
// the step in which it is closed.
type exchange struct {
	id          ExchangeID
	place       int32 // in State.records
	next, prev  *exchange
	in          *list
	runs        uint16 // how many invocations it made
	correlation Correlation
	call        call    // the request, unless batch or stream is set
	batch       *batch  // the requests of a batch
	stream      *stream // a subscription
}

// call is a request whose handler runs, or waits for the client's input.
type call struct {
	run *Invocation // nil when it is answered, or was cancelled
	// latest is the last progress that was written, if any was.
	latest   float64
	reported bool
	asks     *asks  // open questions to the client, older era
	answer   []byte // of a batch's part
}

// batch is a batch of the revision 2025-03-26.
type batch struct {
	parts []call
	whole bool // all of its messages were admitted or refused
}

// asks are the questions that one round of a call put to the client.
type asks struct {
	open  map[string]struct{} // keys that are not answered
	got   []keyed
	state string
}

// each visits the calls of e that are not answered.
func (e *exchange) each(visit func(*call)) {
	if e.batch == nil {
		if e.call.run != nil {
			visit(&e.call)
		}
		return
	}
	for i := range e.batch.parts {
		if c := &e.batch.parts[i]; c.run != nil {
			visit(c)
		}
	}
}

// find gives the call that an invocation runs for.
func (e *exchange) find(id InvocationID) *call {
	var found *call
	e.each(func(c *call) {
		if c.run.id == id {
			found = c
		}
	})
	return found
}

// nextRun takes an id for another invocation.
func (e *exchange) nextRun() InvocationID {
	e.runs++
	return invocationOf(e.id, e.runs)
}

// live gives the exchange and the call of an invocation, nil when it is over.
func (s *State) liveCall(id InvocationID) (*exchange, *call) {
	e, _ := s.lookup(id.Exchange())
	if e == nil {
		return nil, nil
	}
	c := e.find(id)
	if c == nil {
		return nil, nil
	}
	return e, c
}

// open makes the record of an exchange, in no list yet.
func (s *State) open(id ExchangeID, c Correlation) *exchange {
	e := s.free
	if e == nil {
		e = &exchange{place: int32(len(s.records))}
		s.records = append(s.records, e)
	} else {
		s.free = e.next
	}
	e.id, e.correlation, e.next = id, c, nil
	s.known[id] = e.place
	return e
}

// gone is what known holds for an exchange that is closed and remembered.
const gone = -1

// lookup gives the record of an exchange, nil when it is closed, and whether it is
// known at all.
func (s *State) lookup(id ExchangeID) (e *exchange, known bool) {
	place, known := s.known[id]
	if !known || place == gone {
		return nil, known
	}
	return s.records[place], true
}

// release gives the record back. The exchange stays known until remember.
func (s *State) release(e *exchange) {
	e.in.remove(e)
	// One by one: most are nil, and writing a pointer costs while the collector runs.
	e.call.run, e.call.reported, e.runs = nil, false, 0
	if e.call.asks != nil {
		e.call.asks = nil
	}
	if e.batch != nil {
		e.batch = nil
	}
	if e.stream != nil {
		e.stream = nil
	}
	e.next, s.free = s.free, e
}

// remember notes a closed exchange, and forgets the oldest quarter when there are
// too many.
func (s *State) remember(id ExchangeID) {
	if s.options.MaxClosed == 0 {
		delete(s.known, id)
		return
	}
	s.known[id] = gone
	s.closed = append(s.closed, id)
	if len(s.closed) <= s.options.MaxClosed {
		return
	}
	drop := len(s.closed) - s.options.MaxClosed*3/4
	for _, old := range s.closed[:drop] {
		delete(s.known, old)
	}
	s.closed = s.closed[:copy(s.closed, s.closed[drop:])]
}

// list is a doubly linked list of exchanges.
type list struct {
	first, last *exchange
	n           int
}

func (l *list) append(e *exchange) {
	e.in, e.prev, e.next = l, l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.n++
}

func (l *list) prepend(e *exchange) {
	e.in, e.prev, e.next = l, nil, l.first
	if l.first == nil {
		l.last = e
	} else {
		l.first.prev = e
	}
	l.first = e
	l.n++
}

func (l *list) remove(e *exchange) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.in, e.prev, e.next = nil, nil, nil
	l.n--
}
