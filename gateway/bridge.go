package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// Bits of backend.eras: which eras its server speaks.
const (
	speaksOlder uint32 = 1 << iota
	speaksModern
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
	b.eras.Store(eras)
}

func (b *backend) isModernOnly() bool { return b.eras.Load() == speaksModern }

func (b *backend) isOlderOnly() bool { return b.eras.Load() == speaksOlder }

// handles takes the requests that the gateway answers itself, since the eras of client
// and server differ or clients share what the request is about.
func (b *backend) handles(burst *link.Burst, c *call, m *codec.Message) bool {
	switch c.method {
	case mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		if b.session == nil || b.isModernOnly() {
			b.hub.subscribe(burst, c, m)
			return true
		}
	case mcp.MethodListen:
		if c.modern && b.isOlderOnly() {
			b.hub.listen(burst, c, m)
			return true
		}
	}
	return false
}
