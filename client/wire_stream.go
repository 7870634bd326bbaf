package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/correlator-go/correlator/codec"
)

var errResumes = errors.New("client: nothing new on a stream that was taken up again")

// resume takes up the stream behind s where it ended, in the older era: after the
// pause that the server asked for, with the id of the last event.
func (w *Wire) resume(ctx context.Context, s *events) (*http.Response, error) {
	for n := s.stale(); ; n++ {
		if w.t.MaxResumes < 0 || n >= w.t.MaxResumes {
			return nil, errResumes
		}
		if err := w.pause(ctx, s); err != nil {
			return nil, err
		}
		resp, err := w.get(ctx, s.last)
		if err == nil {
			return resp, nil
		}
		if failure, ok := errors.AsType[*HTTPError](err); ok && failure.StatusCode < http.StatusInternalServerError || ctx.Err() != nil {
			return nil, err
		}
	}
}

// pause waits as long as the server wants, or as the user does.
func (w *Wire) pause(ctx context.Context, s *events) error {
	d := s.retry
	if d < 0 {
		d = w.t.ResumeDelay
	}
	if d <= 0 {
		return ctx.Err()
	}
	elapsed := make(chan struct{})
	defer w.o.Clock.AfterFunc(d, func() { close(elapsed) }).Stop()
	select {
	case <-elapsed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get opens a stream of the server's, behind the event named last if there is one.
func (w *Wire) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := w.newRequest(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", typeEvents)
	if last != "" {
		req.Header.Set(headerLast, last)
	}
	resp, err := w.do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer discard(resp)
		return nil, w.refused(resp, &Posting{Method: http.MethodGet})
	}
	return resp, nil
}

// listen holds open the stream on which a server of the older era sends what
// belongs to no call, as long as the server has one.
func (w *Wire) listen() {
	ctx, session := w.listening()
	s := newEvents(http.NoBody, w.o.MaxFrame)
	resp, err := w.get(ctx, "")
	for err == nil {
		s.reset(resp.Body)
		w.hear(s)
		discard(resp)
		if _, now := w.state(); now != session {
			return // the new session has a stream of its own
		}
		resp, err = w.resume(ctx, s)
	}
	if errors.Is(err, ErrSessionEnded) && w.o.Lost != nil {
		w.o.Lost(err)
	}
}

// listening makes the stream of the session the only one: a server may leave that
// of a session that it ended open for ever.
func (w *Wire) listening() (ctx context.Context, session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unlisten != nil {
		w.unlisten()
	}
	ctx, w.unlisten = context.WithCancel(w.base)
	return ctx, w.session
}

// hear takes what comes on a stream until it ends. A bad event harms no other.
func (w *Wire) hear(s *events) {
	for {
		data, err := s.next()
		if err != nil {
			return
		}
		m, err := codec.Parse(data, codec.ScanOptions{MaxDepth: w.o.MaxDepth})
		if err == nil && w.o.Receive != nil {
			w.o.Receive(&m)
		}
	}
}
