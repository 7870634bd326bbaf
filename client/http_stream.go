package client

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

var errResumes = errors.New("client: nothing new on a stream that was taken up again")

// resume takes up the stream behind s where it ended, in the older era: after the
// pause that the server asked for, with the id of the last event.
func (l *httpLink) resume(ctx context.Context, s *events) (*http.Response, error) {
	for n := s.stale(); ; n++ {
		if l.t.MaxResumes < 0 || n >= l.t.MaxResumes {
			return nil, errResumes
		}
		if err := l.pause(ctx, s); err != nil {
			return nil, err
		}
		resp, err := l.get(ctx, s.last)
		if err == nil {
			return resp, nil
		}
		if failure, ok := errors.AsType[*HTTPError](err); ok && failure.StatusCode < http.StatusInternalServerError || ctx.Err() != nil {
			return nil, err
		}
	}
}

// pause waits as long as the server wants, or as the user does.
func (l *httpLink) pause(ctx context.Context, s *events) error {
	d := s.retry
	if d < 0 {
		d = l.t.ResumeDelay
	}
	if d <= 0 {
		return ctx.Err()
	}
	elapsed := make(chan struct{})
	defer l.c.clock().AfterFunc(d, func() { close(elapsed) }).Stop()
	select {
	case <-elapsed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get opens a stream of the server's, behind the event named last if there is one.
func (l *httpLink) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := l.newRequest(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", typeEvents)
	if last != "" {
		req.Header.Set(headerLast, last)
	}
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer discard(resp)
		return nil, l.refused(resp, http.MethodGet)
	}
	return resp, nil
}

// listen holds open the stream on which a server of the older era sends what
// belongs to no call, as long as the server has one.
func (l *httpLink) listen() {
	ctx, session := l.listening()
	s := newEvents(http.NoBody, l.maxFrame)
	resp, err := l.get(ctx, "")
	for err == nil {
		s.reset(resp.Body)
		l.hear(s)
		discard(resp)
		if _, now := l.state(); now != session {
			return // the new session has a stream of its own
		}
		resp, err = l.resume(ctx, s)
	}
}

// listening makes the stream of the session the only one: a server may leave that
// of a session that it ended open for ever.
func (l *httpLink) listening() (ctx context.Context, session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unlisten != nil {
		l.unlisten()
	}
	ctx, l.unlisten = context.WithCancel(l.base)
	return ctx, l.session
}

// hear takes what comes on a stream until it ends. A bad event harms no other.
func (l *httpLink) hear(s *events) {
	for {
		data, err := s.next()
		if err != nil {
			return
		}
		m, err := codec.Parse(data, codec.ScanOptions{MaxDepth: l.c.o.Conn.MaxDepth})
		if err != nil {
			continue
		}
		if !m.Kind.IsResponse() {
			l.other(&m)
			continue
		}
		// The answer to a call whose own stream broke.
		if failure := m.Err(); failure != nil {
			l.engine.Reject(m.ID(), failure)
		} else {
			l.engine.Resolve(m.ID(), bytes.Clone(m.Result()))
		}
	}
}

// requested serves a request of the server, of the older era. What exceeds the
// limits is answered at once.
func (l *httpLink) requested(m *codec.Message) {
	var (
		key    = string(m.RawID())
		method = string(m.Method())
		params = bytes.Clone(m.Params())
	)
	size := int64(len(key) + len(method) + len(params))
	switch l.asked.enter(size) {
	case full:
		if !l.goOn(func() {
			defer l.asked.refused()
			l.reply(l.base, key, nil, &codec.Error{Code: codec.CodeInternal, Message: "overloaded"})
		}) {
			l.asked.refused()
		}
		return
	case flooded:
		return
	}
	ctx, cancel := context.WithCancel(l.base)
	l.mu.Lock()
	_, twice := l.serving[key]
	if !twice {
		l.serving[key] = cancel
	}
	l.mu.Unlock()
	if twice { // an answer would end the first at the server
		l.asked.leave(size)
		cancel()
		return
	}
	finish := func() {
		l.asked.leave(size)
		l.mu.Lock()
		delete(l.serving, key)
		l.mu.Unlock()
		cancel()
	}
	if !l.goOn(func() {
		defer finish()
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return
		}
		result, failure := l.c.serve(ctx, method, params)
		if ctx.Err() == nil { // a request that was withdrawn is not answered
			l.reply(ctx, key, result, failure)
		}
	}) {
		finish()
	}
}

// reply posts the answer to a request of the server, within the time of a call: a
// server that takes none must not keep the place for ever.
func (l *httpLink) reply(ctx context.Context, rawID string, result []byte, failure *codec.Error) {
	frame := codec.AppendResult(nil, []byte(rawID), result)
	if failure != nil {
		frame = codec.AppendError(nil, []byte(rawID), failure)
	}
	ctx, cancel := l.within(ctx, l.c.o.Timeout)
	defer cancel()
	resp, err := l.post(ctx, "", frame, nil)
	if err == nil { // else the server waits for an answer in vain, as its own timeout will tell it
		discard(resp)
	}
}

// cancelled ends a request of the server that it no longer wants. A cancel may also
// name a call of ours: so a server ends a subscription.
func (l *httpLink) cancelled(m *codec.Message) {
	l.mu.Lock()
	cancel := l.serving[string(m.RequestID())]
	l.mu.Unlock()
	if cancel != nil {
		cancel()
		return
	}
	if x := l.find(m.RequestID()); x != nil && x.r.notes != nil {
		l.engine.Reject(x.id, conn.ErrSubscriptionEnded)
	}
}
