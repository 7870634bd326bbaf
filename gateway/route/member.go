package route

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// ErrNoObject: what should hold members is no object.
var ErrNoObject = errors.New("route: not an object")

// Members finds the values of members of an object, which must be valid JSON: a span
// for each name, absent where there is none. Names count by their exact case, escaped
// or not. The error is ErrNoObject, or codec.ErrDuplicateMember if one of them stands
// twice: what was looked at must be what the next reader takes.
func Members(object []byte, names ...string) ([]codec.Span, error) {
	out := make([]codec.Span, len(names))
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return out, ErrNoObject
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return out, ErrNoObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return out, ErrNoObject
		}
		for i, name := range names {
			if key != name {
				continue
			}
			if out[i].Present() {
				return out, codec.ErrDuplicateMember
			}
			end := uint32(d.InputOffset())
			out[i] = codec.Span{Off: end - uint32(len(value)), End: end}
		}
	}
	return out, nil
}

// Member is Members for one name.
func Member(object []byte, name string) (codec.Span, error) {
	spans, err := Members(object, name)
	return spans[0], err
}

// Text decodes a JSON string; false if it is none.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
