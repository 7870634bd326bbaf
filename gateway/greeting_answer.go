package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// hear keeps what the client of a way of its own says of itself. b.mu is held.
func (g *greeting) hear(b *backend, c *call, m *codec.Message) {
	if b.session != nil && g.params == nil && c.method == mcp.MethodInitialize {
		g.params = append([]byte(nil), m.Params()...)
	}
}

// greet answers a client's initialize or server/discover from what was agreed on with
// the server. False says that the server has to be asked itself.
func (b *backend) greet(l *life, burst *link.Burst, c *call, m *codec.Message) bool {
	switch c.method {
	case mcp.MethodInitialize:
		b.greetOlder(l, burst, c, m)
		return true
	case mcp.MethodDiscover:
		return b.greetModern(burst, c, m)
	case mcp.MethodSubscribe:
		b.subscribed.Store(true)
	}
	return false
}

// greetOlder answers initialize.
func (b *backend) greetOlder(l *life, burst *link.Burst, c *call, m *codec.Message) {
	g := greeted{c, revisionAsked(m.Params())}
	b.mu.Lock()
	b.greeting.wanted = true
	switch {
	case b.greeting.initialized != nil || b.greeting.failed != nil || !l.streams || b.ended:
		b.mu.Unlock()
		b.welcome(burst, g)
		return
	case b.greeting.asking:
		b.greeting.waiting = append(b.greeting.waiting, g)
		b.mu.Unlock()
		return
	}
	// The first client of the older era of a modern server, which may have a handshake
	// beside it.
	b.greeting.hear(b, c, m)
	b.greeting.asking = true
	b.greeting.waiting = append(b.greeting.waiting, g)
	b.target.work.Go(func() { b.greetLate(l) })
	b.mu.Unlock()
}

// greetLate begins the older era on a way where the modern one is spoken already.
func (b *backend) greetLate(l *life) {
	ctx, cancel := b.ctx, context.CancelFunc(func() {})
	if b.target.o.OpenTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, b.target.o.OpenTimeout)
	}
	defer cancel()
	_ = b.initialize(ctx, l) // then those who wait are answered from what the server said before
	b.mu.Lock()
	waiting := b.greeting.waiting
	b.greeting.waiting, b.greeting.asking = nil, false
	b.mu.Unlock()
	for _, g := range waiting {
		b.welcome(nil, g)
	}
}

// welcome answers initialize from what is known.
func (b *backend) welcome(burst *link.Burst, g greeted) {
	c := g.call
	b.mu.Lock()
	result, failed, discovered := b.greeting.initialized, b.greeting.failed, b.greeting.discovered
	b.mu.Unlock()
	if result == nil && discovered != nil {
		result = initializeFrom(discovered)
		b.hub.attend()
	}
	switch {
	case c.giveUp.Load() != nil:
		c.over.Store(true)
		c.stop(c.giveUp.Load().err)
	case result != nil:
		b.levels.changed()
		result = atRevision(result, g.asked)
		c.session.speaks(revisionAsked(result))
		c.end(burst, Answered, result, nil)
	case failed != nil:
		c.end(burst, Failed, nil, failed)
	default:
		c.refuse(burst, &Failure{Code: CodeUpstreamLost, Text: "upstream \"" + b.target.o.Name + "\" has answered neither initialize nor server/discover", Upstream: b.target.o.Name, RetryAfter: retryAfter})
	}
}

// greetModern answers server/discover.
func (b *backend) greetModern(burst *link.Burst, c *call, m *codec.Message) bool {
	meta := memberOf(m.Params(), "_meta")
	version, _ := route.Text(memberOf(meta, mcp.MetaProtocolVersion))
	whole := len(memberOf(meta, mcp.MetaClientCapabilities)) > 0
	b.mu.Lock()
	discovered, supported, initialized := b.greeting.discovered, b.greeting.supported, b.greeting.initialized
	b.mu.Unlock()
	switch {
	case discovered == nil && initialized != nil && b.target.o.Relay != nil:
		// A gateway would take the server for a modern one, and have what it says translated twice.
		c.end(burst, Failed, nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found: the server is of the older era"})
	case discovered != nil && whole && slices.Contains(supported, version):
		c.end(burst, Answered, discovered, nil)
	case discovered == nil && initialized != nil && whole && version == string(mcp.Modern):
		c.end(burst, Answered, discoverFrom(initialized), nil)
	default:
		return false // it has something to say about it
	}
	return true
}

// initializeFrom makes the result of initialize of that of server/discover.
func initializeFrom(discovered []byte) []byte {
	var d struct {
		Capabilities json.RawMessage            `json:"capabilities"`
		Instructions string                     `json:"instructions"`
		Meta         map[string]json.RawMessage `json:"_meta"`
	}
	if codec.DecodeValue(discovered, &d) != nil {
		return nil
	}
	result := struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    string          `json:"instructions,omitempty"`
	}{string(mcp.NewestLegacy), orObject(d.Capabilities), orInfo(d.Meta[mcp.MetaServerInfo]), d.Instructions}
	text, err := codec.AppendValue(nil, result)
	if err != nil {
		return nil
	}
	return text
}

// discoverFrom makes the result of server/discover of that of initialize.
func discoverFrom(initialized []byte) []byte {
	var r struct {
		Capabilities json.RawMessage `json:"capabilities"`
		ServerInfo   json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions"`
	}
	if codec.DecodeValue(initialized, &r) != nil {
		return nil
	}
	result := struct {
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      json.RawMessage            `json:"capabilities"`
		Instructions      string                     `json:"instructions,omitempty"`
		ResultType        string                     `json:"resultType"`
		TTL               int64                      `json:"ttlMs"`
		Scope             string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}{
		[]string{string(mcp.Modern)}, orObject(r.Capabilities), r.Instructions, mcp.ResultComplete, 0, "private",
		map[string]json.RawMessage{mcp.MetaServerInfo: orInfo(r.ServerInfo)},
	}
	text, err := codec.AppendValue(nil, result)
	if err != nil {
		return nil
	}
	return text
}

func orObject(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}

func orInfo(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage(`{"name":"` + Implementation + `","version":"1"}`)
	}
	return text
}

// revisionAsked is the revision that the params of initialize ask for, or that its result
// names.
func revisionAsked(params []byte) string {
	asked, _ := route.Text(memberOf(params, "protocolVersion")) // none is ""
	return asked
}

// atRevision is a result of initialize for a client that asked for a revision: the
// older one of what it asked for and what the server speaks, since what a newer
// server says beyond an older client's revision is left unread. Nothing else changes.
func atRevision(result []byte, asked string) []byte {
	if !isOlder(asked) {
		return result
	}
	start, end := member(result, "protocolVersion")
	var spoken string
	if start == end || codec.DecodeValue(result[start:end], &spoken) != nil || spoken <= asked {
		return result
	}
	out := make([]byte, 0, len(result))
	out = append(out, result[:start]...)
	out = append(out, `"`+asked+`"`...)
	return append(out, result[end:]...)
}

// member finds the value of a member of an object that is valid JSON; start is end if
// there is none.
func member(object []byte, name string) (start, end int) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return 0, 0
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, 0
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return 0, 0
		}
		if key == name {
			end = int(d.InputOffset())
			return end - len(value), end
		}
	}
	return 0, 0
}
