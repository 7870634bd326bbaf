package gateway

import (
	"errors"
	"slices"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/merge"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// merged takes a request where all upstreams are one server. What names a tool or a
// prompt goes to the upstream of its prefix, what names a resource to who has it, what
// names a task to where it runs; lists and the handshake are made of what all say.
func (s *Session) merged(b *link.Burst, c *call, m *codec.Message) {
	if l, ok := merge.ListOf(c.method); ok {
		s.gatherList(b, c, m, l, s.g.plan.Load().order, nil)
		return
	}
	switch c.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		s.byName(b, c, m)
	case mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		uri, ok := route.Text(m.Name())
		if !ok {
			c.end(b, Refused, nil, invalidParams("uri must be a string"))
			return
		}
		s.byURI(b, c, m, uri, m.Envelope.Name)
	case mcp.MethodComplete:
		s.byRef(b, c, m)
	case mcp.MethodInitialize, mcp.MethodDiscover:
		s.mergeGreeting(c, m)
	case mcp.MethodSetLevel:
		s.mergeAll(c, m)
	case mcp.MethodListen:
		s.mergeListen(c, m)
	default:
		if isTaskMethod(c.method) {
			s.byTask(b, c, m)
			return
		}
		c.end(b, Refused, nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found: it names no upstream: " + c.method})
	}
}

func invalidParams(why string) *codec.Error {
	return &codec.Error{Code: codec.CodeInvalidParams, Message: "invalid params: " + why}
}

// unreadableParams is what is said of members that a request has twice, or lacks.
func unreadableParams(err error) *codec.Error {
	if errors.Is(err, codec.ErrDuplicateMember) {
		return &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: a member that is read stands twice"}
	}
	return invalidParams("an object is wanted")
}

// byName sends a request to the upstream of its name's prefix.
func (s *Session) byName(b *link.Burst, c *call, m *codec.Message) {
	name, edit, ok := merge.Strip(m.Frame(), m.Envelope.Name)
	t := s.g.plan.Load().targets[name.Upstream]
	if !ok || t == nil {
		c.end(b, Refused, nil, invalidParams("unknown name: "+string(m.Name())))
		return
	}
	t.backend(s).admit(b, c, m, []codec.Edit{edit})
}

// byRef sends completion/complete to the upstream of what is to be completed.
func (s *Session) byRef(b *link.Burst, c *call, m *codec.Message) {
	ref, err := route.Member(m.Params(), "ref")
	var spans []codec.Span
	if err == nil {
		spans, err = route.Members(ref.Of(m.Params()), "name", "uri")
	}
	if err != nil {
		c.end(b, Refused, nil, unreadableParams(err))
		return
	}
	at := m.Envelope.Params.Off + ref.Off
	in := func(s codec.Span) codec.Span { return codec.Span{Off: at + s.Off, End: at + s.End} }
	if uri, ok := route.Text(spans[1].Of(ref.Of(m.Params()))); ok {
		s.byURI(b, c, m, uri, in(spans[1]))
		return
	}
	if spans[0].Present() {
		if name, edit, ok := merge.Strip(m.Frame(), in(spans[0])); ok && s.g.plan.Load().targets[name.Upstream] != nil {
			s.g.plan.Load().targets[name.Upstream].backend(s).admit(b, c, m, []codec.Edit{edit})
			return
		}
	}
	c.end(b, Refused, nil, invalidParams("ref names no prompt and no resource"))
}

// byURI sends a request to the upstream that has a resource, whose URI stands at at. Where
// that is not known the lists are asked for first.
func (s *Session) byURI(b *link.Burst, c *call, m *codec.Message, uri string, at codec.Span) {
	t := s.g.plan.Load().byPrefix(uri)
	if t == nil {
		t = s.g.view(s).find(uri)
	}
	if t != nil {
		t.backend(s).admit(b, c, t.ownURI(m, at), nil)
		return
	}
	if !c.take() {
		return
	}
	kept := m.Detach()
	c.learnResources(func(v *view, has []*target) {
		t := v.find(uri)
		if t == nil && len(has) == 1 {
			t = has[0] // it says itself what it thinks of the URI
		}
		switch {
		case t != nil:
			if c.untake() {
				t.backend(s).admit(nil, c, &kept, nil)
			}
		default:
			c.finish(nil, Refused, nil, notFound(uri, c.modern))
		}
	})
}

func notFound(uri string, modern bool) *codec.Error {
	e := &codec.Error{Code: mcp.CodeResourceNotFound, Message: "resource not found"}
	if modern {
		e.Code = codec.CodeInvalidParams
	}
	e.Data = append(codec.AppendString([]byte(`{"uri":`), uri), '}')
	return e
}

// learnResources asks every upstream for its resources and templates, to the end of
// the lists, and tells done which upstreams have any.
func (c *call) learnResources(done func(v *view, has []*target)) {
	v := &view{} // a new one: what is gone must not stay
	var has []*target
	var round func(questions []question, left int)
	round = func(questions []question, left int) {
		c.askAll(questions, c.session.g.plan.Load().patience, func(replies []reply) {
			var more []question
			for i, r := range replies {
				q := questions[i]
				l, _ := merge.ListOf(q.method)
				if r.failed != nil {
					continue
				}
				v.learn(l, q.target, r.result)
				if l.Member == "resources" && q.target.o.URIPrefix == "" && (len(has) == 0 || has[len(has)-1] != q.target) {
					has = append(has, q.target)
				}
				if cursor, ok := merge.Next(r.result); ok {
					more = append(more, question{q.target, q.method, c.listParams(cursor, true)})
				}
			}
			if len(more) > 0 && left > 0 {
				round(more, left-1)
				return
			}
			g := c.session.g
			g.views.mu.Lock()
			if g.views.all == nil {
				g.views.all = make(map[string]*view)
			}
			g.views.all[g.viewKey(c.session)] = v
			g.views.mu.Unlock()
			if c.session.isGone() {
				g.forgetView(c.session)
			}
			done(v, has)
		})
	}
	var first []question
	for _, t := range c.session.g.plan.Load().order {
		first = append(first, question{t, mcp.MethodListResources, c.listParams("", false)}, question{t, mcp.MethodListTemplates, c.listParams("", false)})
	}
	round(first, pagesMost)
}

// pagesMost is how many pages of a list are asked for to learn its URIs.
const pagesMost = 1 << 10

// listParams are the params of a list, in the era of the client.
func (c *call) listParams(cursor string, hasCursor bool) []byte {
	if !c.modern && !hasCursor {
		return nil
	}
	out := []byte{'{'}
	if c.modern {
		out = append(out, ownMeta...)
	}
	if hasCursor {
		if c.modern {
			out = append(out, ',')
		}
		out = codec.AppendString(append(out, `"cursor":`...), cursor)
	}
	return append(out, '}')
}

// gatherList answers a list of what several upstreams have, or of the next page of
// those that have one; of entries only those that keep wants, if it is not nil.
func (s *Session) gatherList(b *link.Burst, c *call, m *codec.Message, l merge.List, of []*target, keep func(*target, []byte) bool) {
	var questions []question
	cursor, err := route.Member(m.Params(), "cursor")
	switch {
	case err != nil && m.Envelope.Params.Present():
		c.end(b, Refused, nil, unreadableParams(err))
		return
	case !cursor.Present():
		for _, t := range of {
			questions = append(questions, question{t, l.Method, c.listParams("", false)})
		}
	default:
		text, _ := route.Text(cursor.Of(m.Params()))
		places, err := merge.Places(text)
		for _, p := range places {
			t := s.g.plan.Load().targets[p.Upstream]
			if t == nil || !slices.Contains(of, t) {
				err = merge.ErrCursor
				break
			}
			questions = append(questions, question{t, l.Method, c.listParams(p.Cursor, true)})
		}
		if err != nil || len(questions) > len(of) {
			c.end(b, Refused, nil, invalidParams("cursor is none of this list"))
			return
		}
	}
	if !c.take() {
		return
	}
	c.askAll(questions, s.g.plan.Load().patience, func(replies []reply) {
		if keep != nil {
			for i, r := range replies {
				if r.failed == nil {
					replies[i].result = merge.Filter(l, r.result, func(entry []byte) bool { return keep(questions[i].target, entry) })
				}
			}
		}
		parts, failed := c.pageParts(questions, replies, l)
		if len(parts) == 0 && failed != nil {
			c.finish(nil, Failed, nil, failed)
			return
		}
		c.finish(nil, Answered, merge.AppendPage(nil, l, parts, c.modern), nil)
	})
}

// pageParts are what a page is made of. An upstream that does not know the list has
// none; one that cannot be asked is named. failed is set if no part serves.
func (c *call) pageParts(questions []question, replies []reply, l merge.List) (parts []merge.Part, failed *codec.Error) {
	serves := false
	for i, r := range replies {
		switch {
		case r.failed == nil:
			serves = true
			if !l.Named && keepsURIs(l) {
				c.session.g.view(c.session).learn(l, questions[i].target, r.result)
			}
			parts = append(parts, merge.Part{Upstream: r.upstream, Result: r.result})
		case r.failed.Code == codec.CodeMethodNotFound:
			serves = true
		default:
			questions[i].target.missed.Store(true)
			failed = r.failed
			parts = append(parts, merge.Part{Upstream: r.upstream, Broken: true})
		}
	}
	if !serves {
		return nil, failed
	}
	return parts, nil
}

func keepsURIs(l merge.List) bool { return l.Member != "tasks" }

// DefaultMergePatience is how long a merged answer waits for an upstream when another
// one has given its part.
const DefaultMergePatience = 5 * time.Second

// patience is MergePatience with its default.
func (o *Options) patience() time.Duration {
	if o.MergePatience == 0 {
		return DefaultMergePatience
	}
	return o.MergePatience
}
