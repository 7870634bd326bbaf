package codec

import "bytes"

// judge gives the verdict on a frame that is one JSON object: its kind, or why
// it is no message.
func (s *scanner) judge(b []byte) (int, problem) {
	e, seen := s.e, s.seen
	if s.fault != fine {
		return s.faultAt, s.fault
	}
	if seen == sawVersion|sawID|sawResult { // most responses
		e.Kind, e.Subscription = KindResult, s.sub
		return 0, fine
	}
	if seen&sawMethod == 0 {
		return s.judgeResponse()
	}
	if seen&(sawResult|sawError) != 0 {
		return 0, errBoth
	}
	if seen&sawVersion == 0 {
		return 0, errNoVersion
	}
	if s.named.Present() || s.uri.Present() {
		e.Name = s.subject(e.Method.Of(b))
	}
	e.Kind = KindRequest
	switch e.IDKind {
	case IDAbsent:
		e.Kind = KindNotification
	case IDNull:
		e.Flags |= FlagNullID
		if s.profile == MCP {
			e.Kind = KindNotification
		}
	}
	return 0, fine
}

func (s *scanner) judgeResponse() (int, problem) {
	e, seen := s.e, s.seen
	switch {
	case e.Error.Present():
		e.Kind = KindError
		if e.Result.Present() {
			e.Result = Span{}
			e.Flags |= FlagResultIgnored
		}
	case seen&(sawResult|sawError) == 0:
		return 0, errNeither
	case seen&sawID == 0:
		return 0, errResultID
	default:
		e.Kind = KindResult
	}
	e.Subscription = s.sub
	if seen&sawVersion == 0 {
		e.Flags |= FlagNoVersion
	}
	if seen&sawParams != 0 { // no member of a response: whatever it held is nothing to route by
		e.Params, e.Token, e.Progress, e.RequestID = Span{}, Span{}, Span{}, Span{}
		e.Flags &^= FlagParamsArray | FlagParamsNull | FlagParamsScalar
	}
	return 0, fine
}

// subject chooses between params.name and params.uri, so that a policy never
// looks at a member that the method does not use.
func (s *scanner) subject(method []byte) Span {
	const resources = "resources/"
	if s.e.Flags.Has(FlagMethodEscaped) {
		var buf [len(resources)]byte
		method = unquote(buf[:0], method, len(resources))
	}
	first, second := s.named, s.uri
	if bytes.HasPrefix(method, []byte(resources)) {
		first, second = second, first
	}
	if first.Present() {
		return first
	}
	return second
}
