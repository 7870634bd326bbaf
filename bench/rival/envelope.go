package rival

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Message is what a decoder makes of a frame: what a gateway has to know of it.
// Unused members are nil.
type Message struct {
	ID            int64
	Method        string
	Params        []byte
	Result, Error []byte
	Token         []byte // params._meta.progressToken
}

// Decoder decodes a frame into *m, which is overwritten.
type Decoder func(frame []byte, m *Message) error

// Encoder encodes a request.
type Encoder func(id int64, method string, params []byte) ([]byte, error)

// Rewriter returns frame with another id.
type Rewriter func(frame []byte, id int64) ([]byte, error)

var errNoVersion = errors.New("rival: no JSON-RPC 2.0 message")

// wire is a message of any kind, as one decodes it with encoding/json.
type wire struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// wireMeta is what is read of params.
type wireMeta struct {
	Meta struct {
		Token json.RawMessage `json:"progressToken"`
	} `json:"_meta"`
}

// wireRequest is a request to be encoded.
type wireRequest struct {
	Version string          `json:"jsonrpc"`
	ID      int64           `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// DecodeStd decodes with encoding/json: the envelope into raw members, then
// params of a request for the token.
func DecodeStd(frame []byte, m *Message) error {
	var w wire
	return w.decode(frame, new(wireMeta), m)
}

// ReusingStd is DecodeStd as a careful read loop would have it: it decodes into
// the same buffers again and again, so a message lasts until the next one.
func ReusingStd() Decoder {
	w, p := new(wire), new(wireMeta)
	return func(frame []byte, m *Message) error {
		*w = wire{ID: w.ID[:0], Params: w.Params[:0], Result: w.Result[:0], Error: w.Error[:0]}
		p.Meta.Token = p.Meta.Token[:0]
		return w.decode(frame, p, m)
	}
}

func (w *wire) decode(frame []byte, p *wireMeta, m *Message) error {
	if err := json.Unmarshal(frame, w); err != nil {
		return err
	}
	*m = Message{Method: w.Method, Params: w.Params, Result: w.Result, Error: w.Error}
	if w.Version != "2.0" {
		return errNoVersion
	}
	if len(w.Params) > 0 {
		if err := json.Unmarshal(w.Params, p); err != nil {
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

// EncodeStd encodes with encoding/json.
func EncodeStd(id int64, method string, params []byte) ([]byte, error) {
	return json.Marshal(&wireRequest{"2.0", id, method, params})
}

// RewriteStd decodes as DecodeStd does, and encodes with another id.
func RewriteStd(frame []byte, id int64) ([]byte, error) {
	var (
		w wire
		m Message
	)
	if err := w.decode(frame, new(wireMeta), &m); err != nil {
		return nil, err
	}
	w.ID = strconv.AppendInt(w.ID[:0], id, 10)
	return json.Marshal(&w)
}
