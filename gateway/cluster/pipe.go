package cluster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// pipe is one end of a way between two nodes. Each end has an inbox; what one sends is
// published to a subject in the other's, whose last token says what it is:
//
//	f  a frame, or the end of one that came in parts
//	p  a part of a frame, more to come
//	b  a sign of life
//	r  the server is open
//	s  the server is about to be somewhere else: no new calls
//	a  there will be none any more
//	x  a call that has no answer of the server, with why
//	e  the end, with why
//
// The last token of the reply subject, in the sender's own inbox, is the number of
// the message, from 1; signs of life repeat the last one, so that a loss at the very
// end is noticed, too. NATS keeps the order of what one node sends, and says at once,
// to the reply subject, when nobody listens. A number that is missing ends the pipe:
// calls fail, which is better than a call that nobody will answer.
type pipe struct {
	n       *Node
	own, to string // inboxes
	peer    string // the other node's name
	sub     *nats.Subscription
	receive func(m *codec.Message)
	refused func(m *codec.Message, err error)
	failed  func(f *failure) // nil where no calls are answered
	gone    func(err error)
	ready   func() // the server is open
	yield   func() // no new calls are to be sent
	quiet   func() // none will come
	queued  atomic.Int64
	heard   atomic.Int64 // when the peer was last heard, since n.begun

	mu     sync.Mutex // guards the fields below
	last   uint64     // number of the last message that was sent
	opened bool       // it counts among those of the node
	ended  bool
	why    error // that it ended

	in        sync.Mutex // guards the fields below, and is held while a message is taken
	arrived   uint64     // number of the last message that came
	assembled []byte     // parts
	over      bool       // nothing is taken any more
}

// Kinds of messages.
const (
	kindFrame = "f"
	kindPart  = "p"
	kindBeat  = "b"
	kindReady = "r"
	kindYield = "s"
	kindQuiet = "a"
	kindFail  = "x"
	kindEnd   = "e"
	// tokenBeat ends the reply subject of signs of life.
	tokenBeat = "b"
)

// lost is the error for a peer that is no more.
func lost(peer, why string) error { return fmt.Errorf("%w: node %q: %s", ErrGone, peer, why) }

// goneError is link.ErrGone with why in its place.
type goneError struct{ why error }

func (e *goneError) Error() string   { return e.why.Error() }
func (e *goneError) Unwrap() []error { return []error{link.ErrGone, e.why} }

// listen opens this end; open follows when the other one is known.
func (p *pipe) listen() error {
	p.own = p.n.o.Prefix + ".way." + random()
	p.heard.Store(int64(time.Since(p.n.begun)))
	sub, err := p.n.nc.Subscribe(p.own+".*", p.arrive)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	p.sub = sub
	return sub.SetPendingLimits(-1, max(2*int(p.n.o.WriteBuffer), 2*p.n.o.MaxFrame))
}

// open begins the signs of life, to the other end's inbox. False says that the node is
// closed.
func (p *pipe) open(to string) bool {
	n := p.n
	n.mu.Lock()
	defer n.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.closed || p.ended {
		return false
	}
	p.opened, p.to = true, to
	n.pipes[p] = struct{}{}
	n.work.Add(1)
	return true
}

// send publishes a frame, in parts if it is longer than NATS takes.
func (p *pipe) send(f *link.Frame) error {
	data := f.AppendTo(nil)
	if len(data) > p.n.o.MaxFrame {
		return fmt.Errorf("%w: %d bytes, and %d are allowed between nodes", ErrTooLarge, len(data), p.n.o.MaxFrame)
	}
	if p.queued.Add(int64(len(data))) > p.n.o.WriteBuffer && f.Class != link.Answer || p.queued.Load() > 2*p.n.o.WriteBuffer {
		p.queued.Add(-int64(len(data)))
		return link.ErrFull
	}
	most := int(p.n.nc.MaxPayload())
	if set := p.n.o.MaxPayload; set > 0 && set < most {
		most = set
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		p.queued.Add(-int64(len(data)))
		return &goneError{p.why}
	}
	for len(data) > most {
		p.put(kindPart, data[:most])
		data = data[most:]
	}
	p.put(kindFrame, data)
	return nil
}

// put numbers one message and queues it; p.mu is held, so that numbers are in order.
func (p *pipe) put(kind string, data []byte) {
	p.last++
	p.n.out.put(letter{p, p.to + "." + kind, p.own + "." + strconv.FormatUint(p.last, 10), data})
}

// tell sends a message without a frame.
func (p *pipe) tell(kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.queued.Add(int64(len(text)))
		p.put(kind, []byte(text))
	}
}

// beat gives a sign of life, and ends a pipe whose peer has given none for too long.
func (p *pipe) beat() {
	silent := time.Since(p.n.begun) - time.Duration(p.heard.Load())
	if silent > p.n.o.silent() {
		p.end(lost(p.peer, fmt.Sprintf("nothing was heard of it for %v", silent.Round(time.Millisecond))), false)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		last := strconv.AppendUint(nil, p.last, 10)
		p.queued.Add(int64(len(last)))
		p.n.out.put(letter{p, p.to + "." + kindBeat, p.own + "." + tokenBeat, last})
	}
}

// arrive takes one message of the peer, or what NATS says of one of ours.
func (p *pipe) arrive(m *nats.Msg) {
	p.in.Lock()
	defer p.in.Unlock()
	if p.over {
		return
	}
	kind := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if m.Header.Get("Status") == "503" {
		// Nobody listens: the other process has gone, or is not back after a restart
		// of NATS. A frame is lost either way.
		if kind != tokenBeat || p.n.settled() {
			p.end(lost(p.peer, "its process has ended or has lost NATS"), false)
		}
		return
	}
	p.heard.Store(int64(time.Since(p.n.begun)))
	switch kind {
	case kindFrame, kindPart, kindReady, kindYield, kindQuiet, kindFail, kindEnd:
		number, err := strconv.ParseUint(m.Reply[strings.LastIndexByte(m.Reply, '.')+1:], 10, 64)
		if err != nil {
			return // nobody of ours
		}
		if p.arrived++; number != p.arrived && kind != kindEnd {
			p.end(lost(p.peer, "NATS has lost messages of it"), true)
			return
		}
		p.take(kind, m.Data)
	case kindBeat:
		if last, err := strconv.ParseUint(string(m.Data), 10, 64); err == nil && last != p.arrived {
			p.end(lost(p.peer, "NATS has lost messages of it"), true)
		}
	}
}

func (p *pipe) take(kind string, data []byte) {
	switch kind {
	case kindEnd:
		p.end(fmt.Errorf("node %q: %s", p.peer, data), false)
	case kindFail:
		var f failure
		if json.Unmarshal(data, &f) == nil && p.failed != nil {
			p.failed(&f)
		}
	case kindReady:
		if p.ready != nil {
			p.ready()
		}
	case kindYield:
		if p.yield != nil {
			p.yield()
		}
	case kindQuiet:
		if p.quiet != nil {
			p.quiet()
		}
	default:
		if len(p.assembled)+len(data) > p.n.o.MaxFrame {
			p.end(lost(p.peer, fmt.Sprintf("it sent a message of more than %d bytes", p.n.o.MaxFrame)), true)
			return
		}
		if kind == kindPart {
			p.assembled = append(p.assembled, data...)
			return
		}
		if len(p.assembled) > 0 {
			data = append(p.assembled, data...)
			p.assembled = nil
		}
		m, err := codec.Parse(data, codec.ScanOptions{})
		if err != nil {
			p.refused(&m, err)
			return
		}
		p.receive(&m)
	}
}

// end closes this end, once. tell says whether the other is told why.
func (p *pipe) end(why error, tell bool) {
	if why == nil {
		why = ErrClosed
	}
	p.mu.Lock()
	first, opened := !p.ended, p.opened
	if first {
		p.ended, p.why = true, why
	}
	if first && tell && p.to != "" {
		text := []byte(why.Error())
		p.queued.Add(int64(len(text)))
		p.put(kindEnd, text)
	}
	p.mu.Unlock()
	if first {
		// Not here: this may be the subscription's own goroutine.
		go p.finish(why, opened)
	}
}

// finish lets the receiver know, when it is told nothing else any more.
func (p *pipe) finish(why error, opened bool) {
	n := p.n
	_ = p.sub.Unsubscribe()
	p.in.Lock()
	p.over = true
	p.in.Unlock()
	p.gone(why)
	if opened {
		n.mu.Lock()
		delete(n.pipes, p)
		n.mu.Unlock()
		n.work.Done()
	}
}
