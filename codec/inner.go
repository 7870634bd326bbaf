package codec

// scope says which object's members are read.
type scope uint8

const (
	inParams scope = iota
	inParamsLSP
	inResult
	inParamsMeta
	inResultMeta
)

// meta is the scope of the _meta object of an object of scope in.
func (in scope) meta() scope {
	if in == inResult {
		return inResultMeta
	}
	return inParamsMeta
}

// subscriptionKey is the _meta member that names a subscription (MCP
// 2026-07-28, subscriptions).
const subscriptionKey = "io.modelcontextprotocol/subscriptionId"

// The inner members that are read, as bits of what was seen in one object.
const (
	sawMeta = 1 << iota
	sawToken
	sawRequestID
	sawName
	sawURI
	sawSubscription
)

// find tells which of the members that are read in an object of scope in is
// called name; 0 for any other.
func find(name []byte, in scope) uint8 {
	switch in {
	case inParams:
		switch string(name) {
		case "_meta":
			return sawMeta
		case "progressToken":
			return sawToken
		case "requestId":
			return sawRequestID
		case "name":
			return sawName
		case "uri":
			return sawURI
		}
	case inParamsLSP:
		if string(name) == "id" {
			return sawRequestID
		}
	case inResult:
		if string(name) == "_meta" {
			return sawMeta
		}
	case inParamsMeta:
		switch string(name) {
		case "progressToken":
			return sawToken
		case subscriptionKey:
			return sawSubscription
		}
	case inResultMeta:
		if string(name) == subscriptionKey {
			return sawSubscription
		}
	}
	return 0
}

// members validates the object that begins at b[i] and notes its members that
// are read. depth counts the object itself. A member that is read may stand only
// once: what was inspected must be what the next reader takes.
func (s *scanner) members(b []byte, i int, in scope, depth int) (int, problem) {
	if depth > s.maxDepth {
		return i, errDeep
	}
	var seen uint8
	i++
	if i < len(b) && b[i] <= ' ' {
		i = s.space(b, i)
	}
	if i < len(b) && b[i] == '}' {
		return i + 1, fine
	}
	for {
		start, end, p := s.key(b, i)
		if p.bad() {
			return end, p
		}
		raw := b[start : end-1]
		i = end
		if i < len(b) && b[i] == ':' {
			i++
		} else {
			var q problem
			if i, q = s.colon(b, i); q != fine {
				return i, q
			}
		}
		var bit uint8
		if p == escaped {
			var buf [maxKey + 1]byte
			bit = find(plain(raw, p, &buf), in)
		} else {
			bit = find(raw, in)
		}
		if i < len(b) && b[i] <= ' ' {
			i = s.space(b, i)
		}
		if bit != 0 {
			if seen&bit != 0 {
				s.blame(errDuplicate, start-1)
			}
			seen |= bit
			i, p = s.inner(b, i, in, bit, depth)
		} else if s.plain { // of what hurries, spare one call
			i, p = s.skip(b, i, depth)
		} else {
			i, p = s.body(b, i, depth)
		}
		if p.bad() {
			return i, p
		}
		if i < len(b) && b[i] <= ' ' {
			i = s.space(b, i)
		}
		if i >= len(b) {
			return i, errTruncated
		}
		switch b[i] {
		case ',':
			i++
			if i < len(b) && b[i] <= ' ' {
				i = s.space(b, i)
			}
		case '}':
			return i + 1, fine
		default:
			return i, errObject
		}
	}
}

// inner validates the value of a member that is read, and notes it.
func (s *scanner) inner(b []byte, i int, in scope, bit uint8, depth int) (int, problem) {
	if bit == sawMeta && i < len(b) && b[i] == '{' {
		return s.members(b, i, in.meta(), depth+1)
	}
	end, p := s.skip(b, i, depth)
	if p.bad() {
		return end, p
	}
	span := Span{uint32(i), uint32(end)}
	switch bit {
	case sawToken:
		if in == inParams {
			s.e.Progress = span
		} else {
			s.e.Token = span
		}
	case sawRequestID:
		s.e.RequestID = span
	case sawName:
		s.named = span
	case sawURI:
		s.uri = span
	case sawSubscription:
		if in == inResultMeta {
			s.sub = span
		} else {
			s.e.Subscription = span
		}
	}
	return end, fine
}
