//go:build amd64 || arm64

package rival

import (
	"strconv"

	"github.com/bytedance/sonic"
)

// HaveSonic says that sonic works on this architecture.
const HaveSonic = true

// sonicWire is wire with raw members that point into the frame, as only sonic
// offers them.
type sonicWire struct {
	Version string                 `json:"jsonrpc"`
	ID      sonic.NoCopyRawMessage `json:"id,omitempty"`
	Method  string                 `json:"method,omitempty"`
	Params  sonic.NoCopyRawMessage `json:"params,omitempty"`
	Result  sonic.NoCopyRawMessage `json:"result,omitempty"`
	Error   sonic.NoCopyRawMessage `json:"error,omitempty"`
}

type sonicMeta struct {
	Meta struct {
		Token sonic.NoCopyRawMessage `json:"progressToken"`
	} `json:"_meta"`
}

type sonicRequest struct {
	Version string                 `json:"jsonrpc"`
	ID      int64                  `json:"id"`
	Method  string                 `json:"method"`
	Params  sonic.NoCopyRawMessage `json:"params"`
}

// SonicStd decodes with sonic's ConfigStd, which validates strings.
func SonicStd() Decoder { return sonicDecoder(sonic.ConfigStd) }

// SonicDefault decodes with sonic's ConfigDefault, which does not look into
// strings.
func SonicDefault() Decoder { return sonicDecoder(sonic.ConfigDefault) }

// SonicFastest decodes with sonic's ConfigFastest, which goes over raw members by
// their brackets.
func SonicFastest() Decoder { return sonicDecoder(sonic.ConfigFastest) }

func sonicDecoder(api sonic.API) Decoder {
	return func(frame []byte, m *Message) error {
		var w sonicWire
		if err := api.Unmarshal(frame, &w); err != nil {
			return err
		}
		*m = Message{Method: w.Method, Params: w.Params, Result: w.Result, Error: w.Error}
		if w.Version != "2.0" {
			return errNoVersion
		}
		if len(w.Params) > 0 {
			var p sonicMeta
			if err := api.Unmarshal(w.Params, &p); err != nil {
				return err
			}
			m.Token = p.Meta.Token
		}
		var err error
		if len(w.ID) > 0 {
			m.ID, err = strconv.ParseInt(string(w.ID), 10, 64)
		}
		return err
	}
}

// EncodeSonic encodes with sonic's ConfigFastest, which trusts params to be JSON.
func EncodeSonic(id int64, method string, params []byte) ([]byte, error) {
	return sonic.ConfigFastest.Marshal(&sonicRequest{"2.0", id, method, params})
}

// ValidSonic says whether sonic takes frame for JSON.
func ValidSonic(frame []byte) bool { return sonic.Valid(frame) }
