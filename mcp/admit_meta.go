package mcp

// admitMeta checks what every modern request brings, in this order: params, _meta,
// version and headers, capabilities, client info, progress token, log level,
// idempotency key.
func (x *step) admitMeta(a *arrival) *refused {
	p, meta := &a.p.m, a.meta
	if !isObject(a.params) || !isObject(meta) {
		return refusedNoParams
	}
	version, ok := stringOf(p.version.Of(meta))
	if !ok {
		return refusedNoVersion
	}
	if a.headers != nil && !a.headersAgree(version) {
		return refusedHeader
	}
	a.revision = ""
	for _, r := range x.s.server.modern {
		if string(version) == string(r) {
			a.revision = r
		}
	}
	if a.revision == "" {
		return unsupportedVersion(x.s.server.modern, p.version.Of(meta))
	}
	if !isObject(p.capabilities.Of(meta)) {
		return refusedNoCaps
	}
	if p.info.Present() && !p.named {
		return refusedInfo
	}
	if a.p.token.Present() && !isID(a.p.token.Of(a.params)) {
		return refusedToken
	}
	if p.logLevel.Present() {
		name, _ := stringOf(p.logLevel.Of(meta))
		if _, ok := ParseLevel(name); !ok {
			return refusedLevel
		}
	}
	if p.idempotency.Present() {
		if key, ok := stringOf(p.idempotency.Of(meta)); !ok || !isVisible(key) {
			return refusedIdempotency
		}
	}
	a.adoptCorrelation()
	return nil
}

// adoptCorrelation takes the value of _meta where the transport brought none. HTTP
// has a header for it.
func (a *arrival) adoptCorrelation() {
	if a.correlation.given != "" || a.headers != nil || !a.p.m.correlation.Present() {
		return
	}
	if value, ok := stringOf(a.p.m.correlation.Of(a.meta)); ok && isVisible(value) {
		a.correlation = Correlation{given: string(value)}
	}
}

// headersAgree compares the headers that every request has with its body. Name is
// that of the methods that are about something.
func (a *arrival) headersAgree(version []byte) bool {
	h := a.headers
	if h.Version != string(version) || h.Method != string(a.methodName()) {
		return false
	}
	var name []byte
	switch a.method {
	case MethodCallTool, MethodGetPrompt:
		name = a.p.name.Of(a.params)
	case MethodReadResource:
		name = a.p.uri.Of(a.params)
	}
	want, ok := stringOf(name)
	if !ok {
		return true // the body is what is wrong
	}
	got, ok := DecodeHeader(h.Name)
	return ok && got == string(want)
}
