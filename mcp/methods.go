package mcp

// callTool admits tools/call. A tool that is not there, one that the caller does
// not see and one that it may not call are the same to it.
func (x *step) callTool(a *arrival) verdict {
	s := x.s.server
	if !s.hasTools() {
		return refuse(refusedMethod)
	}
	if a.params != nil && !isObject(a.params) {
		return refuse(refusedParams)
	}
	name, _ := stringOf(a.p.name.Of(a.params))
	t := s.tools.by[string(name)]
	if t == nil || !t.callable(a.caller) {
		return refuse(refusedTool)
	}
	arguments := a.p.arguments.Of(a.params)
	if arguments != nil && !isObject(arguments) {
		return refuse(refusedParams)
	}
	if t.requires != 0 {
		if missing := t.requires &^ x.declared(a); missing != 0 {
			return refuse(missingCapability(a.revision, missing))
		}
	}
	if a.headers != nil && a.headers.Param != nil && len(t.headers) > 0 &&
		!mirrored(t.headers, arguments, a.headers.Param) {
		return refuse(refusedParamHeader)
	}
	v := x.invocation(a)
	v.target = t
	if r := v.resume(a); r != nil {
		return refuse(r)
	}
	return verdict{run: v}
}

// readResource admits resources/read: an exact URI before a template, the first
// template that fits. It has no input rounds.
func (x *step) readResource(a *arrival) verdict {
	if !x.s.server.hasResources() {
		return refuse(refusedMethod)
	}
	uri, ok := stringOf(a.p.uri.Of(a.params))
	if !ok || a.p.state.Present() || a.p.inputs.Present() {
		return refuse(refusedParams)
	}
	r, t := x.s.server.lookup(uri, a.caller)
	if r == nil && t == nil {
		return refuse(&refused{notFound(a.revision, a.p.uri.Of(a.params)), RefusedParams})
	}
	a.p.name = a.p.uri
	v := x.invocation(a)
	if r != nil {
		v.target = r
	} else {
		v.target = t
	}
	return verdict{run: v}
}

// lookup finds who reads a resource.
func (s *Server) lookup(uri []byte, c Caller) (*resource, *template) {
	if r := s.resources.by[string(uri)]; r != nil && r.visible(c) {
		return r, nil
	}
	if len(s.templates.list) > 0 {
		text := string(uri)
		for _, t := range s.templates.list {
			if t.visible(c) && t.pattern.match(text, nil) {
				return nil, t
			}
		}
	}
	return nil, nil
}

// getPrompt admits prompts/get.
func (x *step) getPrompt(a *arrival) verdict {
	s := x.s.server
	if !s.hasPrompts() {
		return refuse(refusedMethod)
	}
	name, ok := stringOf(a.p.name.Of(a.params))
	if !ok {
		return refuse(refusedParams)
	}
	p := s.prompts.by[string(name)]
	if p == nil || !p.visible(a.caller) {
		return refuse(refusedPrompt)
	}
	arguments := a.p.arguments.Of(a.params)
	if arguments != nil && !isTextObject(arguments) {
		return refuse(refusedParams)
	}
	for _, argument := range p.Arguments {
		if argument.Required && member(arguments, argument.Name) == nil {
			return refuse(refusedParams)
		}
	}
	v := x.invocation(a)
	v.target = p
	if r := v.resume(a); r != nil {
		return refuse(r)
	}
	return verdict{run: v}
}

// resume takes up the round that the request's state is of.
func (v *Invocation) resume(a *arrival) *refused {
	if !a.p.state.Present() && !a.p.inputs.Present() || !v.isModern() {
		return nil
	}
	if inputs := a.p.inputs.Of(a.params); inputs != nil && !(isObject(inputs) && allMembers(inputs, isObject)) {
		return refusedInputs
	}
	if a.p.state.Present() {
		token, ok := stringOf(a.p.state.Of(a.params))
		if !ok {
			return refusedState
		}
		if v.before = v.server.unsealRound(v, token); v.before == nil {
			return refusedState
		}
	}
	return nil
}

// complete admits completion/complete.
func (x *step) complete(a *arrival) verdict {
	if x.s.server.d.Complete == nil {
		return refuse(refusedMethod)
	}
	if _, ok := readCompletion(a.params); !ok {
		return refuse(refusedParams)
	}
	return verdict{run: x.invocation(a)}
}

// readCompletion reads the params of completion/complete.
func readCompletion(params []byte) (c Completion, ok bool) {
	ref, argument := member(params, "ref"), member(params, "argument")
	if !isObject(ref) || !isObject(argument) {
		return c, false
	}
	switch decodeString(member(ref, "type")) {
	case "ref/prompt":
		name := member(ref, "name")
		if c.Prompt = decodeString(name); c.Prompt == "" {
			return c, false
		}
	case "ref/resource":
		if c.URI = decodeString(member(ref, "uri")); c.URI == "" {
			return c, false
		}
	default:
		return c, false
	}
	name, value := member(argument, "name"), member(argument, "value")
	if !isString(name) || !isString(value) {
		return c, false
	}
	c.Argument, c.Value = decodeString(name), decodeString(value)
	if context := member(params, "context"); context != nil {
		if !isObject(context) {
			return c, false
		}
		known := member(context, "arguments")
		if known != nil && !isTextObject(known) {
			return c, false
		}
		m, _ := membersOf(known)
		for name, value, ok := m.next(); ok; name, value, ok = m.next() {
			if c.Context == nil {
				c.Context = make(map[string]string)
			}
			c.Context[string(name)] = decodeString(value.Of(known))
		}
	}
	return c, true
}
