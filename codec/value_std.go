//go:build !(amd64 || arm64) || correlator_nosonic

package codec

import "unicode/utf8"

// ValueEngine names what encodes and decodes typed values: "sonic" on amd64 and
// arm64, "encoding/json" elsewhere and under the build tag correlator_nosonic.
const ValueEngine = "encoding/json"

func encodeInto(b *[]byte, v any) error { return encodeStd(b, v) }

func decodeValue(data []byte, v any) error { return decodeStd(data, v) }

func validUTF8(data []byte) bool { return utf8.Valid(data) }
