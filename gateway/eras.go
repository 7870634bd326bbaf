package gateway

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// introduction is what a client of the older era said of itself in initialize, and the
// log level that it has set: a request of the modern era says all of that itself.
type introduction struct {
	capabilities, info []byte
	level              []byte // JSON text
	// revision is what the client asked for, spoken what it was answered.
	revision mcp.Revision
	spoken   *atomic.Pointer[string]
}

// speaks notes what a client of the older era was answered in initialize.
func (s *Session) speaks(revision string) {
	if in := s.introduced.Load(); in != nil && in.spoken != nil {
		in.spoken.Store(&revision)
	}
}

// protocol is the revision of a request: what it says itself, or what its client was
// answered in initialize; "" if neither has been.
func (s *Session) protocol(m *codec.Message) string {
	if bytes.Contains(m.Params(), modernMark) {
		if named, err := route.Meta(m, mcp.MetaProtocolVersion); err == nil && named != "" {
			return named // of two neither counts, and the request is refused
		}
	}
	if in := s.introduced.Load(); in != nil && in.spoken != nil {
		if spoken := in.spoken.Load(); spoken != nil {
			return *spoken
		}
	}
	return ""
}

// defaultLevel is that of a client that has set none: servers of its own era choose.
var defaultLevel = []byte(`"info"`)

// introduce keeps the params of initialize.
func (s *Session) introduce(params []byte) {
	in := &introduction{spoken: new(atomic.Pointer[string]), capabilities: emptyResult, level: defaultLevel, info: []byte(`{"name":"` + Implementation + `","version":"1"}`)}
	if spans, err := route.Members(params, "capabilities", "clientInfo"); err == nil {
		if text := spans[0].Of(params); len(text) > 0 && text[0] == '{' {
			in.capabilities = append([]byte(nil), text...)
		}
		if text := spans[1].Of(params); len(text) > 0 && text[0] == '{' {
			in.info = append([]byte(nil), text...)
		}
	}
	in.revision = mcp.Revision(revisionAsked(params))
	s.introduced.Store(in)
}

// setLevel keeps the log level of a client of the older era at a modern server.
func (s *Session) setLevel(params []byte) {
	in := introduction{}
	if was := s.introduced.Load(); was != nil {
		in = *was
	}
	if level := memberOf(params, "level"); len(level) > 0 {
		in.level = append([]byte(nil), level...)
	}
	s.introduced.Store(&in)
}

// hasRounds reports whether a method's answer may be a request for input.
func hasRounds(method string) bool {
	return method == mcp.MethodCallTool || method == mcp.MethodGetPrompt || method == mcp.MethodReadResource
}

// translate makes a request of the client's era one of the server's, where they differ.
func (b *backend) translate(c *call, m *codec.Message, edits []codec.Edit) (*codec.Message, []codec.Edit) {
	switch {
	case c.session.older.Load() && b.isModernOnly():
		return b.modernise(c, m, edits)
	case c.modern && hasRounds(c.method) && b.isOlderOnly():
		meta := memberOf(m.Params(), "_meta")
		asked := memberOf(meta, mcp.MetaLogLevel)
		c.more().logs, c.more().level = len(asked) > 0, levelOf(asked)
		c.more().can = capabilitiesOf(memberOf(meta, mcp.MetaClientCapabilities))
	}
	return m, edits
}

// logged takes a log line, or what else is for one client, to whom it is for. A client of
// the modern era hears of it while the request lasts that asked for it.
func (l *life) logged(burst *link.Burst, m *codec.Message, s *Session, about *call) {
	f := link.Frame{Bytes: m.Frame(), Class: link.Note}
	if about == nil {
		about = s.soleCall(l.b) // on whose stream it belongs, where calls have streams
	}
	if s.isModern() {
		if about == nil || !about.more().logs && l.b.isOlderOnly() {
			l.b.target.g.dropped(UnownedNote, s, l.b)
			return
		}
		if !l.b.levels.hears(s, about, m) {
			return
		}
		if about = about.current(); about == nil {
			return // its client has been asked something, and has not come back
		}
		s = about.session
	} else if !l.b.levels.hears(s, about, m) {
		return
	}
	if about != nil {
		f.About = about.id.ID()
	}
	s.send(burst, &f)
}

// missing are those members of onceMeta that meta, the _meta of a request, has not: a
// server that found one twice could take either.
func (in *introduction) missing(meta []byte) []byte {
	spans, err := route.Members(meta, onceMeta...)
	if err != nil {
		spans = make([]codec.Span, len(onceMeta)) // there is none
	}
	var out []byte
	for i, value := range [...][]byte{[]byte(`"` + string(mcp.Modern) + `"`), in.capabilities, in.info, in.level} {
		if spans[i].Present() {
			continue
		}
		if out != nil {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), onceMeta[i]...), `":`...), value...)
	}
	return out
}

// modernise has a request say of itself what its client said in initialize, and the
// request does not say.
func (b *backend) modernise(c *call, m *codec.Message, edits []codec.Edit) (*codec.Message, []codec.Edit) {
	in := c.session.introduced.Load()
	if in == nil || bytes.Contains(m.Params(), modernMark) && namesRevision(m.Params()) {
		return m, edits
	}
	frame := codec.AppendSplice(nil, m.Frame(), edits...)
	plain, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil {
		return m, edits // edits replace whole values, so it cannot be
	}
	missing := in.missing(memberOf(plain.Params(), "_meta"))
	if missing == nil {
		return m, edits
	}
	params, err := codec.AppendParamsWithMeta(nil, plain.Params(), missing)
	if err != nil {
		return m, edits // params that are no object: the server says so
	}
	made, ok := withParams(&plain, params)
	if !ok {
		return m, edits
	}
	if hasRounds(c.method) {
		c.more().rounds = &rounds{request: made}
	}
	return &made, nil
}

// withParams is a message with other params.
func withParams(m *codec.Message, params []byte) (codec.Message, bool) {
	frame := m.Frame()
	var out []byte
	if at := m.Envelope.Params; at.Present() {
		out = codec.AppendSplice(nil, frame, codec.Edit{Span: at, Text: params})
	} else {
		brace := uint32(bytes.IndexByte(frame, '{') + 1)
		text := append(append([]byte(`"params":`), params...), ',')
		out = codec.AppendSplice(nil, frame, codec.Edit{Span: codec.Span{Off: brace, End: brace}, Text: text})
	}
	made, err := codec.Parse(out, codec.ScanOptions{})
	return made, err == nil
}

// cachedMethods are those whose results say in the modern era for how long they hold.
var cachedMethods = []string{
	mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource,
}

// modernAnswer gives what a server of the older era said the form that a client of the
// modern one expects: results say of which type they are.
func modernAnswer(method string, result []byte, failed *codec.Error) ([]byte, *codec.Error) {
	if failed != nil {
		if failed.Code != mcp.CodeResourceNotFound {
			return nil, failed
		}
		e := *failed
		e.Code = codec.CodeInvalidParams
		return nil, &e
	}
	spans, err := route.Members(result, "resultType", "ttlMs")
	if err != nil || spans[0].Present() {
		return result, nil
	}
	add := `"resultType":"` + mcp.ResultComplete + `"`
	if slices.Contains(cachedMethods, method) && !spans[1].Present() {
		add += `,"ttlMs":0,"cacheScope":"private"`
	}
	return withMembers(result, []byte(add)), nil
}

// withMembers puts members before those of an object.
func withMembers(object, members []byte) []byte {
	brace := bytes.IndexByte(object, '{') + 1
	out := append(append([]byte(nil), object[:brace]...), members...)
	if rest := bytes.TrimLeft(object[brace:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		out = append(out, ',')
	}
	return append(out, object[brace:]...)
}

// Bits of call.can: what a modern client can be asked for.
const (
	canElicit uint8 = 1 << iota
	canSample
	canListRoots
)

func capabilitiesOf(text []byte) uint8 {
	spans, err := route.Members(text, "elicitation", "sampling", "roots")
	if err != nil {
		return 0
	}
	can := uint8(0)
	for i, s := range spans {
		if s.Present() {
			can |= 1 << i
		}
	}
	return can
}

// askable is the bit of a method that a server may ask a client for; 0 if it may not.
func askable(method string) uint8 {
	switch method {
	case mcp.MethodElicit:
		return canElicit
	case mcp.MethodCreateMessage:
		return canSample
	case mcp.MethodListRoots:
		return canListRoots
	}
	return 0
}
