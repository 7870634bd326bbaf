package netrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Codec is a connection as the codec of a *rpc.Client, which calls its methods as
// rpc.ClientCodec says.
type Codec struct {
	conn    *conn.Conn
	o       Options
	answers *answers
	crowd   link.Crowd
	current *answer // between ReadResponseHeader and ReadResponseBody
	params  []byte  // of the request that is being written; the client writes one at a time
}

var _ rpc.ClientCodec = (*Codec)(nil)

// New makes a codec for rpc.NewClientWithCodec. It owns stream from then on. The
// error is a *conn.OptionError; the stream is then still the caller's.
func New(stream io.ReadWriteCloser, o Options) (*Codec, error) {
	c := &Codec{o: o.settled(), answers: newAnswers()}
	settings := c.o.Conn
	settings.OnClose = func(why error) {
		c.answers.close(ending(why))
		if next := o.Conn.OnClose; next != nil {
			next(why)
		}
	}
	var err error
	if c.conn, err = conn.New(c.crowd.Stream(stream), settings); err != nil {
		return nil, fmt.Errorf("netrpc: %w", err)
	}
	return c, nil
}

// Conn is the connection, for its counters, notifications and whatever else.
func (c *Codec) Conn() *conn.Conn { return c.conn }

// WriteRequest starts a call. It waits for room in the write buffer.
func (c *Codec) WriteRequest(r *rpc.Request, args any) error {
	params, err := c.encode(args)
	if err != nil {
		return err
	}
	seq, method := r.Seq, r.ServiceMethod
	c.crowd.Begin()
	_, err = c.conn.Start(context.Background(), method, params, conn.CallOptions{}, func(o conn.Outcome) { c.settled(seq, method, o) })
	if err != nil {
		c.crowd.End()
	}
	if errors.Is(err, conn.ErrClosed) {
		return rpc.ErrShutdown
	}
	return err
}

// encode gives the params of one request, nil for none.
func (c *Codec) encode(args any) ([]byte, error) {
	if c.o.Named && args == nil {
		return nil, nil
	}
	params := c.params[:0]
	if !c.o.Named {
		params = append(params, '[')
	}
	params, err := codec.AppendValue(params, args)
	if err != nil {
		return nil, err
	}
	if cap(params) <= largeValue {
		c.params = params
	}
	if !c.o.Named {
		return append(params, ']'), nil
	}
	if params[0] != '{' && params[0] != '[' {
		return nil, fmt.Errorf("netrpc: %T is no object and no array, so it cannot be params", args)
	}
	return params, nil
}

// settled takes an outcome to the client. Calls that fail with the connection are
// failed by the client itself, once ReadResponseHeader says that it has ended.
func (c *Codec) settled(seq uint64, method string, o conn.Outcome) {
	c.crowd.End()
	if errors.Is(o.Err, conn.ErrClosed) {
		return
	}
	a := pool.Get().(*answer)
	a.seq, a.method = seq, method
	a.err = o.Err
	if o.Err == nil {
		a.value = append(a.value, o.Value...)
	}
	c.answers.put(a)
}

// text is what a rpc.ServerError shall say; empty for none.
func (c *Codec) text(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if e, ok := errors.AsType[*codec.Error](err); ok {
		text = c.o.ErrorText(e)
	}
	if text == "" {
		return "unspecified error"
	}
	return text
}

// ReadResponseHeader waits for the next answer.
func (c *Codec) ReadResponseHeader(r *rpc.Response) error {
	c.current.free()
	a, err := c.answers.take()
	c.current = a
	if err != nil {
		return err
	}
	r.Seq, r.ServiceMethod, r.Error = a.seq, a.method, c.text(a.err)
	return nil
}

// ReadResponseBody decodes the result of the answer that ReadResponseHeader gave.
func (c *Codec) ReadResponseBody(reply any) error {
	if reply == nil || c.current == nil {
		return nil
	}
	return codec.DecodeValue(c.current.value, reply)
}

// Close ends the connection, as conn.Conn.Close does: what is queued goes out, and
// answers on their way still count.
func (c *Codec) Close() error { return c.conn.Close() }

// ending is why the connection ended in the words of net/rpc: io.EOF becomes
// rpc.ErrShutdown in the client that was closed, and io.ErrUnexpectedEOF in one
// that was not.
func ending(why error) error {
	if gone, ok := errors.AsType[*conn.PeerGone](why); ok {
		return gone.Unwrap()
	}
	if errors.Is(why, conn.ErrClosed) {
		return io.EOF
	}
	return why
}
