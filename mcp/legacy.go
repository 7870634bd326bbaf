package mcp

import (
	"slices"

	"github.com/correlator-go/correlator/codec"
)

// legacyMethod answers, or finds the handler for, a request of the older era.
func (x *step) legacyMethod(a *arrival) verdict {
	session := &x.s.session
	a.revision = session.revision
	if a.env.Flags.Has(codec.FlagParamsNull) && a.method != MethodInitialize {
		a.params = nil // some peers write null for nothing
	}
	switch a.method {
	case MethodPing:
		return verdict{result: a.answer(emptyObject)}
	case MethodInitialize:
		return x.initialize(a)
	case "", MethodDiscover, MethodListen:
		return refuse(refusedMethod)
	}
	if session.revision == "" {
		return refuse(refusedEarly)
	}
	if a.params != nil && !isObject(a.params) {
		return refuse(refusedParams)
	}
	if meta := a.p.meta.Of(a.params); meta != nil && !isObject(meta) {
		return refuse(refusedParams)
	}
	if a.p.token.Present() && !isID(a.p.token.Of(a.params)) {
		return refuse(refusedToken)
	}
	a.adoptCorrelation()
	switch a.method {
	case MethodSetLevel:
		return x.setLevel(a)
	case MethodSubscribe, MethodUnsubscribe:
		return x.watch(a)
	}
	return x.sharedMethod(a)
}

// initialize agrees on a revision: the client's if it is served, else the newest of
// the era.
func (x *step) initialize(a *arrival) verdict {
	s, session := x.s.server, &x.s.session
	version := member(a.params, "protocolVersion")
	capabilities, info := member(a.params, "capabilities"), member(a.params, "clientInfo")
	wanted, isText := stringOf(version)
	switch {
	case a.batched:
		return refuse(refusedInBatch)
	case session.revision != "":
		return refuse(refusedAgain)
	case !isText || !isObject(capabilities) || !isImplementation(info):
		return refuse(refusedParams)
	case len(s.legacy) == 0:
		return refuse(unsupportedVersion(s.modern, version))
	}
	revision := s.legacy[0]
	if i := slices.Index(s.legacy, Revision(wanted)); i >= 0 {
		revision = s.legacy[i]
	}
	session.revision = revision
	session.peer = &peer{revision: revision, capabilities: slices.Clone(capabilities), info: slices.Clone(info)}
	a.revision = revision
	result := codec.AppendString([]byte(`{"protocolVersion":`), string(revision))
	result = append(append(result, `,"capabilities":`...), s.capsJSON...)
	result = append(append(result, `,"serverInfo":`...), s.info...)
	result = append(append(result, s.common...), '}')
	return verdict{result: a.answer(result)}
}

// initialized lets what waited for the client go.
func (x *step) initialized() {
	session := &x.s.session
	if session.revision == "" || session.ready {
		return
	}
	session.ready = true
	x.out = append(x.out, session.held...)
	session.held = nil
}

// ask sends a question to the client, as soon as it may be asked.
func (x *step) ask(e Effect) {
	if session := &x.s.session; !session.ready {
		session.held = append(session.held, e)
		return
	}
	x.out = append(x.out, e)
}

// unhold forgets the questions of an invocation that is over.
func (s *State) unhold(id InvocationID) {
	if len(s.session.held) > 0 {
		s.session.held = slices.DeleteFunc(s.session.held, func(e Effect) bool { return e.Invocation == id })
	}
}

func (x *step) setLevel(a *arrival) verdict {
	if !x.s.server.d.Logging {
		return refuse(refusedMethod)
	}
	name, _ := stringOf(member(a.params, "level"))
	level, ok := ParseLevel(name)
	if !ok {
		return refuse(refusedParams)
	}
	x.s.session.level = level
	return verdict{result: a.answer(emptyObject)}
}

// watch subscribes the session to a resource, or ends that.
func (x *step) watch(a *arrival) verdict {
	s, session := x.s.server, &x.s.session
	if !s.hasResources() {
		return refuse(refusedMethod)
	}
	uri, ok := stringOf(a.p.uri.Of(a.params))
	if !ok {
		return refuse(refusedParams)
	}
	if a.method == MethodUnsubscribe {
		delete(session.watched, string(uri))
		return verdict{result: a.answer(emptyObject)}
	}
	if r, t := s.lookup(uri, a.caller); r == nil && t == nil {
		return refuse(&refused{notFound(a.revision, a.p.uri.Of(a.params)), RefusedParams})
	}
	if _, twice := session.watched[string(uri)]; !twice {
		if len(session.watched) >= x.s.options.MaxWatched {
			return refuse(refusedWatch)
		}
		if session.watched == nil {
			session.watched = make(map[string]struct{})
		}
		session.watched[string(uri)] = struct{}{}
	}
	return verdict{result: a.answer(emptyObject)}
}

// isImplementation reports whether a client info has what it must.
func isImplementation(text []byte) bool {
	if !isObject(text) {
		return false
	}
	_, named := readImplementation(text, 0)
	return named
}
