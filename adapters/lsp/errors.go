package lsp

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/correlator-go/correlator/codec"
)

// Code is the code of an error answer. As an error it is what errors.Is tells a
// *ResponseError by, and what a RequestHandler may return.
type Code int64

// The codes of LSP 3.17, section "Response Message", and those of JSON-RPC 2.0.
const (
	ErrParse                Code = codec.CodeParse
	ErrInvalidRequest       Code = codec.CodeInvalidRequest
	ErrMethodNotFound       Code = codec.CodeMethodNotFound
	ErrInvalidParams        Code = codec.CodeInvalidParams
	ErrInternal             Code = codec.CodeInternal
	ErrServerNotInitialized Code = -32002
	ErrUnknown              Code = -32001
	// ErrRequestFailed: the request was well formed and could not be carried out.
	ErrRequestFailed Code = -32803
	// ErrServerCancelled: the server gave the request up by itself. The error's data
	// may ask to make it again.
	ErrServerCancelled Code = -32802
	// ErrContentModified: a document changed meanwhile, so the result would be of an
	// old state. Nothing to show to a user.
	ErrContentModified Code = -32801
	// ErrRequestCancelled: the client cancelled the request.
	ErrRequestCancelled Code = codec.CodeRequestCancelled
)

var codeTexts = map[Code]string{
	ErrParse: "parse error", ErrInvalidRequest: "invalid request", ErrMethodNotFound: "method not found",
	ErrInvalidParams: "invalid params", ErrInternal: "internal error", ErrServerNotInitialized: "server not initialized",
	ErrUnknown: "unknown error", ErrRequestFailed: "request failed", ErrServerCancelled: "server cancelled",
	ErrContentModified: "content modified", ErrRequestCancelled: "request cancelled",
}

// Error names the code, "error -1" where the protocol has no name for it.
func (c Code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return "error " + strconv.FormatInt(int64(c), 10)
}

// What a call fails with that does not suit the state of the session. Nothing was
// sent.
var (
	// ErrNotInitialized: Initialize has not succeeded yet.
	ErrNotInitialized = errors.New("lsp: not initialized")
	// ErrInitialized: Initialize runs or has succeeded already.
	ErrInitialized = errors.New("lsp: initialized already")
	// ErrShutdown: Shutdown was called.
	ErrShutdown = errors.New("lsp: shut down")
	// ErrLifecycle: initialize, initialized, shutdown and exit are sent by Initialize
	// and Shutdown.
	ErrLifecycle = errors.New("lsp: sent by Initialize and Shutdown alone")
	// ErrToken: the params have the token that CallOptions ask for, or are no object.
	ErrToken = errors.New("lsp: no place for the token")
)

// ErrSlowProgress ends a call whose WorkDone or Partial is slower than the server: more
// than Options.ProgressBytes waited.
var ErrSlowProgress = errors.New("lsp: progress handler too slow")

// ResponseError is the error that the server answered a call with.
type ResponseError struct {
	// Method is that of the call.
	Method string
	// Err is the error as it came.
	Err *codec.Error
	// Cause is why the call had been given up before this answer came, nil if it had
	// not: see CallOptions.CancelGrace. errors.Is finds it as well.
	Cause error
}

// Error has the method, the text and the code.
func (e *ResponseError) Error() string {
	return fmt.Sprintf("%s: %s (%d)", e.Method, e.Err.Message, e.Err.Code)
}

// Is reports whether target is the Code of the answer. An answer without a code has
// none.
func (e *ResponseError) Is(target error) bool {
	code, ok := target.(Code)
	return ok && errors.Is(e.Err, &codec.Error{Code: int64(code)})
}

// Unwrap gives Err, and Cause if there is one.
func (e *ResponseError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// answered makes a *ResponseError of what the server answered; other errors pass.
func answered(method string, err, cause error) error {
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return &ResponseError{Method: method, Err: e, Cause: cause}
	}
	return err
}

// wireError is what a peer is told of err, which a handler returned.
func wireError(err error) *codec.Error {
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return e
	}
	e := &codec.Error{Code: codec.CodeInternal, Message: err.Error()}
	if code, ok := errors.AsType[Code](err); ok {
		e.Code = int64(code)
	}
	return e
}
