package gateway

import (
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// level is how much a client wants to hear of a server's log: what is below it is kept
// from that client, and from no other.
type level int32

const (
	levelUnset level = iota // nothing was said of it
	levelDebug
	levelInfo
)

// levelNames are those of MCP, from the most to the least verbose.
var levelNames = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// levelOf reads a JSON text; levelUnset is what MCP has no name for.
func levelOf(raw []byte) level {
	text, _ := route.Text(raw)
	for i, name := range levelNames {
		if name == text {
			return levelDebug + level(i)
		}
	}
	return levelUnset
}

func (l level) String() string { return levelNames[l-levelDebug] }

// levels is what a server of the older era that clients share is told of theirs: the most
// verbose of all of them, so that nobody misses what another one does not want to
// hear. A client that has said nothing counts as info, once anybody has said something;
// before that what the server sends by itself is sent to all.
type levels struct {
	b *backend

	mu     sync.Mutex // guards the fields below
	active bool       // somebody has said something
	busy   bool       // a goroutine sees to it
	dirty  bool       // and is to look again
	life   *life      // the way on which the server was told, nil if it was not
	told   level
	// waiting are calls to be answered when the server has said what it thinks of it.
	waiting []*call
}

// set takes logging/setLevel.
func (v *levels) set(burst *link.Burst, c *call, m *codec.Message) {
	to := levelOf(memberOf(m.Params(), "level"))
	if to == levelUnset {
		c.end(burst, Refused, nil, invalidParams("there is no such log level"))
		return
	}
	if !c.take() {
		return
	}
	c.session.level.Store(int32(to))
	v.mu.Lock()
	v.active = true
	v.waiting = append(v.waiting, c)
	v.seeTo()
	v.mu.Unlock()
}

// changed says that a client has come, or the way was opened again.
func (v *levels) changed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active {
		v.seeTo()
	}
}

// left says that s has gone: if it was of those who want most, less may do now.
func (v *levels) left(s *Session) {
	own := level(s.level.Load())
	if own == levelUnset {
		own = levelInfo
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active && own <= v.told {
		v.seeTo()
	}
}

// seeTo begins to bring the server to what is wanted. v.mu is held.
func (v *levels) seeTo() {
	if v.busy {
		v.dirty = true
		return
	}
	v.busy = v.b.work(v.settle)
}

// settle tells the server until it knows what is wanted.
func (v *levels) settle() {
	for more := true; more; {
		v.mu.Lock()
		waiting, told, life := v.waiting, v.told, v.life
		v.waiting, v.dirty = nil, false
		v.mu.Unlock()
		want, l := v.wanted(), v.b.current()
		var err error
		switch {
		case l == nil:
			err = v.b.away()
		case want != levelUnset && (want != told || l != life):
			_, err = v.b.ask(v.b.ctx, l, mcp.MethodSetLevel, []byte(`{"level":"`+want.String()+`"}`))
			told, life = want, l
		}
		v.mu.Lock()
		if err == nil {
			v.told, v.life = told, life
		}
		more = v.dirty
		v.busy = more
		v.mu.Unlock()
		v.answer(waiting, err)
	}
}

// wanted is the most verbose level of all clients of the way; levelUnset if there are
// none.
func (v *levels) wanted() level {
	least := levelUnset
	for _, s := range v.b.target.g.using(v.b) {
		if !s.older.Load() {
			continue // one of the modern era says it with each request
		}
		own := level(s.level.Load())
		if own == levelUnset {
			own = levelInfo
		}
		if least == levelUnset || own < least {
			least = own
		}
	}
	return least
}

func (v *levels) answer(waiting []*call, err error) {
	for _, c := range waiting {
		if err == nil {
			c.finish(nil, Answered, emptyResult, nil)
			continue
		}
		outcome, failed := refusalOf(v.b.target.o.Name, c.method, err)
		c.finish(nil, outcome, nil, failed)
	}
}

// hears reports whether s, or its call about, wants a log line of the way.
func (v *levels) hears(s *Session, about *call, m *codec.Message) bool {
	if string(m.Method()) != mcp.NoteMessage {
		return true
	}
	least := level(s.level.Load())
	if s.isModern() {
		least = levelUnset
		if about != nil {
			least = about.more().level
		}
	} else if least == levelUnset && v.isActive() {
		least = levelInfo
	}
	if least == levelUnset {
		return true
	}
	line := levelOf(memberOf(m.Params(), "level"))
	return line == levelUnset || line >= least
}

func (v *levels) isActive() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.active
}
