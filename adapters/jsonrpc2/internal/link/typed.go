package link

import "github.com/correlator-go/correlator/codec"

// Typed is codec.HeaderFramer with a Content-Type before each message that is
// sent. In what is received the type may be any or missing.
type Typed struct {
	codec.HeaderFramer
	// Type is the value of the header. Empty sends none.
	Type string
}

var _ codec.Framer = Typed{}

const (
	typeName = "Content-Type: "
	lineEnd  = "\r\n"
)

// Open implements codec.Framer.
func (t Typed) Open(dst []byte) []byte {
	if t.Type != "" {
		dst = append(dst, typeName...)
		dst = append(dst, t.Type...)
		dst = append(dst, lineEnd...)
	}
	return t.HeaderFramer.Open(dst)
}

// Seal implements codec.Framer. Its error is codec.ErrEmptyFrame.
func (t Typed) Seal(dst []byte, start int) ([]byte, error) {
	head := start
	if t.Type != "" {
		head += len(typeName) + len(t.Type) + len(lineEnd)
	}
	dst, err := t.HeaderFramer.Seal(dst, head)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}
