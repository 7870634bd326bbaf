//go:build !amd64 && !arm64

package rival

// HaveSonic says that sonic works on this architecture.
const HaveSonic = false

// SonicStd is nil here.
func SonicStd() Decoder { return nil }

// SonicDefault is nil here.
func SonicDefault() Decoder { return nil }

// SonicFastest is nil here.
func SonicFastest() Decoder { return nil }

// EncodeSonic is EncodeStd here.
func EncodeSonic(id int64, method string, params []byte) ([]byte, error) {
	return EncodeStd(id, method, params)
}

// ValidSonic is false here.
func ValidSonic([]byte) bool { return false }
