package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

var (
	// ErrNotSupported: the server does not have what was asked of it, by its
	// revision or by the capabilities it declared. Nothing was sent.
	ErrNotSupported = errors.New("client: not supported by the server")
	// ErrCursorRepeated ends a list whose server gave a cursor a second time, and
	// so would never end.
	ErrCursorRepeated = errors.New("client: the server repeats a cursor")
	// ErrNoAnswer: an HTTP response ended without the answer to its request. The
	// error unwraps to what ended it.
	ErrNoAnswer = errors.New("client: no JSON-RPC response in the HTTP response")
	// ErrSessionEnded: a server of the older era no longer knows the HTTP session,
	// and a new one could not be begun. The request was not served.
	ErrSessionEnded = errors.New("client: HTTP session ended")
	// ErrWireClosed: Close was called on the Wire. Nothing was sent.
	ErrWireClosed = errors.New("client: the wire is closed")
	// ErrSubscriptionEnded is what Next of a subscription gives after the last
	// change, when the server or Close ended it.
	ErrSubscriptionEnded = errors.New("client: subscription ended")
)

// UnsupportedVersion says that client and server have no revision in common. It
// unwraps to the server's error, where there was one.
type UnsupportedVersion struct {
	// Requested is what the client asked for last.
	Requested string
	// Supported is what the server says it serves; nil when it did not say.
	Supported []string
	// Err is the server's error, nil when it just named other revisions.
	Err error
}

// Error names the revisions of both sides.
func (e *UnsupportedVersion) Error() string {
	served := "other revisions"
	if len(e.Supported) > 0 {
		served = strings.Join(e.Supported, ", ")
	}
	return fmt.Sprintf("client: no common revision: asked for %s, the server has %s", e.Requested, served)
}

// Unwrap gives Err.
func (e *UnsupportedVersion) Unwrap() error { return e.Err }

// InputLoopExceeded says that a server asked for input again and again until
// Options.MaxRounds was reached.
type InputLoopExceeded struct {
	// Method is the method called.
	Method string
	// Rounds is how often the server asked and was answered.
	Rounds int
}

// Error names the method and the bound.
func (e *InputLoopExceeded) Error() string {
	return fmt.Sprintf("client: %s: the server still asks for input after %d rounds", e.Method, e.Rounds)
}

// HTTPError is an HTTP response whose status is no success and whose body holds no
// JSON-RPC error.
type HTTPError struct {
	// Method is the JSON-RPC method of what was posted.
	Method string
	// StatusCode and Status are the response's, such as 502 and "502 Bad Gateway".
	StatusCode int
	Status     string
	// Body is the beginning of the response's body, at most HTTPErrorBody bytes.
	Body []byte
}

// HTTPErrorBody is how much of a body an HTTPError carries, in bytes.
const HTTPErrorBody = 1 << 10

// Error gives the status line; what failed for it says which call it was.
func (e *HTTPError) Error() string { return "HTTP error: " + e.Status }

// OptionError says what of an HTTP, of Options or of CallOptions was refused. Nothing
// was opened or sent.
type OptionError struct {
	// Field is the option's name, Value what stood there.
	Field, Value string
	// Problem says what is wrong with it.
	Problem string
}

// Error names the option, its value and the problem.
func (e *OptionError) Error() string {
	return fmt.Sprintf("client: option %s is %q: %s", e.Field, e.Value, e.Problem)
}

// ErrToolFailed is what Structured gives for the result of a tool that failed, with
// the text that the tool left for the model.
var ErrToolFailed = errors.New("client: the tool failed")

// ofMCP returns err; if the server answered with it, as an error of MCP's, which others
// who hold err do not see change.
func ofMCP(err error) error {
	answered, ok := errors.AsType[*codec.Error](err)
	if !ok || error(answered) != err || answered.MCP {
		return err
	}
	marked := *answered
	marked.MCP = true
	return &marked
}
