package sourcegraph

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// failure is the error of a call or notification in the library's terms: its own
// values where programs compare with them, and else what the connection said.
func failure(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return theirError(e)
	}
	switch {
	case errors.Is(err, conn.ErrClosed), errors.Is(err, conn.ErrDraining):
		return jsonrpc2.ErrClosed
	case errors.Is(err, conn.ErrTimeout):
		// The connection may see the deadline of ctx pass a moment before ctx does.
		if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
			return context.DeadlineExceeded
		}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// theirError is an error of the peer as the library has it.
func theirError(e *codec.Error) *jsonrpc2.Error {
	their := &jsonrpc2.Error{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		data := json.RawMessage(e.Data)
		their.Data = &data
	}
	return their
}

// ourError is an error of a handler for the wire.
func ourError(e *jsonrpc2.Error) *codec.Error {
	our := &codec.Error{Code: e.Code, Message: e.Message}
	if e.Data != nil {
		our.Data = *e.Data
	}
	return our
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
