package sourcegraph

import (
	"encoding/json"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/conn"
)

// DefaultBacklog is how many requests and notifications wait for the handler,
// where With says nothing. When as many wait the connection reads no further, as
// the library does while a single one is handled.
const DefaultBacklog = 1024

// Option is an option of NewConn.
type Option func(*options)

type options struct {
	conn   conn.Options
	onRecv []func(*jsonrpc2.Request, *jsonrpc2.Response)
	onSend []func(*jsonrpc2.Request, *jsonrpc2.Response)
	logger jsonrpc2.Logger
}

// With sets options of the connection. Profile is JSON-RPC 2.0 unless it is
// codec.LSP, with which a call that is given up is cancelled at the peer by
// $/cancelRequest and a request that the peer cancels is answered at once. Handler,
// Inline and Overflow are the adapter's own, Framer is the stream's. Timeout zero
// and negative are none, MaxPending zero and negative as many as a table can hold.
// MaxQueued is how many requests may be unanswered (zero 65,536), and bounds the
// backlog of the handler too (zero is DefaultBacklog, negative means one).
func With(o conn.Options) Option { return func(all *options) { all.conn = o } }

// OnRecv is jsonrpc2.OnRecv: f gets every request that comes in, as (req, nil), and
// every answer to a call, as (req, resp). It runs on the reader for answers and must
// not block.
func OnRecv(f func(*jsonrpc2.Request, *jsonrpc2.Response)) Option {
	return func(o *options) { o.onRecv = append(o.onRecv, f) }
}

// OnSend is jsonrpc2.OnSend: f gets every request and notification that was queued,
// as (req, nil), and every answer to the peer before it is, as (nil, resp).
func OnSend(f func(*jsonrpc2.Request, *jsonrpc2.Response)) Option {
	return func(o *options) { o.onSend = append(o.onSend, f) }
}

// SetLogger is jsonrpc2.SetLogger: logger gets what came in and could not be used,
// and what the library's handlers have to say. It must not block, and is called by
// several goroutines.
func SetLogger(logger jsonrpc2.Logger) Option {
	return func(o *options) { o.logger = logger }
}

// LogMessages is jsonrpc2.LogMessages: logger gets every message, in the library's
// words.
func LogMessages(logger jsonrpc2.Logger) Option {
	return func(o *options) {
		o.logger = logger
		l := &messageLog{logger: logger, methods: map[jsonrpc2.ID]string{}}
		OnRecv(l.received)(o)
		OnSend(l.sent)(o)
	}
}

// messageLog writes messages down.
type messageLog struct {
	logger jsonrpc2.Logger

	mu      sync.Mutex
	methods map[jsonrpc2.ID]string // of the peer's requests that were not answered yet
}

func (l *messageLog) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp != nil {
		method := "(no matching request)"
		if req != nil {
			method = req.Method
		}
		l.answer("-->", method, resp)
		return
	}
	if !req.Notif {
		l.mu.Lock()
		l.methods[req.ID] = req.Method
		l.mu.Unlock()
	}
	l.request("-->", req)
}

func (l *messageLog) sent(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp == nil {
		l.request("<--", req)
		return
	}
	l.mu.Lock()
	method := l.methods[resp.ID]
	delete(l.methods, resp.ID)
	l.mu.Unlock()
	if method == "" {
		method = "(no previous request)"
	}
	l.answer("<--", method, resp)
}

func (l *messageLog) request(arrow string, req *jsonrpc2.Request) {
	params, _ := json.Marshal(req.Params) // JSON text already
	if req.Notif {
		l.logger.Printf("jsonrpc2: %s notif: %s: %s\n", arrow, req.Method, params)
		return
	}
	l.logger.Printf("jsonrpc2: %s request #%s: %s: %s\n", arrow, req.ID, req.Method, params)
}

func (l *messageLog) answer(arrow, method string, resp *jsonrpc2.Response) {
	if resp.Error != nil {
		text, _ := json.Marshal(resp.Error)
		l.logger.Printf("jsonrpc2: %s error #%s: %s: %s\n", arrow, resp.ID, method, text)
		return
	}
	text, _ := json.Marshal(resp.Result)
	l.logger.Printf("jsonrpc2: %s result #%s: %s: %s\n", arrow, resp.ID, method, text)
}
