//go:build !(amd64 || arm64) || correlator_nosonic

package codec

func sonicDecoders() []decoder { return nil }
