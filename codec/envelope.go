package codec

import "strconv"

// Kind says what a frame is.
type Kind uint8

// The kinds. KindInvalid is the zero value: the frame was refused, or no frame
// was scanned yet.
const (
	KindInvalid Kind = iota
	KindRequest
	KindNotification
	KindResult
	KindError
)

// IsResponse reports whether k answers a request.
func (k Kind) IsResponse() bool { return k == KindResult || k == KindError }

// String gives the lower-case name of k.
func (k Kind) String() string {
	switch k {
	case KindInvalid:
		return "invalid"
	case KindRequest:
		return "request"
	case KindNotification:
		return "notification"
	case KindResult:
		return "result"
	case KindError:
		return "error"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Span is a range of bytes of a frame: the frame's bytes Off up to, not
// including, End. An absent member has Off == End; its zero value is absent.
type Span struct {
	Off uint32 // of the first byte
	End uint32 // of the byte behind the last
}

// Of returns the bytes of s in frame, without copying; nil when s is absent. It
// panics when s was not taken from a frame at least as long.
func (s Span) Of(frame []byte) []byte {
	if s.Off == s.End {
		return nil
	}
	return frame[s.Off:s.End:s.End]
}

// Present reports whether the member stood in the frame.
func (s Span) Present() bool { return s.Off != s.End }

// Len is the number of bytes of s.
func (s Span) Len() int { return int(s.End - s.Off) }

// Flags are facts about a frame that routing and forwarding need.
type Flags uint16

const (
	// FlagNewline: a raw LF or CR stands between two tokens (it never can inside
	// a string). On a newline-delimited transport such a frame would be read as
	// two: pass it through [AppendCompact] first.
	FlagNewline Flags = 1 << iota
	// FlagMethodEscaped: the method name holds escapes; [Message.Method] decodes
	// it, the Span does not.
	FlagMethodEscaped
	// FlagParamsArray: params is an array (positional parameters).
	FlagParamsArray
	// FlagParamsNull: params is null. The Span is present.
	FlagParamsNull
	// FlagParamsScalar: params is a string, number or boolean, which no
	// specification allows; a server answers -32602.
	FlagParamsScalar
	// FlagNoVersion: a response without a jsonrpc member, in the manner of
	// JSON-RPC 1.0. Add the member before forwarding it.
	FlagNoVersion
	// FlagErrorNull: the member "error" is null, which is no error. The Error
	// span is absent. Drop the member before forwarding the response.
	FlagErrorNull
	// FlagResultIgnored: a result stands beside a non-null error. The error
	// wins, the Result span is absent. Such a response is never forwarded as it is.
	FlagResultIgnored
	// FlagNullID: a method beside "id":null. See [Profile] for what it becomes.
	FlagNullID
)

// Has reports whether all flags of g are set in f.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Envelope is what [Scan] found in a frame: plain offsets, no pointers, so that
// it costs the collector nothing and may be copied and compared freely.
//
// Strings keep their quotes and escapes in the spans RawID, Token, Progress,
// RequestID, Name and Subscription, which are JSON texts to be echoed or handed
// to [ParseID]. Method alone is without its quotes.
//
// Token, Progress, RequestID, Name and Subscription hold a value of any JSON
// type: whether its type is right is for the protocol above to say.
type Envelope struct {
	// IntID is the id when IDKind is IDInt.
	IntID int64
	// RawID is the JSON text of the id, set in a refused frame too whenever the
	// id could be read.
	RawID Span
	// Method is the name between its quotes.
	Method Span
	// Params, Result and Error are the JSON texts of those members.
	Params, Result, Error Span
	// Token is params._meta.progressToken: a request asks for progress under it.
	Token Span
	// Progress is params.progressToken: a progress notification's token.
	Progress Span
	// RequestID is params.requestId of notifications/cancelled; in the LSP
	// profile params.id, as $/cancelRequest has it.
	RequestID Span
	// Name is what an operation is about: params.uri in methods that begin with
	// "resources/", params.name in all others, and the other one where that
	// member is missing.
	Name Span
	// Subscription is _meta["io.modelcontextprotocol/subscriptionId"] of params
	// or of result.
	Subscription Span
	// Kind, IDKind and Flags say how to read the rest.
	Kind   Kind
	IDKind IDKind
	Flags  Flags
}
