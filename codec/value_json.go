package codec

import (
	"bytes"
	"encoding/json"
)

// encodeStd encodes v with encoding/json into the capacity of *b, which is empty.
func encodeStd(b *[]byte, v any) error {
	w := appender{(*b)[:0]}
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	*b = bytes.TrimSuffix(w.b, []byte{'\n'})
	return nil
}

func decodeStd(data []byte, v any) error { return json.Unmarshal(data, v) }

// appender is an io.Writer that appends.
type appender struct{ b []byte }

func (w *appender) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}
