package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Exchange posts a request and gives what comes for it to p.Receive until that says
// that it was answered; in the older era a stream that ends early is taken up where
// it ended. The error says why there was no answer: the server's own *codec.Error
// in a response that is no success, an *HTTPError, ErrSessionEnded, ErrNoAnswer,
// conn.ErrInvalidAnswer, ErrWireClosed, or that of the network or of ctx.
//
// The end of ctx ends the request, by which a modern server knows that nobody waits.
// An older one has to be told by a notification.
func (w *Wire) Exchange(ctx context.Context, p *Posting) error {
	if !w.enter() {
		return ErrWireClosed
	}
	defer w.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.base, cancel)()
	sent := ctx
	if p.Written != nil {
		sent = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: p.Written})
	}
	resp, err := w.post(sent, p)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode/100 != 2 {
		return w.refused(resp, p)
	}
	if p.Method == mcp.MethodInitialize {
		w.setSession(resp.Header.Get(headerSession))
	}
	x := &wireExchange{w: w, p: p}
	return x.read(ctx, resp)
}

// wireExchange is a request whose response is being read.
type wireExchange struct {
	w *Wire
	p *Posting
}

// refused says what a response whose status is no success means: a JSON-RPC error
// in its body wins over the status.
func (w *Wire) refused(resp *http.Response, p *Posting) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(w.o.MaxFrame))) // what came of it counts
	if p.Refused != nil && p.Refused(body) {
		return nil
	}
	if message, _, object, ok := codec.ErrorFailure(body); ok && message != "" {
		return ofMCP(codec.ReadError(object))
	}
	failure := &HTTPError{Method: p.Method, StatusCode: resp.StatusCode, Status: resp.Status, Body: body[:min(len(body), HTTPErrorBody)]}
	if resp.StatusCode == http.StatusNotFound && resp.Request.Header.Get(headerSession) != "" {
		return fmt.Errorf("%w: %w", ErrSessionEnded, failure)
	}
	return failure
}

// read reads a successful response to the end of the request.
func (x *wireExchange) read(ctx context.Context, resp *http.Response) error {
	body := &hearing{r: resp.Body, heard: x.p.Heard}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // what is none is refused below
	switch kind {
	case typeJSON:
		frame, err := io.ReadAll(io.LimitReader(body, int64(x.w.o.MaxFrame)+1))
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
		if len(frame) > x.w.o.MaxFrame {
			return invalid(x.p.Method, "more than %d bytes", x.w.o.MaxFrame)
		}
		answered, err := x.message(frame)
		if err == nil && !answered {
			err = ErrNoAnswer
		}
		return err
	case typeEvents:
		return x.follow(ctx, body)
	}
	if resp.StatusCode == http.StatusAccepted {
		return fmt.Errorf("%w: %s", ErrNoAnswer, resp.Status)
	}
	return invalid(x.p.Method, "content type %q", resp.Header.Get("Content-Type"))
}

// message takes one message of the request's own response.
func (x *wireExchange) message(frame []byte) (answered bool, err error) {
	m, err := codec.Parse(frame, codec.ScanOptions{MaxDepth: x.w.o.MaxDepth})
	if errors.Is(err, codec.ErrBatch) {
		for part, err := range codec.SplitBatch(frame, codec.ScanOptions{}) {
			if err != nil {
				return answered, fmt.Errorf("client: %s: %w: %w", x.p.Method, conn.ErrInvalidAnswer, err)
			}
			did, err := x.message(part)
			if answered = answered || did; err != nil {
				return answered, err
			}
		}
		return answered, nil
	}
	if err != nil {
		return false, fmt.Errorf("client: %s: %w: %w", x.p.Method, conn.ErrInvalidAnswer, err)
	}
	return x.p.Receive(&m), nil
}

// follow reads events until the answer came. In the older era a stream that ends
// early is taken up where it ended.
func (x *wireExchange) follow(ctx context.Context, body io.Reader) error {
	s := newEvents(body, x.w.o.MaxFrame)
	var again *http.Response // at most one: a request may be taken up for hours
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
		revision, _ := x.w.state()
		if x.p.Revision != "" {
			revision = x.p.Revision
		}
		if revision.IsModern() || s.last == "" || errors.Is(err, errEventTooLarge) {
			return ended(err)
		}
		if again != nil {
			discard(again)
		}
		if again, err = x.w.resume(ctx, s); err != nil {
			return ended(err)
		}
		s.reset(&hearing{r: again.Body, heard: x.p.Heard})
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
func (x *wireExchange) events(s *events) (settled bool, err error) {
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

// hearing tells of every byte that comes.
type hearing struct {
	r     io.Reader
	heard func()
}

func (h *hearing) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 && h.heard != nil {
		h.heard()
	}
	return n, err
}
