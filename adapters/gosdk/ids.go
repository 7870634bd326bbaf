package gosdk

import (
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/correlator-go/correlator/codec"
)

// exactFloat is the largest integer up to which every integer is a float64, the type
// through which go-sdk makes ids of numbers.
const exactFloat = 1 << 53

// aliasMark begins the string that stands in go-sdk for an id that it cannot hold:
// what follows is the id's JSON text, so nothing has to be remembered. A peer's own
// string that begins so is aliased as well.
const aliasMark = "\x00id:"

// alias gives the string that stands for id in go-sdk; false says that go-sdk can
// hold it as it is.
func alias(id codec.ID) (string, bool) {
	switch id.Kind() {
	case codec.IDInt:
		if n, _ := id.Int(); -exactFloat <= n && n <= exactFloat {
			return "", false
		}
	case codec.IDString:
		if !strings.HasPrefix(id.Text(), aliasMark) {
			return "", false
		}
	}
	return aliasMark + id.String(), true
}

// idOf is id as go-sdk has it.
func (l *link) idOf(id codec.ID) (jsonrpc.ID, error) {
	if text, ok := alias(id); ok {
		l.aliased.Store(true)
		return jsonrpc.MakeID(text)
	}
	if n, ok := id.Int(); ok {
		return jsonrpc.MakeID(float64(n))
	}
	return jsonrpc.MakeID(id.Text())
}

// appendID appends the JSON text of an id of go-sdk; nothing for none.
func appendID(dst []byte, id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case int64:
		return codec.IntID(v).Append(dst)
	case string:
		if text, ok := strings.CutPrefix(v, aliasMark); ok {
			return append(dst, text...)
		}
		return codec.StringID(v).Append(dst)
	}
	return dst
}

// unaliased is the JSON text that the JSON text of an alias stands for; false for
// any other.
func unaliased(text []byte) ([]byte, bool) {
	id, err := codec.ParseID(text, codec.MCP)
	if err != nil || id.Kind() != codec.IDString {
		return nil, false
	}
	original, ok := strings.CutPrefix(id.Text(), aliasMark)
	return []byte(original), ok
}
