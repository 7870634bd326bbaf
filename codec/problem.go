package codec

import "errors"

// problem is a finding in one byte, so that the scan can return it in a
// register; newSyntaxError spells it out.
type problem uint8

const (
	fine    problem = iota
	escaped         // fine, and the string holds escapes
	errTruncated
	errValue
	errLiteral
	errNumber
	errControl
	errEscape
	errSurrogate
	errUTF8
	errKey
	errColon
	errObject
	errArray
	errDeep
	errTrailing
	errEmpty
	errLong // from here on: not a matter of JSON, but of messages
	errNotObject
	errDuplicate
	errVersion
	errNoVersion
	errMethod
	errID
	errIDLength
	errResultID
	errBoth
	errNeither
	errElement
	errNotArray
	errEmptyBatch
)

const firstInvalid = errLong

// bad reports whether p ends the scan: the frame is not one JSON text.
func (p problem) bad() bool { return p > escaped }

var problems = [...]struct {
	text string
	err  error
}{
	errTruncated:  {"frame ends inside a value", ErrTruncated},
	errValue:      {"no JSON value", nil},
	errLiteral:    {"misspelt true, false or null", nil},
	errNumber:     {"malformed number", nil},
	errControl:    {"raw control character in a string", nil},
	errEscape:     {"invalid escape in a string", nil},
	errSurrogate:  {"lone surrogate in a string", nil},
	errUTF8:       {"invalid UTF-8 in a string", ErrInvalidUTF8},
	errKey:        {"no member name where one is due", nil},
	errColon:      {"no colon after a member name", nil},
	errObject:     {"no comma or brace after a member", nil},
	errArray:      {"no comma or bracket after an element", nil},
	errDeep:       {"nested too deep", ErrTooDeep},
	errTrailing:   {"bytes after the message", nil},
	errEmpty:      {"empty frame", ErrTruncated},
	errLong:       {"frame of 4 GiB or more", nil},
	errNotObject:  {"message is not an object", nil},
	errDuplicate:  {"duplicate member", ErrDuplicateMember},
	errVersion:    {`jsonrpc is not "2.0"`, nil},
	errNoVersion:  {"no jsonrpc member", nil},
	errMethod:     {"method is not a string", nil},
	errID:         {"id is of a type or form that is not allowed", ErrInvalidID},
	errIDLength:   {"number id of too many digits", ErrInvalidID},
	errResultID:   {"result without an id", nil},
	errBoth:       {"method beside a result or an error", ErrRequestAndResponse},
	errNeither:    {"neither a method nor a result nor an error", nil},
	errElement:    {"batch element is not an object", nil},
	errNotArray:   {"batch is not an array", nil},
	errEmptyBatch: {"empty batch", ErrBatch},
}

func newSyntaxError(p problem, offset int) *SyntaxError {
	code := CodeParse
	if p >= firstInvalid {
		code = CodeInvalidRequest
	}
	return &SyntaxError{Offset: offset, Code: code, Problem: problems[p].text, Err: problems[p].err}
}

// newIDError is the error of ParseID.
func newIDError(p problem) *SyntaxError {
	e := newSyntaxError(p, 0)
	e.Code = CodeInvalidRequest
	if !errors.Is(e, ErrInvalidID) {
		e.Err = ErrInvalidID
	}
	return e
}
