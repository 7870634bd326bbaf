package gateway

import (
	"bytes"
	"errors"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// What the gateway reads of a request must stand once at its level: of two the server may
// take the other one. Package codec sees to that for ids, tokens, names and URIs; whoever
// looks for a cursor, a ref, a task or a requestState, for those; readsTwice for the rest.

// Members that decide what a client is, hears or may be asked.
var (
	onceInitialize = []string{"protocolVersion", "capabilities", "clientInfo"}
	onceLevel      = []string{"level"}
	onceListen     = []string{"notifications"}
	onceFilter     = []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "taskIds"}
	onceMeta       = []string{mcp.MetaProtocolVersion, mcp.MetaClientCapabilities, mcp.MetaClientInfo, mcp.MetaLogLevel}
)

// readsTwice reports whether a member that is read stands twice in a request. In _meta it
// is looked for whatever the client's era: what one of the older era says there is kept
// where a modern server gets the rest; see modernise.
func readsTwice(method string, params []byte) bool {
	switch method {
	case mcp.MethodInitialize:
		_, is := once(params, onceInitialize)
		return is
	case mcp.MethodSetLevel:
		if _, is := once(params, onceLevel); is {
			return true
		}
	case mcp.MethodListen:
		spans, is := once(params, onceListen)
		if is {
			return true
		}
		if _, is := once(spans[0].Of(params), onceFilter); is {
			return true
		}
	}
	return mayRepeatMeta(params) && repeatsMeta(params)
}

// once finds members, and whether one of them stands twice.
func once(object []byte, names []string) (spans []codec.Span, twice bool) {
	spans, err := route.Members(object, names...)
	return spans, errors.Is(err, codec.ErrDuplicateMember)
}

// mayRepeatMeta spares nearly every request the look at its _meta: a name that stands
// twice is there twice, or has an escape in it.
func mayRepeatMeta(params []byte) bool {
	for _, name := range metaMarks {
		if bytes.Count(params, name) > 1 {
			return true
		}
	}
	for rest := params; ; {
		at := bytes.Index(rest, escapeMark)
		if at < 0 {
			return false
		}
		if rest = rest[at+len(escapeMark):]; len(rest) > 0 && bytes.IndexByte(escapedName, rest[0]) >= 0 {
			return true
		}
	}
}

var (
	// metaMarks are the ends of the names in onceMeta: what stands before may be spelt io\/….
	metaMarks = [][]byte{[]byte(`protocolVersion"`), []byte(`clientCapabilities"`), []byte(`clientInfo"`), []byte(`logLevel"`)}
	// escapeMark and a digit of escapedName begin the escape of a letter, a point or a slash.
	escapeMark  = []byte(`\u00`)
	escapedName = []byte("24567")
)

func repeatsMeta(params []byte) bool {
	at, err := route.Member(params, "_meta")
	if err != nil {
		return false // no object; package codec refuses two
	}
	_, is := once(at.Of(params), onceMeta)
	return is
}
