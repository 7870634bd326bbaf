package sourcegraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// library is the *jsonrpc2.Conn that handlers get, and the stream under it: what it
// writes goes out by our connection, what it reads are the answers to its calls.
type library struct {
	c    *Conn
	conn func() *jsonrpc2.Conn
	some chan struct{} // a token while answers may be there

	mu      sync.Mutex
	answers [][]byte
}

func newLibrary(c *Conn) *library {
	l := &library{c: c, some: make(chan struct{}, 1)}
	l.conn = sync.OnceValue(func() *jsonrpc2.Conn {
		var opts []jsonrpc2.ConnOpt
		if c.o.logger != nil {
			opts = append(opts, jsonrpc2.SetLogger(c.o.logger))
		}
		return jsonrpc2.NewConn(c.ctx, l, nil, opts...) // nothing is asked of it
	})
	return l
}

// WriteObject takes a message that a handler sends.
func (l *library) WriteObject(obj any) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var kind struct {
		Method *string `json:"method"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.Method == nil {
		var resp jsonrpc2.Response
		if err := json.Unmarshal(text, &resp); err != nil {
			return err
		}
		return l.c.SendResponse(l.c.ctx, &resp)
	}
	m, err := outgoing(text)
	if err != nil {
		return err
	}
	if m.notif {
		return l.c.notify(l.c.ctx, m)
	}
	_, err = l.c.dispatch(l.c.ctx, m, func(p *pending) { l.answered(m.id, p) })
	return err
}

// answered hands the library the answer to a call of its. Calls that fail with the
// connection fail when ReadObject says that it has ended.
func (l *library) answered(id []byte, p *pending) {
	var text []byte
	switch e, ok := errors.AsType[*codec.Error](p.err); {
	case p.err == nil:
		text = codec.AppendResult(nil, id, p.value)
	case errors.Is(p.err, conn.ErrClosed):
		return
	case ok:
		text = codec.AppendError(nil, id, e)
	default:
		text = codec.AppendError(nil, id, &codec.Error{Code: codec.CodeInternal, Message: p.err.Error()})
	}
	l.mu.Lock()
	l.answers = append(l.answers, text)
	l.mu.Unlock()
	select {
	case l.some <- struct{}{}:
	default:
	}
}

// ReadObject waits for an answer.
func (l *library) ReadObject(v any) error {
	for {
		if text := l.next(); text != nil {
			return json.Unmarshal(text, v)
		}
		select {
		case <-l.some:
		case <-l.c.ended:
			if text := l.next(); text != nil {
				return json.Unmarshal(text, v)
			}
			return io.EOF
		}
	}
}

func (l *library) next() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.answers) == 0 {
		return nil
	}
	text := l.answers[0]
	l.answers = l.answers[1:]
	return text
}

// Close ends the connection: a handler wants it.
func (l *library) Close() error { return l.c.Close() }

// probe is a *jsonrpc2.Conn whose messages go nowhere. It applies call options,
// which the library alone can.
type probe struct {
	conn *jsonrpc2.Conn
	end  chan struct{}

	mu   sync.Mutex // held while it is used
	text []byte
}

// errTaken ends each call of a probe once its message is there.
var errTaken = errors.New("sourcegraph: message taken")

func newProbe(ctx context.Context) *probe {
	p := &probe{end: make(chan struct{})}
	p.conn = jsonrpc2.NewConn(ctx, p, nil)
	return p
}

// WriteObject implements jsonrpc2.ObjectStream.
func (p *probe) WriteObject(obj any) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	p.text = text
	return errTaken
}

// ReadObject implements jsonrpc2.ObjectStream.
func (p *probe) ReadObject(any) error { <-p.end; return io.EOF }

// Close implements jsonrpc2.ObjectStream.
func (p *probe) Close() error { close(p.end); return nil }

func (p *probe) call(ctx context.Context, method string, params any, opts []jsonrpc2.CallOption) (message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.conn.DispatchCall(ctx, method, params, opts...)
	return p.take(err)
}

func (p *probe) notification(ctx context.Context, method string, params any, opts []jsonrpc2.CallOption) (message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(p.conn.Notify(ctx, method, params, opts...))
}

func (p *probe) take(err error) (message, error) {
	switch {
	case err == nil:
		return message{}, fmt.Errorf("sourcegraph: the library wrote nothing")
	case !errors.Is(err, errTaken):
		return message{}, err
	}
	return outgoing(p.text)
}
