package codec

import (
	"errors"
	"fmt"
)

// Codes of JSON-RPC 2.0 section 5.1, and the one of the Language Server
// Protocol for a cancelled request.
const (
	CodeParse            = -32700
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternal         = -32603
	CodeRequestCancelled = -32800
)

// What a [SyntaxError] may wrap, for callers that branch on the cause.
var (
	// ErrBatch is what [Scan] returns, bare, for a frame that begins with '[':
	// see [SplitBatch]. A *SyntaxError wraps it for a batch inside a batch and
	// for an empty one.
	ErrBatch = errors.New("codec: the frame is an array, a batch of messages: split it")
	// ErrTruncated: the frame ends inside a value.
	ErrTruncated = errors.New("codec: frame ends inside a value")
	// ErrTooDeep: nested deeper than ScanOptions.MaxDepth.
	ErrTooDeep = errors.New("codec: nested too deep")
	// ErrInvalidUTF8: a string is not UTF-8.
	ErrInvalidUTF8 = errors.New("codec: invalid UTF-8")
	// ErrDuplicateMember: a member that is read stands twice.
	ErrDuplicateMember = errors.New("codec: duplicate member")
	// ErrRequestAndResponse: a method stands beside a result or an error.
	ErrRequestAndResponse = errors.New("codec: request and response in one")
	// ErrInvalidID: the id is of a type or form that the profile refuses.
	ErrInvalidID = errors.New("codec: invalid id")
)

// ErrUnknownProfile says that ScanOptions.Profile, or the profile given to [ParseID],
// is none of MCP, JSONRPC and LSP. It is the caller's mistake, not the frame's: no
// *SyntaxError, and not [Recoverable].
var ErrUnknownProfile = errors.New("codec: unknown profile")

// SyntaxError says why a frame was refused. It is recoverable: the frames after
// it are not touched by it.
type SyntaxError struct {
	// Offset is the byte of the frame at which the trouble lies.
	Offset int
	// Code is what the peer is to be told: CodeParse when the frame is not one
	// JSON text, CodeInvalidRequest when it is, but not a valid message.
	Code int
	// Problem says what is wrong, in English, without bytes of the frame.
	Problem string
	// Err is one of the sentinels above, or nil.
	Err error
}

// Error names the problem and the offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("codec: %s at byte %d", e.Problem, e.Offset)
}

// Unwrap gives Err.
func (e *SyntaxError) Unwrap() error { return e.Err }
