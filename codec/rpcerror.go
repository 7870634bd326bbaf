package codec

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Error is a JSON-RPC error: what a peer sent in the error member of a response
// ([ReadError], [Message.Err]), or what is to be sent to one ([AppendError]).
// An Error that was read owns its bytes; it must not be changed once it is
// shared.
type Error struct {
	// Code is the error code. When the peer sent none that is an integer of 64
	// bits, it is CodeInternal, the code to pass on in its place.
	Code int64
	// Message is the text: decoded when the peer sent a string, "(no message)"
	// when a structured error came without one, else the JSON text of what came.
	Message string
	// Data is the JSON text of the data member, nil when absent.
	Data []byte
	// Raw is the error member byte for byte; nil in an error made here.
	Raw []byte
	// RawCode is the JSON text of a code that is no integer of 64 bits.
	RawCode []byte
	// Structured says that the peer sent a genuine error object: one with a code.
	Structured bool
	// MCP says that the peer speaks MCP, which its text then names. Package client sets
	// it, and the server's side for what a client answers; [ReadError] cannot know.
	MCP bool
}

// noMessage stands in texts for a message that the peer did not send.
const noMessage = "(no message)"

// Error gives "error <code>: <message>", and the bare text the peer sent where it
// sent no code. Under MCP a structured error has the text of [ErrorFailure], "MCP
// error <code>: <message>".
func (e *Error) Error() string {
	switch {
	case e.Structured && e.MCP:
		return mcpText(e.codeText(), e.Message)
	case e.Raw != nil && !e.Structured:
		return e.Message
	}
	return "error " + e.codeText() + ": " + e.Message
}

func (e *Error) codeText() string {
	if e.RawCode != nil {
		return plainText(e.RawCode)
	}
	return strconv.FormatInt(e.Code, 10)
}

func mcpText(code, message string) string {
	return "MCP error " + code + ": " + message
}

// Category is "mcp" when a genuine error object is behind e, else "".
func (e *Error) Category() string {
	if e.Structured {
		return "mcp"
	}
	return ""
}

// Is reports whether target is an *Error without a message and with e's code, so
// that errors.Is(err, &codec.Error{Code: codec.CodeMethodNotFound}) works. An
// error whose peer sent no code matches none.
func (e *Error) Is(target error) bool {
	t, ok := errors.AsType[*Error](target)
	return ok && t.Message == "" && t.Code == e.Code && e.RawCode == nil && (e.Structured || e.Raw == nil)
}

// ErrorFailure reads a whole response as the failure it carries: the message
// "MCP error <code>: <message>", the category "mcp" and the error object byte for
// byte, which aliases response. ok is false, and the rest empty, when response is
// no JSON object or its error is no object with a code that is not null; what
// [ErrorText] says is then all there is to tell. It accepts a code of any type, 0
// included.
func ErrorFailure(response []byte) (message, category string, object []byte, ok bool) {
	top, ok := readMembers(response, "error")
	if !ok {
		return "", "", nil, false
	}
	object = top[0]
	parts, ok := readMembers(object, "code", "message")
	if !ok || isNull(parts[0]) {
		return "", "", nil, false
	}
	return mcpText(plainText(parts[0]), messageText(parts[1])), "mcp", object, true
}

// ErrorText gives the text that an error member of any JSON type carries: a
// string decoded, a number as it is written, anything else as its JSON text. An
// absent, null or malformed member is "unknown error".
func ErrorText(errorMember []byte) string {
	text := bytes.Trim(errorMember, " \t\r\n")
	if isNull(text) || !validText(text) {
		return "unknown error"
	}
	return plainText(text)
}

// ReadError reads an error member of any JSON type, and returns nil when it is
// absent or null, which is no error. It copies what it keeps. When a member
// stands twice in the object, the last one counts.
func ReadError(errorMember []byte) *Error {
	text := bytes.Trim(errorMember, " \t\r\n")
	if isNull(text) {
		return nil
	}
	e := &Error{Code: CodeInternal, Raw: bytes.Clone(text)}
	parts, ok := readMembers(text, "code", "message", "data")
	if !ok || isNull(parts[0]) {
		e.Message = ErrorText(text)
		return e
	}
	e.Structured = true
	e.Message = messageText(parts[1])
	e.Data = bytes.Clone(parts[2])
	n, err := strconv.ParseInt(string(parts[0]), 10, 64)
	if err != nil {
		e.RawCode = bytes.Clone(parts[0])
		return e
	}
	e.Code = n
	return e
}

// isNull reports whether a JSON text is absent or null.
func isNull(text []byte) bool { return len(text) == 0 || string(text) == "null" }

func messageText(text []byte) string {
	if isNull(text) {
		return noMessage
	}
	return plainText(text)
}

// plainText decodes a JSON string, and gives any other JSON text as it is.
func plainText(text []byte) string {
	if text[0] != '"' {
		return string(text)
	}
	raw := text[1 : len(text)-1]
	if !hasEscape(raw) {
		return string(raw)
	}
	return strings.ToValidUTF8(string(unquote(nil, raw, len(raw))), "\uFFFD")
}
