package mcp

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/correlator-go/correlator/codec"
)

// appendMember appends a member behind another one. name needs no escapes.
func appendMember(dst []byte, name, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return codec.AppendString(dst, value)
}

// appendOptional is appendMember for a value that is left out when empty.
func appendOptional(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMember(dst, name, value)
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}

func appendNumber(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// rawText is a JSON text of somebody else: encoding it validates it and takes its
// whitespace out.
type rawText = json.RawMessage

func appendAny(dst []byte, v any) ([]byte, error) { return codec.AppendValue(dst, v) }
