package mcp

import (
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

// decodeString gives the string of a JSON text that is one, "" for any other.
func decodeString(text []byte) string {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	var s string
	if codec.DecodeValue(text, &s) != nil {
		return ""
	}
	return s
}
