//go:build (amd64 || arm64) && !correlator_nosonic

package codec

import "github.com/bytedance/sonic"

func sonicDecoders() []decoder {
	return []decoder{
		{"sonic-std", unmarshalWith(sonic.ConfigStd.Unmarshal)},
		{"sonic-default", unmarshalWith(sonic.ConfigDefault.Unmarshal)}, // leaves strings unchecked
		{"sonic-fastest", unmarshalWith(sonic.ConfigFastest.Unmarshal)}, // and what is inside of raw members
	}
}
