//go:build (amd64 || arm64) && !correlator_nosonic

package codec_test

import "github.com/bytedance/sonic"

func init() {
	encodeRivals = append(encodeRivals, struct {
		name   string
		encode func(outgoing) ([]byte, error)
	}{"sonic-fastest", func(o outgoing) ([]byte, error) { return sonic.ConfigFastest.Marshal(o) }})
}
