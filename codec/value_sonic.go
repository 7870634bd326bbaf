//go:build (amd64 || arm64) && !correlator_nosonic

package codec

import (
	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/encoder"
	"github.com/bytedance/sonic/utf8"
)

// ValueEngine names what encodes and decodes typed values: "sonic" on amd64 and
// arm64, "encoding/json" elsewhere and under the build tag correlator_nosonic.
const ValueEngine = "sonic"

// Sonic's settings are those of its ConfigStd, without the escaping for HTML.
// What sonic refuses is tried again with encoding/json, off the hot path: so the
// errors are the same with both engines, and so is what is accepted.
const encodeOptions = encoder.SortMapKeys | encoder.CompactMarshaler | encoder.ValidateString | encoder.NoEncoderNewline

// nativeMost is the longest text, in bytes, that sonic decodes. Its native code
// cannot be preempted: the collector, and so every goroutine, waits until a call
// into it comes back, which for a text of this length takes some milliseconds at
// most.
const nativeMost = 2 << 20

var decodeConfig = sonic.Config{CopyString: true, ValidateString: true}.Froze()

// encodeInto encodes v into the capacity of *b, which is empty, or a longer one.
func encodeInto(b *[]byte, v any) error {
	if err := encoder.EncodeInto(b, v, encodeOptions); err != nil {
		*b = (*b)[:0]
		return encodeStd(b, v)
	}
	return nil
}

func decodeValue(data []byte, v any) error {
	if len(data) <= nativeMost && decodeConfig.Unmarshal(data, v) == nil {
		return nil
	}
	return decodeStd(data, v)
}

func validUTF8(data []byte) bool { return utf8.Validate(data) }
