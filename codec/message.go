package codec

import "github.com/correlator-go/correlator/internal/chunk"

// Message is the view onto one frame: the offsets that [Scan] found and the
// bytes they point into. It is a small value; copying it copies no bytes and
// takes no reference.
//
// # Lifetime
//
// What the methods return aliases the frame, unless they say that they copy. A
// message that a [Reader] filled is borrowed until the reader's next call;
// [Message.Retain] and [Message.Detach] make it last. A message that [Parse]
// made lives as long as the caller leaves the frame's bytes alone.
//
// The read methods may be called by many goroutines at once while the bytes
// are not changed.
type Message struct {
	Envelope
	frame []byte       // with the capacity of the chunk behind it, if it lies in one
	chunk *chunk.Chunk // what frame lies in; nil: borrowed from the caller of Parse, or owned outright
	lease lease        // what this value holds of chunk
}

// Parse scans frame and returns the view onto it. Nothing is copied: the
// message borrows frame. Its errors are those of [Scan]; the message returned
// beside one holds the frame and, where it could be read, the id.
func Parse(frame []byte, o ScanOptions) (Message, error) {
	m := Message{frame: frame}
	err := Scan(frame, &m.Envelope, o)
	return m, err
}

// Frame returns the whole frame.
func (m *Message) Frame() []byte { return m.frame[:len(m.frame):len(m.frame)] }

// RawID returns the JSON text of the id, nil when it is absent.
func (m *Message) RawID() []byte { return m.Envelope.RawID.Of(m.frame) }

// ID returns the id as a value that shares no bytes with the frame. It
// allocates only for strings and for numbers that are no int64.
func (m *Message) ID() ID {
	switch m.IDKind {
	case IDAbsent:
		return ID{}
	case IDInt:
		return IntID(m.IntID)
	case IDNull:
		return NullID()
	}
	id, _ := ParseID(m.RawID(), JSONRPC) // the scan accepted it, under rules no wider
	return id
}

// Method returns the decoded method name, nil in a response. It allocates, and
// returns a copy, only under FlagMethodEscaped.
func (m *Message) Method() []byte {
	raw := m.Envelope.Method.Of(m.frame)
	if m.Flags.Has(FlagMethodEscaped) {
		return unquote(nil, raw, len(raw))
	}
	return raw
}

// Params returns the JSON text of params, nil when absent, `null` when null.
func (m *Message) Params() []byte { return m.Envelope.Params.Of(m.frame) }

// Result returns the JSON text of the result, nil when absent or beaten by an
// error.
func (m *Message) Result() []byte { return m.Envelope.Result.Of(m.frame) }

// RawError returns the JSON text of the error, nil when absent or null.
func (m *Message) RawError() []byte { return m.Envelope.Error.Of(m.frame) }

// Token returns the JSON text of params._meta.progressToken, nil when absent.
func (m *Message) Token() []byte { return m.Envelope.Token.Of(m.frame) }

// Progress returns the JSON text of params.progressToken, nil when absent.
func (m *Message) Progress() []byte { return m.Envelope.Progress.Of(m.frame) }

// RequestID returns the JSON text of params.requestId (LSP profile: params.id),
// nil when absent.
func (m *Message) RequestID() []byte { return m.Envelope.RequestID.Of(m.frame) }

// Name returns the JSON text of params.name or params.uri as [Envelope.Name]
// chooses, nil when both are absent.
func (m *Message) Name() []byte { return m.Envelope.Name.Of(m.frame) }

// Subscription returns the JSON text of the subscription id, nil when absent.
func (m *Message) Subscription() []byte { return m.Envelope.Subscription.Of(m.frame) }

// Err reads the error member with [ReadError]; nil when there is no error. The
// error returned shares no bytes with the frame.
func (m *Message) Err() *Error { return ReadError(m.RawError()) }
