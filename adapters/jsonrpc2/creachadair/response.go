package creachadair

import (
	"bytes"
	"encoding/json"

	"github.com/creachadair/jrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Response is a response in the manner of *jrpc2.Response. It may be read by many
// goroutines.
type Response struct {
	client  *Client
	wire    codec.ID
	renamed string        // by SetID
	done    chan struct{} // of a call of a batch: closed when the next two are set
	result  []byte
	failure error // how the call ended
	err     *jrpc2.Error
}

// settled takes the outcome.
func (r *Response) settled(o conn.Outcome) {
	r.client.crowd.End()
	r.result, r.failure = bytes.Clone(o.Value), o.Err
	close(r.done)
}

// ID gives the id as it was on the wire, or what SetID set.
func (r *Response) ID() string {
	if r.renamed != "" {
		return r.renamed
	}
	return r.wire.String()
}

// SetID sets the ID of r, a JSON text, for use in proxies.
func (r *Response) SetID(id string) { r.renamed = id }

// Error gives the error of the response, nil for a result.
func (r *Response) Error() *jrpc2.Error { return r.err }

// UnmarshalResult decodes the result into what v points to. Of a failed call it
// returns the error and leaves v alone. Types with a method DisallowUnknownFields,
// such as those of jrpc2.StrictFields, refuse members that they do not know; a
// *json.RawMessage gets a copy of the text.
func (r *Response) UnmarshalResult(v any) error {
	if r.err != nil {
		return r.err
	}
	switch into := v.(type) {
	case *json.RawMessage:
		*into = bytes.Clone(r.result)
		return nil
	case interface{ DisallowUnknownFields() }:
		in := json.NewDecoder(bytes.NewReader(r.result))
		in.DisallowUnknownFields()
		return in.Decode(v)
	}
	return codec.DecodeValue(r.result, v)
}

// ResultString gives the text of the result, empty for an error.
func (r *Response) ResultString() string { return string(r.result) }

// MarshalJSON gives the response as a message.
func (r *Response) MarshalJSON() ([]byte, error) {
	if r.err != nil {
		return codec.AppendError(nil, []byte(r.ID()), ourError(r.err)), nil
	}
	return codec.AppendResult(nil, []byte(r.ID()), r.result), nil
}
