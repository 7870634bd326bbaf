package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/buger/jsonparser"
	"github.com/creachadair/jrpc2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/frameset"
)

// envelope is a message with raw members.
type envelope[R ~[]byte] struct {
	Version string `json:"jsonrpc"`
	ID      R      `json:"id"`
	Method  string `json:"method"`
	Params  R      `json:"params"`
	Result  R      `json:"result"`
	Error   R      `json:"error"`
}

var errKind = errors.New("neither request nor answer")

// kind checks that something was read.
func (e *envelope[R]) kind() error {
	if len(e.ID) == 0 && e.Method == "" {
		return errKind
	}
	return nil
}

// readers are functions that read one frame, by library.
var readers = map[string]func() func(frame []byte) error{
	Ours: func() func([]byte) error {
		e := new(codec.Envelope)
		return func(f []byte) error { return codec.Scan(f, e, codec.ScanOptions{}) }
	},
	JSONv2: func() func([]byte) error {
		return func(f []byte) error {
			var e envelope[jsontext.Value]
			if err := jsonv2.Unmarshal(f, &e); err != nil {
				return err
			}
			return e.kind()
		}
	},
	JSONv2Kept: func() func([]byte) error {
		var e envelope[jsontext.Value]
		return func(f []byte) error {
			e = envelope[jsontext.Value]{ID: e.ID[:0], Params: e.Params[:0], Result: e.Result[:0], Error: e.Error[:0]}
			if err := jsonv2.Unmarshal(f, &e); err != nil {
				return err
			}
			return e.kind()
		}
	},
	JSONParser: func() func([]byte) error {
		return func(f []byte) error {
			var e envelope[[]byte]
			err := jsonparser.ObjectEach(f, func(key, value []byte, _ jsonparser.ValueType, _ int) error {
				switch string(key) {
				case "id":
					e.ID = value
				case "method":
					e.Method = string(value)
				case "params":
					e.Params = value
				case "result":
					e.Result = value
				case "error":
					e.Error = value
				}
				return nil
			})
			if err != nil {
				return err
			}
			return e.kind()
		}
	},
	Segmentio: func() func([]byte) error {
		e := new(envelope[segmentio.RawMessage])
		return func(f []byte) error {
			*e = envelope[segmentio.RawMessage]{}
			if _, err := segmentio.Parse(f, e, segmentio.ZeroCopy|segmentio.DontMatchCaseInsensitiveStructFields); err != nil {
				return err
			}
			return e.kind()
		}
	},
	GoSDK: func() func([]byte) error {
		return func(f []byte) error {
			_, err := jsonrpc.DecodeMessage(f)
			return err
		}
	},
	JRPC2: func() func([]byte) error {
		return func(f []byte) error {
			_, err := jrpc2.ParseRequests(f)
			return err
		}
	},
}

// splicers are functions that give a frame another id, by library.
var splicers = map[string]func() func(frame []byte) error{
	Ours: func() func([]byte) error {
		var out, id []byte
		n := int64(1 << 40)
		e := new(codec.Envelope)
		return func(f []byte) error {
			if err := codec.Scan(f, e, codec.ScanOptions{}); err != nil {
				return err
			}
			n++
			id = codec.IntID(n).Append(id[:0])
			out = codec.AppendSplice(out[:0], f, codec.Edit{Span: e.RawID, Text: id})
			return nil
		}
	},
	GoSDK: func() func([]byte) error {
		n := int64(1 << 40)
		return func(f []byte) error {
			m, err := jsonrpc.DecodeMessage(f)
			if err != nil {
				return err
			}
			n++
			id, err := jsonrpc.MakeID(float64(n))
			if err != nil {
				return err
			}
			switch m := m.(type) {
			case *jsonrpc.Request:
				m.ID = id
			case *jsonrpc.Response:
				m.ID = id
			}
			_, err = jsonrpc.EncodeMessage(m)
			return err
		}
	},
}

// encoders write a request around params that are encoded already.
var encoders = map[string]func() func(params []byte) error{
	Ours: func() func([]byte) error {
		var out []byte
		id := int64(0)
		return func(params []byte) error {
			id++
			out = codec.AppendRequest(out[:0], codec.IntID(id), "tools/call", params)
			return nil
		}
	},
	Segmentio: func() func([]byte) error {
		type request struct {
			Version string               `json:"jsonrpc"`
			ID      int64                `json:"id"`
			Method  string               `json:"method"`
			Params  segmentio.RawMessage `json:"params"`
		}
		var out []byte
		r := &request{Version: "2.0", Method: "tools/call"}
		return func(params []byte) (err error) {
			r.ID++
			r.Params = params
			out, err = segmentio.Append(out[:0], r, segmentio.TrustRawMessage)
			return err
		}
	},
	JSONv2: func() func([]byte) error {
		type request struct {
			Version string         `json:"jsonrpc"`
			ID      int64          `json:"id"`
			Method  string         `json:"method"`
			Params  jsontext.Value `json:"params"`
		}
		r, out := &request{Version: "2.0", Method: "tools/call"}, new(bytes.Buffer)
		return func(params []byte) error {
			r.ID++
			r.Params = params
			out.Reset()
			return jsonv2.MarshalWrite(out, r)
		}
	},
	GoSDK: func() func([]byte) error {
		n := 0.0
		return func(params []byte) error {
			n++
			id, err := jsonrpc.MakeID(n)
			if err != nil {
				return err
			}
			_, err = jsonrpc.EncodeMessage(&jsonrpc.Request{ID: id, Method: "tools/call", Params: json.RawMessage(params)})
			return err
		}
	},
}

// opOf returns what makes the work of a library with a shape; nil says that it has
// nothing for it.
func opOf(library, shape string) func() op {
	for _, r := range reads {
		if r.name != shape {
			continue
		}
		if library == JRPC2 && r.shape != frameset.Request {
			return nil // what it exports reads requests only
		}
		if reader, ok := readers[library]; ok {
			return func() op { return over(frameset.Make(r.shape, 1, r.n), reader()) }
		}
		return nil
	}
	if spliced, ok := splices[shape]; ok {
		if splicer, ok := splicers[library]; ok {
			return func() op { return over(frameset.Make(spliced, 1, frameset.Rotation), splicer()) }
		}
	}
	if encoder, ok := encoders[library]; ok && shape == Encode {
		return func() op { return over(params(), encoder()) }
	}
	return streams[stream{library, shape}]
}

// splices are the frames that get another id.
var splices = map[string]frameset.Shape{SpliceA: frameset.Response, SpliceB: frameset.Request, SpliceC: frameset.Text}

// params are those of requests that are written.
func params() [][]byte {
	out := make([][]byte, frameset.Rotation)
	for i := range out {
		out[i] = fmt.Appendf(nil, `{"name":"search","arguments":{"query":"q%0150d"}}`, i)
	}
	return out
}
