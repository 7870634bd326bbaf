package codec

import (
	"slices"
	"strconv"
)

// The messages are written around bodies that are JSON texts already, without a
// byte of whitespace.
const (
	openID     = `{"jsonrpc":"2.0","id":`
	openMethod = `{"jsonrpc":"2.0","method":`
	openError  = `{"jsonrpc":"2.0"`
	thenMethod = `,"method":`
	thenParams = `,"params":`
	thenResult = `,"result":`
	thenError  = `,"error":`
)

// AppendRequest appends a request to dst. params is its JSON text, written as it
// is and not looked at; nil omits the member. An absent id is a misuse that
// panics: what needs no answer is a notification.
func AppendRequest(dst []byte, id ID, method string, params []byte) []byte {
	if id.IsAbsent() {
		panic("codec: AppendRequest without an id")
	}
	most := len(openID) + len(id.text) + 20 + len(thenMethod) + len(method) + len(thenParams) + len(params) + 8
	dst = slices.Grow(dst, most)
	if id.text == intMark && uint64(id.num) < tenTo16 && unescaped(method, highBits) == len(method) {
		start := len(dst)
		return dst[:start+putRequest(dst[start:start+most], uint64(id.num), method, params)]
	}
	dst = append(dst, openID...)
	dst = id.Append(dst)
	dst = append(dst, thenMethod...)
	return appendCall(dst, method, params)
}

// putRequest writes the request that is sent most: its id is a number, its method
// needs no escapes. b has room for it and eight bytes. Constants of at most 16
// bytes are stored, not copied by a call.
func putRequest(b []byte, id uint64, method string, params []byte) int {
	copy(b[0:16], openID[0:16])
	copy(b[6:22], openID[6:22])
	i := len(openID)
	i += putDigits(b[i:], id)
	const quoted = thenMethod + `"`
	copy(b[i:i+len(quoted)], quoted)
	i += len(quoted)
	i += copy(b[i:], method)
	if params == nil {
		copy(b[i:i+2], `"}`)
		return i + 2
	}
	const unquoted = `"` + thenParams
	copy(b[i:i+len(unquoted)], unquoted)
	i += len(unquoted)
	i += copy(b[i:], params)
	b[i] = '}'
	return i + 1
}

// AppendNotification appends a notification to dst, with params as
// [AppendRequest] takes them.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = slices.Grow(dst, len(openMethod)+len(thenParams)+len(method)+len(params)+8)
	dst = append(dst, openMethod...)
	return appendCall(dst, method, params)
}

func appendCall(dst []byte, method string, params []byte) []byte {
	dst = AppendString(dst, method)
	if params != nil {
		dst = append(dst, thenParams...)
		dst = append(dst, params...)
	}
	return append(dst, '}')
}

// AppendResult appends the successful answer to the request whose id is the JSON
// text rawID, echoed as it is; nil writes null. result is a JSON text, written
// as it is; nil writes null.
func AppendResult(dst []byte, rawID, result []byte) []byte {
	if rawID == nil {
		rawID = nullText
	}
	if result == nil {
		result = nullText
	}
	most := len(openID) + len(rawID) + len(thenResult) + len(result) + 1
	dst = slices.Grow(dst, most)
	start := len(dst)
	b := dst[start : start+most]
	copy(b[0:16], openID[0:16]) // stored, as in putRequest
	copy(b[6:22], openID[6:22])
	i := len(openID)
	i += copy(b[i:], rawID)
	copy(b[i:i+len(thenResult)], thenResult)
	i += len(thenResult)
	i += copy(b[i:], result)
	b[i] = '}'
	return dst[:start+most]
}

var nullText = []byte("null")

// AppendError appends the answer that a request failed. rawID is the JSON text
// of its id, echoed as it is; nil omits the member, as MCP wants it where the id
// could not be read. Plain JSON-RPC wants null there.
//
// e is written as an object of code, message and, unless nil, data. The code is
// Code, so always an integer: receivers refuse whole answers over another type,
// which a peer may have sent (RawCode). To pass on an error byte for byte, splice
// its frame. A nil e is an internal error.
func AppendError(dst []byte, rawID []byte, e *Error) []byte {
	if e == nil {
		e = &Error{Code: CodeInternal, Message: "internal error"}
	}
	dst = slices.Grow(dst, len(openID)+len(rawID)+len(e.Message)+len(e.Data)+64)
	if rawID == nil {
		dst = append(dst, openError...)
	} else {
		dst = append(dst, openID...)
		dst = append(dst, rawID...)
	}
	dst = append(dst, thenError...)
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, e.Code, 10)
	dst = append(dst, `,"message":`...)
	dst = AppendString(dst, e.Message)
	if e.Data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.Data...)
	}
	return append(dst, "}}"...)
}
