package sourcegraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// asked is what the peer has asked and got no answer to, by the ids that handlers
// see. The zero value is empty.
type asked struct {
	mu sync.Mutex
	by map[jsonrpc2.ID]*conn.Inbound
}

// add names r. Two ids of the wire that the library cannot tell apart get different
// names.
func (a *asked) add(r *conn.Inbound) jsonrpc2.ID {
	id := theirID(r.ID())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[jsonrpc2.ID]*conn.Inbound{}
	}
	for a.by[id] != nil {
		id.Str, id.IsString = id.Str+"'", true
	}
	a.by[id] = r
	return id
}

// take gives the request of that name once; nil for none.
func (a *asked) take(id jsonrpc2.ID) *conn.Inbound {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.by[id]
	delete(a.by, id)
	return r
}

// Reply is (*jsonrpc2.Conn).Reply: it answers the request of that id with a result.
func (c *Conn) Reply(ctx context.Context, id jsonrpc2.ID, result any) error {
	resp := &jsonrpc2.Response{ID: id}
	if err := resp.SetResult(result); err != nil {
		return err
	}
	return c.SendResponse(ctx, resp)
}

// ReplyWithError is (*jsonrpc2.Conn).ReplyWithError: it answers with an error.
func (c *Conn) ReplyWithError(ctx context.Context, id jsonrpc2.ID, respErr *jsonrpc2.Error) error {
	return c.SendResponse(ctx, &jsonrpc2.Response{ID: id, Error: respErr})
}

// SendResponse is (*jsonrpc2.Conn).SendResponse: it queues an answer, and waits for
// room until ctx ends. The peer gets it under the id that it sent. An answer to what
// was not asked, or was answered, is an error; one to what the peer has cancelled is
// dropped. Meta goes out with a result only.
func (c *Conn) SendResponse(ctx context.Context, resp *jsonrpc2.Response) error {
	if resp.Error == nil && (resp.Result == nil || len(*resp.Result) == 0) {
		return errors.New("sourcegraph: answer without result and without error")
	}
	if c.conn == nil || c.conn.Err() != nil {
		return jsonrpc2.ErrClosed
	}
	r := c.asked.take(resp.ID)
	if r == nil {
		return fmt.Errorf("sourcegraph: no request %s waits for an answer", resp.ID)
	}
	if c.hooked() {
		c.onSend(nil, resp)
	}
	if resp.Error != nil {
		return c.answer(ctx, r, nil, ourError(resp.Error))
	}
	result := []byte(*resp.Result)
	if resp.Meta != nil { // another member of the answer, which the result is the last of
		result = append(append(append([]byte(nil), result...), `,"meta":`...), *resp.Meta...)
	}
	return c.answer(ctx, r, result, nil)
}

// answer answers r with e, or else with result.
func (c *Conn) answer(ctx context.Context, r *conn.Inbound, result json.RawMessage, e *codec.Error) error {
	for {
		var err error
		if e != nil {
			err = r.ReplyError(e)
		} else {
			err = r.Reply(result)
		}
		if errors.Is(err, conn.ErrFull) { // there is room when what is queued was written
			if err = c.conn.Flush(ctx); err == nil {
				continue
			}
		}
		switch {
		case err == nil, errors.Is(err, conn.ErrAnswered): // cancelled, that is
			return nil
		default:
			return failure(ctx, err)
		}
	}
}
