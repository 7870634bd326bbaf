package route

import (
	"github.com/correlator-go/correlator/codec"
)

// oddities are what no answer of ours has, though upstreams send it.
const oddities = codec.FlagNoVersion | codec.FlagErrorNull | codec.FlagResultIgnored

// IsOdd reports whether an answer cannot be passed on as it is: it lacks its version,
// has a result beside an error, a null error, or an error that is no object with an
// integer as its code and a string as its message.
func IsOdd(m *codec.Message) bool {
	if m.Flags&oddities != 0 {
		return true
	}
	if m.Kind != codec.KindError {
		return false
	}
	var e struct {
		Code    *int64  `json:"code"`
		Message *string `json:"message"`
	}
	return codec.DecodeValue(m.RawError(), &e) != nil || e.Code == nil || e.Message == nil
}

// AppendPlain appends an odd answer anew, as JSON-RPC 2.0 has it, to the request id.
// The result is byte for byte the upstream's.
func AppendPlain(dst []byte, m *codec.Message, id Echo) []byte {
	var scratch [64]byte
	raw := id.Append(scratch[:0])
	if m.Kind == codec.KindError {
		return codec.AppendError(dst, raw, m.Err())
	}
	return codec.AppendResult(dst, raw, m.Result())
}
