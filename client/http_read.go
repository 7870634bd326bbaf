package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// refused says what a response whose status is no success means: a JSON-RPC error
// in its body wins over the status.
func (l *httpLink) refused(resp *http.Response, method string) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(l.maxFrame))) // what came of it counts
	if message, _, object, ok := codec.ErrorFailure(body); ok && message != "" {
		return ofMCP(codec.ReadError(object))
	}
	failure := &HTTPError{Method: method, StatusCode: resp.StatusCode, Status: resp.Status, Body: body[:min(len(body), HTTPErrorBody)]}
	if resp.StatusCode == http.StatusNotFound && resp.Request.Header.Get(headerSession) != "" {
		return fmt.Errorf("%w: %w", ErrSessionEnded, failure)
	}
	return failure
}

// read reads a successful response to the end of the call. It returns nil when the
// call was settled.
func (x *exchange) read(ctx context.Context, resp *http.Response) error {
	body := &touching{r: resp.Body, x: x}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // what is none is refused below
	switch kind {
	case typeJSON:
		frame, err := io.ReadAll(io.LimitReader(body, int64(x.link.maxFrame)+1))
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		if len(frame) > x.link.maxFrame {
			return invalid(x.r.method, "more than %d bytes", x.link.maxFrame)
		}
		settled, err := x.message(frame)
		if err == nil && !settled {
			err = ErrNoAnswer
		}
		return err
	case typeEvents:
		return x.follow(ctx, body)
	}
	if resp.StatusCode == http.StatusAccepted {
		return fmt.Errorf("%w: %s", ErrNoAnswer, resp.Status)
	}
	return invalid(x.r.method, "content type %q", resp.Header.Get("Content-Type"))
}

// message takes one message of the call's own response. settled says that it was
// the answer.
func (x *exchange) message(frame []byte) (settled bool, err error) {
	m, err := codec.Parse(frame, codec.ScanOptions{MaxDepth: x.link.c.o.Conn.MaxDepth})
	if errors.Is(err, codec.ErrBatch) {
		for part, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
			if err != nil {
				return settled, fmt.Errorf("client: %s: %w: %w", x.r.method, conn.ErrInvalidAnswer, err)
			}
			did, err := x.message(part)
			if settled = settled || did; err != nil {
				return settled, err
			}
		}
		return settled, nil
	}
	if err != nil {
		return false, fmt.Errorf("client: %s: %w: %w", x.r.method, conn.ErrInvalidAnswer, err)
	}
	switch m.Kind {
	case codec.KindResult:
		// One request, one response: ids are not compared. What follows is late.
		x.link.engine.Resolve(x.id, bytes.Clone(m.Result()))
		return true, nil
	case codec.KindError:
		return true, m.Err()
	}
	x.link.other(&m)
	return false, nil
}

// other takes a message that is no answer.
func (l *httpLink) other(m *codec.Message) {
	if m.Kind == codec.KindRequest {
		l.requested(m)
		return
	}
	l.notified(m)
}

// follow reads events until the answer came. In the older era a stream that ends
// early is taken up where it ended.
func (x *exchange) follow(ctx context.Context, body io.Reader) error {
	l := x.link
	s := newEvents(body, l.maxFrame)
	var again *http.Response // at most one: a call may be taken up for hours
	defer func() {
		if again != nil {
			discard(again)
		}
	}()
	for {
		settled, err := x.events(s)
		if settled {
			return err
		}
		revision, _ := l.state()
		if revision.IsModern() || s.last == "" || errors.Is(err, errEventTooLarge) {
			return ended(err)
		}
		if again != nil {
			discard(again)
		}
		if again, err = l.resume(ctx, s); err != nil {
			return ended(err)
		}
		s.reset(&touching{r: again.Body, x: x})
	}
}

func ended(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return ErrNoAnswer
	}
	if errors.Is(err, conn.ErrInvalidAnswer) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, err)
}

// events takes the messages of a stream up to the answer or to its end.
func (x *exchange) events(s *events) (settled bool, err error) {
	for {
		data, err := s.next()
		if err != nil {
			return false, err
		}
		if len(data) == 0 {
			continue // the beginning of a stream that can be taken up
		}
		if settled, err = x.message(data); settled || err != nil {
			return true, err
		}
	}
}

// touching moves the idle deadline of a call with every byte that comes.
type touching struct {
	r io.Reader
	x *exchange
}

func (t *touching) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if n > 0 {
		t.x.link.engine.Touch(t.x.id)
	}
	return n, err
}
