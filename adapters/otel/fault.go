package otel

import (
	"errors"
	"strconv"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// fault is how an operation failed; the zero value is that it did not. Code is that
// of faultPeer and faultHTTP alone.
type fault struct {
	kind faultKind
	code int64
}

// faultKind is a class of failures: what error.type says, and no more.
type faultKind uint8

const (
	faultNone faultKind = iota
	faultPeer           // a JSON-RPC error: its code
	faultHTTP           // an HTTP status without one: the status
	faultTool
	faultTimeout
	faultCancelled
	faultClosed
	faultCrashed
	faultInvalid
	faultFull
	faultTooLarge
	faultVersion
	faultOther
)

var faultNames = [...]string{
	faultNone: "", faultPeer: Other, faultHTTP: Other, faultTool: "tool_error", faultTimeout: "timeout", faultCancelled: "cancelled",
	faultClosed: "connection_closed", faultCrashed: "handler_crashed", faultInvalid: "invalid_answer", faultFull: "too_many_calls",
	faultTooLarge: "too_large", faultVersion: "unsupported_version", faultOther: Other,
}

// errorType is the value of error.type for a fault that was folded.
func (f fault) errorType() string {
	if (f.kind == faultPeer || f.kind == faultHTTP) && f.code != otherCode {
		return strconv.FormatInt(f.code, 10)
	}
	return faultNames[f.kind]
}

// faultOf classifies the error of a call.
func faultOf(err error) fault {
	if err == nil {
		return fault{}
	}
	if e, ok := errors.AsType[*client.UnsupportedVersion](err); ok && e != nil {
		return fault{kind: faultVersion}
	}
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return fault{faultPeer, int64(e.Code)}
	}
	if e, ok := errors.AsType[*client.HTTPError](err); ok {
		return fault{faultHTTP, int64(e.StatusCode)}
	}
	for _, c := range []struct {
		is   error
		kind faultKind
	}{
		{conn.ErrTimeout, faultTimeout}, {conn.ErrCancelled, faultCancelled}, {conn.ErrInvalidAnswer, faultInvalid}, {client.ErrNoAnswer, faultInvalid},
		{conn.ErrFull, faultFull}, {conn.ErrTooLarge, faultTooLarge}, {conn.ErrClosed, faultClosed}, {client.ErrSessionEnded, faultClosed},
	} {
		if errors.Is(err, c.is) {
			return fault{kind: c.kind}
		}
	}
	return fault{kind: faultOther}
}

// faultOfSettlement classifies the end of a call in a table.
func faultOfSettlement(e engine.Settlement) fault {
	switch e.Status {
	case engine.Resolved:
		return fault{}
	case engine.Expired:
		return fault{kind: faultTimeout}
	case engine.Cancelled:
		return fault{kind: faultCancelled}
	case engine.Failed:
		return fault{kind: faultClosed}
	}
	if f := faultOf(e.Err); f.kind != faultNone {
		return f
	}
	return fault{kind: faultOther}
}

// messageOf is the description of a failed span: what the peer said, or the text of
// the error.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
