package gateway

import (
	"strings"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/merge"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// mergeGreeting answers initialize or server/discover with what all upstreams can do
// together. One that cannot be opened is missing; when it is, clients are told that the
// lists have changed.
func (s *Session) mergeGreeting(c *call, m *codec.Message) {
	asked := revisionAsked(m.Params())
	params := append([]byte(nil), m.Params()...)
	if !c.take() {
		return
	}
	if c.method == mcp.MethodDiscover {
		params = discovery
	}
	var questions []question
	for _, t := range s.g.plan.Load().order {
		questions = append(questions, question{t, c.method, params})
	}
	c.askAll(questions, s.g.plan.Load().patience, func(replies []reply) {
		var capabilities [][]byte
		var failed *codec.Error
		for i, r := range replies {
			if r.failed != nil {
				questions[i].target.missed.Store(true)
				failed = r.failed
				continue
			}
			if span, err := route.Member(r.result, "capabilities"); err == nil {
				capabilities = append(capabilities, span.Of(r.result))
			}
		}
		if capabilities == nil && failed != nil {
			c.finish(nil, Failed, nil, failed)
			return
		}
		all := merge.Capabilities(nil, capabilities...)
		info := `{"name":"` + Implementation + `","version":"1"}`
		if c.method == mcp.MethodDiscover {
			c.finish(nil, Answered, []byte(`{"supportedVersions":["`+string(mcp.Modern)+`"],"capabilities":`+string(all)+
				`,"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"`+mcp.MetaServerInfo+`":`+info+`}}`), nil)
			return
		}
		if !isOlder(asked) {
			asked = string(mcp.NewestLegacy)
		}
		c.session.speaks(asked)
		c.finish(nil, Answered, []byte(`{"protocolVersion":"`+asked+`","capabilities":`+string(all)+`,"serverInfo":`+info+`}`), nil)
	})
}

// mergeAll asks all upstreams the same, and is content with one that says yes.
func (s *Session) mergeAll(c *call, m *codec.Message) {
	params := append([]byte(nil), m.Params()...)
	if !c.take() {
		return
	}
	var questions []question
	for _, t := range s.g.plan.Load().order {
		questions = append(questions, question{t, c.method, params})
	}
	c.askAll(questions, s.g.plan.Load().patience, func(replies []reply) {
		for _, r := range replies {
			if r.failed == nil {
				c.finish(nil, Answered, emptyResult, nil)
				return
			}
		}
		c.finish(nil, Failed, nil, replies[0].failed)
	})
}

// mergeListen answers subscriptions/listen for all upstreams: what is listened to at
// each of them comes under the one subscription.
func (s *Session) mergeListen(c *call, m *codec.Message) {
	l := listeningOf(m.Params())
	c.more().released = func() {
		for _, t := range s.g.plan.Load().order {
			t.backend(s).hub.unlisten(c)
		}
	}
	if !c.take() {
		return
	}
	var questions []question
	for _, t := range s.g.plan.Load().order {
		questions = append(questions, question{t, mcp.MethodDiscover, discovery})
	}
	c.askAll(questions, s.g.plan.Load().patience, func([]reply) {
		c.learnResources(func(v *view, has []*target) {
			at := make(map[*target][]string)
			var granted []string
			for _, uri := range l.URIs[:min(len(l.URIs), topicsMost)] {
				t := s.g.plan.Load().byPrefix(uri)
				if t == nil {
					t = v.find(uri)
				}
				if t == nil && len(has) == 1 {
					t = has[0]
				}
				if t != nil {
					at[t] = append(at[t], strings.TrimPrefix(uri, t.o.URIPrefix))
					granted = append(granted, uri)
				}
			}
			l.URIs = granted
			c.acknowledge(nil, &l)
			for _, t := range s.g.plan.Load().order {
				part := l
				part.URIs = at[t]
				t.backend(s).hub.enlist(c, &part)
			}
		})
	})
}

// returned tells the clients of a merged server that an upstream which was missing
// serves again.
func (t *target) returned() {
	if !t.g.plan.Load().merge || !t.missed.Swap(false) {
		return
	}
	t.g.relisted()
}

// relisted tells all clients that lists have changed, since upstreams came or went.
func (g *Gateway) relisted() {
	g.forgetViews()
	for _, method := range []string{mcp.NoteToolsChanged, mcp.NotePromptsChanged, mcp.NoteResourcesChanged} {
		m, err := codec.Parse(codec.AppendNotification(nil, method, nil), codec.ScanOptions{})
		if err != nil {
			continue // it cannot be
		}
		for _, s := range g.everySession() {
			if !s.peer.Alone && !s.isModern() {
				s.send(nil, &link.Frame{Bytes: m.Frame(), Class: link.Note})
			}
		}
		for _, t := range g.plan.Load().targets {
			for _, b := range t.all() {
				b.hub.changed(nil, method, &m)
			}
		}
	}
}
