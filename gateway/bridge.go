package gateway

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// Bits of backend.eras: which eras its server speaks.
const (
	speaksOlder uint32 = 1 << iota
	speaksModern
	speaksTasks
)

// noteEras keeps what the greeting says of eras where every call can see it.
func (b *backend) noteEras() {
	modern, older := b.speaks()
	eras := uint32(0)
	if modern {
		eras |= speaksModern
	}
	if older {
		eras |= speaksOlder
	}
	b.mu.Lock()
	if bytes.Contains(b.greeting.initialized, []byte("tasks")) || bytes.Contains(b.greeting.discovered, []byte("tasks")) {
		eras |= speaksTasks
	}
	b.mu.Unlock()
	b.eras.Store(eras)
}

func (b *backend) isModernOnly() bool { return b.eras.Load()&^speaksTasks == speaksModern }

func (b *backend) isOlderOnly() bool { return b.eras.Load()&^speaksTasks == speaksOlder }

// logs reports whether the server has said that it logs; another one answers by itself
// what it is asked about it.
func (b *backend) logs() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(memberOf(memberOf(b.greeting.initialized, "capabilities"), "logging")) > 0
}

// handlesTask takes a request about a task at a shared server: a task of somebody else
// does not exist.
func (b *backend) handlesTask(burst *link.Burst, c *call, m *codec.Message) bool {
	if c.method == methodTasks {
		c.session.listTasks(burst, c, m, []*target{b.target})
		return true
	}
	t, failed := c.session.taskOf(m)
	if failed == nil && t != b.target {
		failed = invalidParams("no such task")
	}
	if failed != nil {
		c.end(burst, Refused, nil, failed)
		return true
	}
	return false
}

// handles takes the requests that the gateway answers itself, since the eras of client
// and server differ or clients share what the request is about.
func (b *backend) handles(burst *link.Burst, c *call, m *codec.Message) bool {
	switch c.method {
	case mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		if b.session == nil || b.isModernOnly() {
			b.hub.subscribe(burst, c, m)
			return true
		}
	case mcp.MethodSetLevel:
		if c.session.older.Load() && b.isModernOnly() {
			c.session.setLevel(m.Params())
			c.end(burst, Answered, emptyResult, nil)
			return true
		}
		if b.session == nil && b.logs() {
			b.levels.set(burst, c, m)
			return true
		}
	case mcp.MethodListen:
		if c.modern && b.isOlderOnly() {
			b.hub.listen(burst, c, m)
			return true
		}
		if b.session == nil && c.session.listensToOthers(m) {
			c.end(burst, Refused, nil, invalidParams("no such task"))
			return true
		}
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		return c.modern && b.isOlderOnly() && b.resumeHeld(burst, c, m)
	default:
		if b.session == nil && isTaskMethod(c.method) && c.asPart() == nil {
			return b.handlesTask(burst, c, m)
		}
	}
	return false
}
