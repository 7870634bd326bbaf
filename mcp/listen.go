package mcp

import (
	"slices"

	"github.com/correlator-go/correlator/codec"
)

// stream is a subscription of the modern era.
type stream struct {
	rawID  []byte
	filter filter
}

// filter is what a subscription hears of: what it asked for and the server has.
type filter struct {
	tools, prompts, resources bool
	uris                      map[string]struct{}
	order                     []string // the URIs as they came
}

// listen admits subscriptions/listen.
func (x *step) listen(a *arrival) verdict {
	wanted := a.p.filter.Of(a.params)
	if !isObject(wanted) {
		return refuse(refusedParams)
	}
	f, ok := readFilter(wanted, x.s.options.MaxWatched)
	if !ok {
		return refuse(refusedParams)
	}
	if len(f.order) > x.s.options.MaxWatched {
		return refuse(refusedWatch)
	}
	s := x.s.server
	f.prompts = f.prompts && s.hasPrompts()
	if !s.hasResources() {
		f.resources, f.uris, f.order = false, nil, nil
	}
	return verdict{stream: &stream{rawID: slices.Clone(a.env.RawID.Of(a.text)), filter: f}}
}

// readFilter reads the params' filter. It stops reading URIs behind the one that is
// one too many.
func readFilter(text []byte, most int) (f filter, ok bool) {
	flag := func(to *bool, value []byte) bool {
		*to = string(value) == "true"
		return *to || string(value) == "false"
	}
	ok = true
	m, _ := membersOf(text)
	for name, span, more := m.next(); more && ok; name, span, more = m.next() {
		value := span.Of(text)
		switch string(name) {
		case "toolsListChanged":
			ok = flag(&f.tools, value)
		case "promptsListChanged":
			ok = flag(&f.prompts, value)
		case "resourcesListChanged":
			ok = flag(&f.resources, value)
		case "resourceSubscriptions":
			f.uris, f.order = make(map[string]struct{}), nil
			texts := true
			ok = elements(value, func(uri []byte) bool {
				text, isText := stringOf(uri)
				if texts = isText; !isText {
					return false
				}
				if _, twice := f.uris[string(text)]; !twice {
					f.uris[string(text)] = struct{}{}
					f.order = append(f.order, string(text))
				}
				return len(f.order) <= most
			}) && texts
		}
	}
	return f, ok
}

// hears reports whether the filter lets a notification pass.
func (f *filter) hears(n Notification) bool {
	switch n.Kind {
	case ToolsChanged:
		return f.tools
	case PromptsChanged:
		return f.prompts
	case ResourcesChanged:
		return f.resources
	case ResourceUpdated:
		_, ok := f.uris[n.URI]
		return ok
	}
	return false
}

const openSubscription = `{"_meta":{"` + MetaSubscriptionID + `":`

// acknowledgement says what of the filter is honoured.
func (st *stream) acknowledgement() []byte {
	params := append([]byte(openSubscription), st.rawID...)
	params = append(params, `},"notifications":{`...)
	start := len(params)
	comma := func() {
		if len(params) > start {
			params = append(params, ',')
		}
	}
	flag := func(name string, set bool) {
		if set {
			comma()
			params = append(append(append(params, '"'), name...), `":true`...)
		}
	}
	flag("toolsListChanged", st.filter.tools)
	flag("promptsListChanged", st.filter.prompts)
	flag("resourcesListChanged", st.filter.resources)
	if len(st.filter.order) > 0 {
		comma()
		params = append(params, `"resourceSubscriptions":[`...)
		for i, uri := range st.filter.order {
			if i > 0 {
				params = append(params, ',')
			}
			params = codec.AppendString(params, uri)
		}
		params = append(params, ']')
	}
	return codec.AppendNotification(nil, NoteAcknowledged, append(params, "}}"...))
}

// notify tells the subscriptions, newest first, and a session of the older era.
func (x *step) notify(n Notification) {
	method := n.Kind.method()
	if method == "" {
		return
	}
	for e := x.s.streams.first; e != nil; e = e.next {
		if e.stream.filter.hears(n) {
			params := append([]byte(openSubscription), e.stream.rawID...)
			params = append(params, '}')
			if n.Kind == ResourceUpdated {
				params = appendMember(params, "uri", n.URI)
			}
			x.write(e.id, codec.AppendNotification(nil, method, append(params, '}')), false)
		}
	}
	session := &x.s.session
	if session.revision == "" {
		return
	}
	var params []byte
	if n.Kind == ResourceUpdated {
		if _, watched := session.watched[n.URI]; !watched {
			return
		}
		params = append(codec.AppendString([]byte(`{"uri":`), n.URI), '}')
	}
	x.write(0, codec.AppendNotification(nil, method, params), false)
}

func (k NotificationKind) method() string {
	switch k {
	case ToolsChanged:
		return NoteToolsChanged
	case PromptsChanged:
		return NotePromptsChanged
	case ResourcesChanged:
		return NoteResourcesChanged
	case ResourceUpdated:
		return NoteResourceUpdated
	}
	return ""
}

// endStreams answers every subscription.
func (x *step) endStreams() {
	for x.s.streams.first != nil {
		e := x.s.streams.first
		id := append([]byte(`"`+MetaSubscriptionID+`":`), e.stream.rawID...)
		result := x.s.server.appendMeta([]byte(`{"resultType":"complete"`), id)
		x.write(e.id, codec.AppendResult(nil, e.stream.rawID, append(result, '}')), true)
		x.end(e)
	}
}
