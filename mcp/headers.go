package mcp

import (
	"encoding/base64"
	"strings"
)

// Headers are the headers of an HTTP request of the modern era that repeat what
// stands in its body. Step compares them, and refuses the request with
// CodeHeaderMismatch where one is missing or differs. The values are as they
// stand in the header: DecodeHeader is applied to those that may be encoded.
type Headers struct {
	Version string // MCP-Protocol-Version; "" is missing
	Method  string // Mcp-Method; "" is missing
	Name    string // Mcp-Name; "" is missing
	// Param gives the value of the header Mcp-Param-<name>, name in the spelling
	// of the tool's schema; false when it is missing. Nil compares none.
	Param func(name string) (value string, ok bool)
}

const (
	sentinelOpen  = "=?base64?"
	sentinelClose = "?="
)

// DecodeHeader gives the value that a header stands for: what is wrapped as
// =?base64?…?= is decoded, anything else stands for itself. It is false for a
// wrapping that cannot be decoded.
func DecodeHeader(header string) (value string, ok bool) {
	inner, wrapped := strings.CutPrefix(header, sentinelOpen)
	if !wrapped {
		return header, true
	}
	inner, closed := strings.CutSuffix(inner, sentinelClose)
	if !closed {
		return header, true
	}
	b, err := base64.StdEncoding.DecodeString(inner)
	return string(b), err == nil
}

// EncodeHeader gives the header that stands for value: value itself when a header
// can hold it, else its wrapping.
func EncodeHeader(value string) string {
	safe := !(strings.HasPrefix(value, sentinelOpen) && strings.HasSuffix(value, sentinelClose))
	for i := range len(value) {
		c := value[i]
		edge := i == 0 || i == len(value)-1
		if c < ' ' || c > '~' || c == ' ' && edge {
			safe = false
			break
		}
	}
	if safe {
		return value
	}
	return sentinelOpen + base64.StdEncoding.EncodeToString([]byte(value)) + sentinelClose
}
