package client

import (
	"context"
	"io"
	"net/http"
	"time"
)

const (
	// discardBytes is how much reading costs less than a new connection.
	discardBytes = 4 << 10
	// discardTime is how long that may take: whoever has what it wanted must not
	// wait for a server that leaves its response open.
	discardTime = 100 * time.Millisecond
)

// body is that of a response. Closing it ends the request.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// do sends req. The response is to be discarded.
func (w *Wire) do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	resp, err := w.client.Do(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &body{resp.Body, cancel}
	return resp, nil
}

// discard ends a response of do. What little is left is read, so that the
// connection can serve again.
func discard(resp *http.Response) {
	defer resp.Body.Close()
	if b, ok := resp.Body.(*body); ok {
		defer time.AfterFunc(discardTime, b.cancel).Stop()
		_, _ = io.CopyN(io.Discard, b, discardBytes)
	}
}
