package client

import (
	"bytes"
	"context"
	"net/http"

	"github.com/correlator-go/correlator/codec"
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

// Posting is one message to be posted.
type Posting struct {
	// Method is the message's, "" for an answer. Frame is one JSON text. It is
	// borrowed until Post, or Exchange, has returned.
	Method string
	Frame  []byte
	// Headers are further HTTP headers of a modern request: the arguments of a tool
	// that its schema wants there.
	Headers []mcp.ParamHeader
	// Revision is the one that this message, a modern one, names itself; "" is what
	// Adopt said.
	Revision mcp.Revision
	// Written is called when the request's headers have been written, if ever, by
	// another goroutine. Nil is not told.
	Written func()
	// Heard is called for everything that comes, comments and parts of messages as
	// well: the peer lives. Nil is not told.
	Heard func()
	// Receive gets the messages that come on the request's own stream, in order,
	// each borrowed. It says whether that was what the request waits for. Required by
	// Exchange, and not called by Post.
	Receive func(m *codec.Message) (answered bool)
	// Refused gets the body of a response whose status is no success, borrowed, and
	// says whether that was what the request waits for. Nil leaves it to Exchange's
	// error.
	Refused func(body []byte) (answered bool)
}

// Post posts what is answered by nothing: a notification, an answer to the server. It
// returns when the server has taken it. The error is as that of Exchange. What the
// session's own stream brings is received from when notifications/initialized was
// taken, in the older era.
func (w *Wire) Post(ctx context.Context, p *Posting) error {
	if !w.enter() {
		return ErrWireClosed
	}
	defer w.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.base, cancel)()
	resp, err := w.post(ctx, p)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		return w.refused(resp, p)
	}
	if revision, _ := w.state(); p.Method == mcp.NoteInitialized && revision.IsLegacy() {
		w.goOn(w.listen)
	}
	return nil
}

// post posts one message.
func (w *Wire) post(ctx context.Context, p *Posting) (*http.Response, error) {
	req, err := w.newRequest(ctx, http.MethodPost, p.Frame)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", typeJSON)
	req.Header.Set("Accept", acceptedByCall)
	if p.Method == mcp.MethodInitialize {
		req.Header.Del(headerSession) // it begins another one
		req.Header.Del(headerVersion)
	}
	revision, _ := w.state()
	if p.Revision != "" {
		revision = p.Revision
		req.Header.Set(headerVersion, string(revision))
	}
	if revision.IsModern() || p.Revision != "" {
		req.Header.Del(headerSession) // of a server that serves both eras
		if err := describe(req.Header, p.Frame); err != nil {
			return nil, err
		}
		for _, h := range p.Headers {
			req.Header.Set(h.Name, h.Value)
		}
	}
	return w.do(req)
}

// newRequest makes a request with what every one of them carries.
func (w *Wire) newRequest(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.t.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range w.t.Header {
		req.Header[name] = values
	}
	revision, session := w.state()
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
