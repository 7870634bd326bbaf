package gateway

import (
	"errors"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// listening is what a client of the modern era listens to at a server of the older one.
// The gateway answers for the server: it says what is granted, and passes on what the
// server says by itself.
type listening struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// of makes what a listen request asks for of its params; what is unknown is not granted.
func listeningOf(params []byte) listening {
	filter := memberOf(params, "notifications")
	is := func(name string) bool { return string(memberOf(filter, name)) == "true" }
	l := listening{Tools: is("toolsListChanged"), Prompts: is("promptsListChanged"), Resources: is("resourcesListChanged")}
	_ = codec.DecodeValue(memberOf(filter, "resourceSubscriptions"), &l.URIs) // else none are granted
	return l
}

// wants reports whether a change is listened to.
func (l *listening) wants(method string) bool {
	switch method {
	case mcp.NoteToolsChanged:
		return l.Tools
	case mcp.NotePromptsChanged:
		return l.Prompts
	case mcp.NoteResourcesChanged:
		return l.Resources
	}
	return false
}

// grant is the part of l that a server with these capabilities gives.
func (l *listening) grant(initialized []byte) {
	capabilities := memberOf(initialized, "capabilities")
	can := func(what, member string) bool {
		return string(memberOf(memberOf(capabilities, what), member)) == "true"
	}
	l.Tools = l.Tools && can("tools", "listChanged")
	l.Prompts = l.Prompts && can("prompts", "listChanged")
	l.Resources = l.Resources && can("resources", "listChanged")
	if !can("resources", "subscribe") {
		l.URIs = nil
	}
	l.URIs = l.URIs[:min(len(l.URIs), topicsMost)]
}

// listen takes subscriptions/listen for a server of the older era. The call lasts until
// its client cancels it or goes; a server that was lost and opened again is told anew.
func (h *hub) listen(burst *link.Burst, c *call, m *codec.Message) {
	h.b.mu.Lock()
	initialized := h.b.greeting.initialized
	h.b.mu.Unlock()
	l := listeningOf(m.Params())
	l.grant(initialized)
	c.more().released = func() { h.unlisten(c) }
	if !c.take() {
		return
	}
	c.acknowledge(burst, &l)
	h.enlist(c, &l)
}

// acknowledge tells the client of c what is granted.
func (c *call) acknowledge(burst *link.Burst, l *listening) {
	granted, err := codec.AppendValue(nil, l)
	if err != nil {
		granted = emptyResult // it cannot be: flags and strings only
	}
	params := append(append([]byte(`{`), c.subscriptionMeta()...), `,"notifications":`...)
	params = append(append(params, granted...), '}')
	c.session.send(burst, &link.Frame{Bytes: codec.AppendNotification(nil, mcp.NoteAcknowledged, params), About: c.id.ID(), Class: link.Ask})
}

// enlist has c, which is taken, hear of what l says.
func (h *hub) enlist(c *call, l *listening) {
	h.mu.Lock()
	if h.listens == nil {
		h.listens = make(map[*call]*listening)
	}
	h.listens[c] = l
	h.recount()
	if h.b.isModernOnly() {
		h.stream.attended = true
		h.stream.seeTo(h)
	}
	for _, uri := range l.URIs {
		t := h.topic(uri)
		if t.listens == nil {
			t.listens = make(map[*call]struct{})
		}
		t.listens[c] = struct{}{}
		h.seeTo(t)
	}
	h.mu.Unlock()
	if c.over.Load() {
		h.unlisten(c)
	}
}

// unlisten notes that c listens no more.
func (h *hub) unlisten(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.listens[c]
	if l == nil {
		return
	}
	delete(h.listens, c)
	h.recount()
	for _, uri := range l.URIs {
		if t := h.topics[uri]; t != nil {
			delete(t.listens, c)
			h.seeTo(t)
		}
	}
}

// errListenOver is why a subscription ends that nobody cancelled.
var errListenOver = errors.New("gateway: the subscription is over")

// endListens ends the subscriptions of clients of the modern era at t, all if t is nil,
// by the answer that says so: they last for ever otherwise.
func (g *Gateway) endListens(t *target) {
	for _, s := range g.everySession() {
		s.mu.Lock()
		var listens []*call
		for c := s.calls.first; c != nil; c = c.next {
			b := c.backend.Load()
			if c.method == mcp.MethodListen && c.modern && (t == nil || b != nil && b.target == t) {
				listens = append(listens, c)
			}
		}
		s.mu.Unlock()
		for _, c := range listens {
			c.cancel(errListenOver, nil, nil)
		}
	}
}

// endedListen takes a server's cancel of a subscription, one of two ways in which servers
// end them: the client hears of it by the answer, which is the other. False says that
// it is none.
func (b *backend) endedListen(id codec.ID) bool {
	number, ok := id.Int()
	if !ok {
		return false
	}
	if c := b.owners.find(number); c != nil && c.method == mcp.MethodListen {
		return c.cancel(errListenOver, nil, nil)
	}
	return b.hub.owns(number) && b.engine.Cancel(id, errListenOver)
}

// listenResult is the answer to a listen request that is over.
func (c *call) listenResult() []byte {
	return append(append([]byte(`{"resultType":"`+mcp.ResultComplete+`",`), c.subscriptionMeta()...), '}')
}

// changed takes a change to the clients that listen to it.
func (h *hub) changed(burst *link.Burst, method string, m *codec.Message) {
	h.mu.Lock()
	var listens []*call
	for c, l := range h.listens {
		if l.wants(method) {
			listens = append(listens, c)
		}
	}
	h.mu.Unlock()
	for _, c := range listens {
		c.hearOf(burst, m)
	}
}

// hearOf sends a notification to who listens by c.
func (c *call) hearOf(burst *link.Burst, m *codec.Message) {
	if m.Envelope.Subscription.Present() {
		var r route.Rewrite
		r.Subscribed(m, c.id) // it came under the gateway's own subscription
		c.session.send(burst, &link.Frame{Bytes: m.Frame(), Edits: r.Edits, About: c.id.ID(), Class: link.Note})
		return
	}
	meta := c.subscriptionMeta()
	members := meta[len(`"_meta":{`) : len(meta)-1]
	params, err := codec.AppendParamsWithMeta(nil, m.Params(), members)
	if err != nil {
		return // params that are no object: nobody can read them
	}
	c.session.send(burst, &link.Frame{Bytes: codec.AppendNotification(nil, string(m.Method()), params), About: c.id.ID(), Class: link.Note})
}

// subscriptionMeta is the member _meta that names the subscription c.
func (c *call) subscriptionMeta() []byte {
	out := append([]byte(`"_meta":{"`), mcp.MetaSubscriptionID...)
	return append(c.id.Append(append(out, `":`...)), '}')
}

// memberOf is the value of a member of an object that is valid JSON, nil if there is
// none, or it stands twice.
func memberOf(object []byte, name string) []byte {
	s, err := route.Member(object, name)
	if err != nil {
		return nil
	}
	return s.Of(object)
}
