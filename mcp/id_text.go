package mcp

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// idOf reads an id or token that admission accepted; absent for no text.
func idOf(raw []byte) codec.ID {
	id, err := codec.ParseID(raw, codec.MCP)
	if err != nil {
		return codec.ID{}
	}
	return id
}

// stringOf gives the decoded bytes of a JSON text that is a string; false for any
// other. They alias text unless it has escapes.
func stringOf(text []byte) ([]byte, bool) {
	if len(text) < 2 || text[0] != '"' {
		return nil, false
	}
	if inner := text[1 : len(text)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	var s string
	if codec.DecodeValue(text, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}

// decodeString is stringOf as a string, "" for any other text.
func decodeString(text []byte) string {
	s, _ := stringOf(text)
	return string(s)
}
