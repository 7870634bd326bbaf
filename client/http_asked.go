package client

import (
	"bytes"
	"context"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

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
	_ = l.Post(ctx, &Posting{Frame: frame}) // else the server waits for an answer in vain, as its own timeout will tell it
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
