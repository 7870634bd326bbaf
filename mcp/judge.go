package mcp

// knownMethod gives the constant of a request's method, "" when there is no such
// method in any era.
func knownMethod(name []byte) string {
	switch string(name) {
	case MethodCallTool:
		return MethodCallTool
	case MethodListTools:
		return MethodListTools
	case MethodReadResource:
		return MethodReadResource
	case MethodListResources:
		return MethodListResources
	case MethodListTemplates:
		return MethodListTemplates
	case MethodGetPrompt:
		return MethodGetPrompt
	case MethodListPrompts:
		return MethodListPrompts
	case MethodComplete:
		return MethodComplete
	case MethodDiscover:
		return MethodDiscover
	case MethodListen:
		return MethodListen
	case MethodInitialize:
		return MethodInitialize
	case MethodPing:
		return MethodPing
	case MethodSetLevel:
		return MethodSetLevel
	case MethodSubscribe:
		return MethodSubscribe
	case MethodUnsubscribe:
		return MethodUnsubscribe
	}
	return ""
}

// judge decides what becomes of a request. It changes nothing but the session, and
// that only for a request that it admits.
func (x *step) judge(a *arrival) verdict {
	a.method = knownMethod(a.methodName())
	a.params = a.env.Params.Of(a.text)
	token := a.env.Token
	if token.Present() {
		token.Off, token.End = token.Off-a.env.Params.Off, token.End-a.env.Params.Off
	}
	a.p.read(a.params, x.s.memo, token)
	a.meta = a.p.metaText(a.params)
	if a.p.twice {
		return refuse(refusedTwice)
	}
	if x.isModern(a) {
		if a.batched {
			return refuse(refusedInBatch)
		}
		if r := x.admitMeta(a); r != nil {
			return refuse(r)
		}
		return x.modernMethod(a)
	}
	return x.legacyMethod(a)
}

// isModern decides the era of one request: what says a protocol version in its
// _meta is modern, and so is everything on a connection that never saw initialize,
// but for initialize itself and for a ping before it.
func (x *step) isModern(a *arrival) bool {
	switch {
	case len(x.s.server.modern) == 0:
		return false // whoever asks for discovery learns that there is none
	case a.headers != nil:
		return true
	case a.p.m.version.Present():
		return true
	case x.s.session.revision != "":
		return false
	}
	handshake := a.method == MethodInitialize || a.method == MethodPing && len(x.s.server.legacy) > 0
	return !handshake
}

// modernMethod answers, or finds the handler for, a request of the modern era.
func (x *step) modernMethod(a *arrival) verdict {
	s := x.s.server
	switch a.method {
	case MethodDiscover:
		return verdict{result: a.answer(s.appendDiscover(nil))}
	case MethodListen:
		return x.listen(a)
	}
	return x.sharedMethod(a)
}

// sharedMethod is what both eras have.
func (x *step) sharedMethod(a *arrival) verdict {
	s := x.s.server
	switch a.method {
	case MethodListTools:
		return listed(a, s, s.hasTools(), "tools", &s.tools)
	case MethodListPrompts:
		return listed(a, s, s.hasPrompts(), "prompts", &s.prompts)
	case MethodListResources:
		return listed(a, s, s.hasResources(), "resources", &s.resources)
	case MethodListTemplates:
		return listed(a, s, s.hasResources(), "resourceTemplates", &s.templates)
	case MethodCallTool:
		return x.callTool(a)
	case MethodReadResource:
		return x.readResource(a)
	case MethodGetPrompt:
		return x.getPrompt(a)
	case MethodComplete:
		return x.complete(a)
	}
	return refuse(refusedMethod)
}

// invocation makes the run of a request that passed, with its own copy of what the
// handler may read.
func (x *step) invocation(a *arrival) *Invocation {
	v := &Invocation{caller: a.caller, correlation: a.correlation, at: a.at, server: x.s.server}
	v.keep(a)
	if v.meta != nil && a.p.known == nil {
		x.s.memorize(v.meta, len(v.frame))
	}
	if !a.revision.IsModern() {
		v.peer, v.level = x.s.session.peer, x.s.session.level
	} else if a.p.m.logLevel.Present() {
		name, _ := stringOf(a.p.m.logLevel.Of(a.meta))
		v.level, _ = ParseLevel(name)
	}
	return v
}

// declared gives what the client of a request can do.
func (x *step) declared(a *arrival) capabilities {
	if a.revision.IsModern() {
		return readCapabilities(a.p.m.capabilities.Of(a.meta))
	}
	return readCapabilities(x.s.session.peer.capabilities)
}

// isTextObject reports whether text is an object of strings.
func isTextObject(text []byte) bool {
	return isObject(text) && allMembers(text, isString)
}

func allMembers(text []byte, is func([]byte) bool) bool {
	m, _ := membersOf(text)
	for _, value, ok := m.next(); ok; _, value, ok = m.next() {
		if !is(value.Of(text)) {
			return false
		}
	}
	return true
}
