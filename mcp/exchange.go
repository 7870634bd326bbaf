package mcp

import "github.com/correlator-go/correlator/codec"

// exchange is a frame that is being answered: a request, a batch of them or a
// subscription. Records are used again, so nothing keeps a pointer to one beyond
// the step in which it is closed.
type exchange struct {
	id          ExchangeID
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
	run *Invocation // nil when it is answered
	// latest is the last progress that was written, if reported.
	latest   float64
	reported bool
	asks     *asks  // open questions to the client, older era
	answer   []byte // of a batch's part
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

// stream is a subscription.
type stream struct {
	rawID  []byte
	id     codec.ID
	filter filter
}

// batch is a batch of the revision 2025-03-26.
type batch struct {
	parts []call
	open  int
}
