package upstream

import (
	"context"
	"errors"
	"sync"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// httpWay is one way to an endpoint: a session of the older era, or none. A call is a
// goroutine that reads its response, since that is what package http has.
type httpWay struct {
	opener *httpOpener
	owner  link.Owner
	wire   *client.Wire
	work   sync.WaitGroup // calls, and who posts notes
	end    sync.Once

	mu    sync.Mutex // guards the fields below
	calls map[int64]*posting
	ready chan struct{} // closed unless the server is being told that it is initialized
	notes notes
	ended bool
	// modern and older say what the server was found to speak. A modern request to one
	// that is of the older era alone goes as that: in its session.
	modern, older bool
}

var (
	_ link.Upstream = (*httpWay)(nil)
	_ link.Adopter  = (*httpWay)(nil)
	_ link.Streamer = (*httpWay)(nil)
)

// Adopt implements link.Adopter.
func (u *httpWay) Adopt(revision string) {
	r := mcp.Revision(revision)
	u.mu.Lock()
	u.modern = u.modern || r.IsModern()
	u.older = u.older || r != "" && !r.IsModern()
	u.mu.Unlock()
	u.wire.Adopt(r)
}

// revisionOf is the revision that m names itself, if the server knows that one's era.
func (u *httpWay) revisionOf(m *codec.Message) mcp.Revision {
	u.mu.Lock()
	olderOnly := u.older && !u.modern
	u.mu.Unlock()
	if olderOnly {
		return ""
	}
	return revisionOf(m)
}

// Streams implements link.Streamer.
func (u *httpWay) Streams() bool { return true }

// Send implements link.Upstream.
func (u *httpWay) Send(f *link.Frame, _ *link.Burst) error {
	frame := f.AppendTo(nil)
	m, err := codec.Parse(frame, codec.ScanOptions{Profile: codec.JSONRPC, MaxDepth: u.opener.o.Wire.MaxDepth}) // ids are the gateway's, or the server's
	if err != nil {
		return err
	}
	if f.Call == 0 {
		return u.sendNote(&m)
	}
	x := newPosting(u, f.Call, &m)
	u.mu.Lock()
	if u.ended {
		u.mu.Unlock()
		x.stop()
		return link.ErrGone
	}
	u.calls[f.Call] = x
	u.work.Add(1)
	ready := u.ready
	u.mu.Unlock()
	go x.run(ready)
	return nil
}

// Cancel implements link.Upstream. A modern server knows by the end of the request; an
// older one is told.
func (u *httpWay) Cancel(call int64, c link.Cancel) {
	u.mu.Lock()
	x := u.calls[call]
	u.mu.Unlock()
	if x == nil {
		return
	}
	if x.isModern() {
		x.stop()
		return
	}
	var note []byte
	if c.Note != nil {
		note = c.Note.AppendTo(nil)
	} else {
		params := append(codec.IntID(call).Append([]byte(`{"requestId":`)), '}')
		note = codec.AppendNotification(nil, mcp.NoteCancelled, params)
	}
	x.cancel(note)
}

// End implements link.Upstream.
func (u *httpWay) End(why error) {
	u.end.Do(func() {
		u.mu.Lock()
		u.ended = true
		u.mu.Unlock()
		go func() {
			_ = u.wire.Close() // which ends every request
			u.work.Wait()
			u.opener.left()
			u.owner.Gone(why)
		}()
	})
}

// heard takes what comes on the session's own stream.
func (u *httpWay) heard(m *codec.Message) { _ = u.owner.Receive(nil, m) } // counted there

func (u *httpWay) hasEnded() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

func (u *httpWay) forget(call int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, call)
}

// posting is one call on its way.
type posting struct {
	way      *httpWay
	call     int64
	method   string
	frame    []byte
	revision mcp.Revision // as the request says itself, or ""
	ctx      context.Context
	stop     context.CancelFunc

	mu      sync.Mutex // guards the fields below
	written bool       // the server may have it
	over    bool       // nobody waits any more
	note    []byte     // that says so, for when it has been written
}

func newPosting(u *httpWay, call int64, m *codec.Message) *posting {
	x := &posting{way: u, call: call, method: string(m.Method()), frame: m.Frame(), revision: u.revisionOf(m)}
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

// isModern reports whether the end of the request is what cancels it.
func (x *posting) isModern() bool {
	if x.revision != "" {
		return x.revision.IsModern()
	}
	return x.way.wire.Revision().IsModern()
}

// run makes the request. ready is closed when it may begin.
func (x *posting) run(ready <-chan struct{}) {
	u := x.way
	defer u.work.Done()
	defer x.stop()
	defer u.forget(x.call)
	select {
	case <-ready:
	case <-x.ctx.Done():
		return
	}
	if !u.owner.Dispatch(x.call) {
		return
	}
	headers, err := u.opener.headers(x.method, x.frame)
	if err != nil {
		x.refused(codec.AppendError(nil, codec.IntID(x.call).Append(nil), &codec.Error{
			Code: codec.CodeInvalidRequest, Message: "invalid request: an argument that is repeated in a header stands twice",
		}))
		return
	}
	err = u.wire.Exchange(x.ctx, &client.Posting{
		Method: x.method, Frame: x.frame, Revision: x.revision, Headers: headers,
		Written: x.wrote, Receive: x.receive, Refused: x.refused,
	})
	if err == nil || x.ctx.Err() != nil || u.hasEnded() {
		return // answered, or nobody waits, or the call ends with the way, which says why
	}
	if answered, ok := errors.AsType[*codec.Error](err); ok {
		x.refused(codec.AppendError(nil, codec.IntID(x.call).Append(nil), answered))
		return
	}
	u.owner.Fail(x.call, plainly(err))
	if errors.Is(err, client.ErrSessionEnded) {
		u.End(plainly(err)) // the server knows none of its calls any more
	}
}

// receive takes a message of the call's own response.
func (x *posting) receive(m *codec.Message) (answered bool) {
	if m.Kind == codec.KindResult && x.method == mcp.MethodListTools {
		x.way.opener.tools.Learn("", m.Result())
	}
	_ = x.way.owner.ReceiveFor(x.call, nil, m) // counted there
	if !m.Kind.IsResponse() {
		return false
	}
	id, ok := m.ID().Int()
	return ok && id == x.call || m.Kind == codec.KindError && m.IDKind <= codec.IDNull
}

// refused takes the body of a response that is no success.
func (x *posting) refused(body []byte) (answered bool) {
	m, err := codec.Parse(body, codec.ScanOptions{MaxDepth: x.way.opener.o.Wire.MaxDepth})
	return err == nil && m.Kind == codec.KindError && x.receive(&m)
}

// wrote notes that the server may have the request.
func (x *posting) wrote() {
	x.mu.Lock()
	x.written = true
	note := x.note
	x.mu.Unlock()
	if note != nil {
		x.way.post(note)
	}
}

// cancel ends the request and says so by note, which must not overtake it.
func (x *posting) cancel(note []byte) {
	x.mu.Lock()
	first := !x.over
	x.over = true
	written := x.written
	if !written {
		x.note = note
	}
	x.mu.Unlock()
	if first && written {
		x.way.post(note)
	}
	x.stop()
}
