package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

const (
	headerSession  = "Mcp-Session-Id"
	headerVersion  = "MCP-Protocol-Version"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"
	headerLast     = "Last-Event-ID"
	typeJSON       = "application/json"
	typeEvents     = "text/event-stream"
	acceptedByCall = typeJSON + ", " + typeEvents
)

func (l *httpLink) call(ctx context.Context, r *request) ([]byte, error) {
	_, session := l.state()
	text, err := l.attempt(ctx, r)
	if !errors.Is(err, ErrSessionEnded) || r.method == mcp.MethodInitialize {
		return text, err
	}
	// The server did not serve the request, so that it is safe to send it again.
	limit := r.timeout
	if limit == 0 {
		limit = l.c.o.Timeout
	}
	renewing, cancel := l.within(ctx, limit)
	defer cancel()
	if failed := l.renew(renewing, session); failed != nil {
		return nil, fmt.Errorf("%w: %w", err, failed)
	}
	return l.attempt(ctx, r)
}

// renew begins a new session in the place of old, unless somebody did already.
func (l *httpLink) renew(ctx context.Context, old string) error {
	select {
	case l.renews <- struct{}{}:
		defer func() { <-l.renews }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.base.Done():
		return l.engine.Failure()
	}
	if _, now := l.state(); now != old {
		return nil
	}
	return l.c.initialize(ctx, l) // calls go on with the old session meanwhile, and come back here
}

// attempt sends a request once and waits for its end.
func (l *httpLink) attempt(ctx context.Context, r *request) ([]byte, error) {
	call, err := l.engine.Begin(ctx, engine.CallOptions[[]byte]{Method: r.method, Timeout: r.timeout, IdleTimeout: r.idle})
	if err != nil {
		return nil, err
	}
	if call.ID().IsAbsent() { // the link has ended, and so has the call
		return call.Wait(ctx)
	}
	r.id = call.ID()
	x := &exchange{link: l, r: r, id: r.id}
	if err := x.encode(); err != nil {
		call.Cancel(nil)
		call.Discard()
		return nil, fmt.Errorf("client: %s: params: %w", r.method, err)
	}
	// The request lives as long as somebody waits for it, and has the values of
	// the caller's context for whoever traces requests.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(l.base, cancel)()
	l.open(x)
	l.goOn(func() { x.run(life) }) // if the link has ended, so has the call
	text, err := call.Wait(ctx)
	l.shut(x)
	if err != nil {
		l.abandon(x, err)
	}
	return text, err
}

// abandon tells a server of the older era that nobody waits for the answer any
// more; for a modern one the end of the request says so.
func (l *httpLink) abandon(x *exchange, err error) {
	lost, ok := errors.AsType[*engine.CallError](err)
	revision, _ := l.state()
	if !ok || !lost.Sent || lost.Status != engine.Expired && lost.Status != engine.Cancelled ||
		x.r.method == mcp.MethodInitialize || revision.IsModern() {
		return
	}
	params := append(x.id.Append([]byte(`{"requestId":`)), '}')
	l.goOn(func() {
		ctx, stop := context.WithTimeout(l.base, DefaultProbeTimeout)
		defer stop()
		_ = l.notify(ctx, mcp.NoteCancelled, params) // a courtesy: the call has ended either way
	})
}

// exchange is one request on its way.
type exchange struct {
	link  *httpLink
	r     *request
	id    codec.ID
	frame []byte
	sent  atomic.Bool
	feed
}

func (x *exchange) encode() error {
	params := x.r.params
	if x.r.progress != nil {
		var err error
		if params, err = codec.AppendParamsWithToken(nil, params, x.id); err != nil {
			return err
		}
	}
	x.frame = codec.AppendRequest(nil, x.id, x.r.method, params)
	return nil
}

// run sends the request and settles its call with what comes.
func (x *exchange) run(ctx context.Context) {
	err := x.post(ctx)
	if err == nil || ctx.Err() != nil {
		return // settled: by the answer, or by whoever ended ctx
	}
	if _, ok := errors.AsType[*codec.Error](err); !ok {
		age, _ := x.link.engine.Age(x.id)
		err = &engine.CallError{ID: x.id, Method: x.r.method, Status: engine.Failed, Sent: x.sent.Load(), Elapsed: age, Err: err}
	}
	x.link.engine.Reject(x.id, err)
}

// post sends the request and reads the response. It returns nil when the call was
// settled, else why it has to fail.
func (x *exchange) post(ctx context.Context) error {
	l := x.link
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() {
		x.sent.Store(true)
		l.engine.Dispatch(x.id)
	}})
	resp, err := l.post(ctx, x.r.method, x.frame, x.r.headers)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		return l.refused(resp, x.r.method)
	}
	if x.r.method == mcp.MethodInitialize {
		l.setSession(resp.Header.Get(headerSession))
	}
	return x.read(ctx, resp)
}

// post posts one message; method is "" for an answer.
func (l *httpLink) post(ctx context.Context, method string, frame []byte, headers []mcp.ParamHeader) (*http.Response, error) {
	req, err := l.newRequest(ctx, http.MethodPost, frame)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", typeJSON)
	req.Header.Set("Accept", acceptedByCall)
	if method == mcp.MethodInitialize {
		req.Header.Del(headerSession) // it begins another one
		req.Header.Del(headerVersion)
	}
	if revision, _ := l.state(); revision.IsModern() {
		if err := describe(req.Header, frame); err != nil {
			return nil, err
		}
		for _, h := range headers {
			req.Header.Set(h.Name, h.Value)
		}
	}
	return l.do(req)
}

// newRequest makes a request with what every one of them carries.
func (l *httpLink) newRequest(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.t.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range l.t.Header {
		req.Header[name] = values
	}
	revision, session := l.state()
	if revision != "" {
		req.Header.Set(headerVersion, string(revision))
	}
	if session != "" {
		req.Header.Set(headerSession, session)
	}
	return req, nil
}

// describe repeats in headers what a modern request is.
func describe(h http.Header, frame []byte) error {
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		return err
	}
	if !m.Kind.IsResponse() {
		h.Set(headerMethod, string(m.Method()))
	}
	switch method := string(m.Method()); {
	case method == mcp.MethodCallTool, method == mcp.MethodGetPrompt, method == mcp.MethodReadResource:
		var name string
		if codec.DecodeValue(m.Name(), &name) == nil { // else the server says what is wrong
			h.Set(headerName, mcp.EncodeHeader(name))
		}
	case len(method) > len(tasksPrefix) && method[:len(tasksPrefix)] == tasksPrefix:
		var p struct {
			TaskID string `json:"taskId"`
		}
		if codec.DecodeValue(m.Params(), &p) == nil && p.TaskID != "" {
			h.Set(headerName, mcp.EncodeHeader(p.TaskID))
		}
	}
	return nil
}

// tasksPrefix is that of the methods of the tasks extension.
const tasksPrefix = "tasks/"

// notify posts a notification, within the time of a call. Failures are those of one.
func (l *httpLink) notify(ctx context.Context, method string, params []byte) error {
	if err := l.engine.Failure(); err != nil {
		return err
	}
	ctx, cancel := l.within(ctx, l.c.o.Timeout)
	defer cancel()
	defer context.AfterFunc(l.base, cancel)()
	resp, err := l.post(ctx, method, codec.AppendNotification(nil, method, params), nil)
	if err != nil {
		return fmt.Errorf("client: %s: %w", method, err)
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		return l.refused(resp, method)
	}
	if revision, _ := l.state(); method == mcp.NoteInitialized && revision.IsLegacy() {
		l.goOn(l.listen)
	}
	return nil
}

// token is the number in a progress token of ours, which is the id of its call.
func token(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}
