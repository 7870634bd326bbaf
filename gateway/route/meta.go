package route

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// ErrTwice: a member that is read or rewritten stands twice at its level.
var ErrTwice = errors.New("route: a member stands twice")

// Meta gives the text of the string _meta[name] in the params of a request; "" where there
// is none. ErrTwice says that there are two.
func Meta(m *codec.Message, name string) (string, error) {
	at, _, err := metaMember(m.Params(), name)
	if err != nil || at.value == nil {
		return "", err
	}
	var text string
	if json.Unmarshal(at.value, &text) != nil {
		return "", nil
	}
	return text, nil
}

// AppendWithMeta appends the frame of a request with _meta[name] being text, which needs
// no escapes; all other bytes are as they were. Params and _meta are put in where they
// are missing. False, and dst as it was, says that they are no objects.
func AppendWithMeta(dst []byte, m *codec.Message, name, text string) ([]byte, bool) {
	member := []byte(`"` + name + `":"` + text + `"`)
	frame, params := m.Frame(), m.Envelope.Params
	if !params.Present() || string(m.Params()) == "null" {
		if params.Present() {
			return codec.AppendSplice(dst, frame, codec.Edit{Span: params, Text: []byte(`{"_meta":{` + string(member) + `}}`)}), true
		}
		end := bytes.LastIndexByte(frame, '}')
		dst = append(dst, frame[:end]...)
		dst = append(dst, `,"params":{"_meta":{`...)
		dst = append(dst, member...)
		dst = append(dst, `}}`...)
		return append(dst, frame[end:]...), true
	}
	at, within, err := metaMember(m.Params(), name)
	if err != nil || !within.ok {
		return dst, false
	}
	from, to, insert := at.start, at.end, member[len(name)+3:]
	if at.value == nil {
		from, to, insert = within.open, within.open, within.wrap(member)
	}
	base := int(params.Off)
	dst = append(dst, frame[:base+from]...)
	dst = append(dst, insert...)
	return append(dst, frame[base+to:]...), true
}

// spot is where a value stands; value is nil where there is none.
type spot struct {
	value      []byte
	start, end int
}

// place is where a member can be put in.
type place struct {
	ok       bool
	open     int // behind the brace
	empty    bool
	wantMeta bool // the brace is that of params, which have no _meta
}

func (p place) wrap(member []byte) []byte {
	out := member
	if p.wantMeta {
		out = []byte(`"_meta":{` + string(member) + `}`)
	}
	if !p.empty {
		out = append(out[:len(out):len(out)], ',')
	}
	return out
}

func metaMember(params []byte, name string) (at spot, in place, err error) {
	meta, in, err := find(params, 0, len(params), "_meta")
	if err != nil || !in.ok || meta.value == nil {
		in.wantMeta = true
		return spot{}, in, err
	}
	return find(params, meta.start, meta.end, name)
}

// find looks for a member of the object in text[from:to], a valid JSON text.
func find(text []byte, from, to int, name string) (at spot, in place, err error) {
	d := json.NewDecoder(bytes.NewReader(text[from:to]))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return at, in, nil //nolint:nilerr // it is no object, which in says
	}
	in = place{ok: true, open: from + int(d.InputOffset()), empty: true}
	for d.More() {
		in.empty = false
		key, err := d.Token()
		if err != nil {
			return spot{}, place{}, nil //nolint:nilerr // deeper than encoding/json reads
		}
		start := from + int(d.InputOffset())
		start += bytes.IndexByte(text[start:to], ':') + 1
		for text[start] == ' ' || text[start] == '\t' || text[start] == '\n' || text[start] == '\r' {
			start++
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return spot{}, place{}, nil
		}
		if key != name {
			continue
		}
		if at.value != nil {
			return spot{}, place{}, ErrTwice
		}
		at = spot{value: value, start: start, end: from + int(d.InputOffset())}
	}
	return at, in, nil
}
