package fault_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/residue"
)

// puppet is a server that a test has in its hand. It has one connection.
type puppet struct {
	t     *testing.T
	asked chan request

	mu   sync.Mutex // guards conn
	conn net.Conn
}

// request is a message of the gateway; cancels is the call that a cancel names.
type request struct{ id, method, cancels string }

func newPuppet(t *testing.T) *puppet { return &puppet{t: t, asked: make(chan request, 1<<12)} }

func (p *puppet) serve(c net.Conn) {
	p.mu.Lock()
	p.conn = c
	p.mu.Unlock()
	lines(c, func(m *codec.Message) bool {
		var params struct{ RequestID json.RawMessage }
		_ = json.Unmarshal(m.Params(), &params) // which need not be of a cancel
		p.asked <- request{string(m.RawID()), string(m.Method()), string(params.RequestID)}
		return true
	})
}

// next is the next message that the gateway has sent.
func (p *puppet) next() request {
	p.t.Helper()
	select {
	case r := <-p.asked:
		return r
	case <-time.After(patience):
		require.FailNow(p.t, "the server was asked nothing")
		return request{}
	}
}

// say writes lines as they are.
func (p *puppet) say(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range texts {
		_, err := io.WriteString(p.conn, text+"\n")
		require.NoError(p.t, err)
	}
}

// caller is a raw client and what it has heard.
type caller struct {
	t     *testing.T
	conn  net.Conn
	heard chan string
}

func (b *bed) caller(t *testing.T) *caller {
	c := &caller{t, b.dial(t), make(chan string, 1<<12)}
	go lines(c.conn, func(m *codec.Message) bool {
		c.heard <- string(m.Frame())
		return true
	})
	return c
}

func (c *caller) ask(id, method string) {
	_, err := fmt.Fprintf(c.conn, `{"jsonrpc":"2.0","id":%s,"method":"%s"}`+"\n", id, method)
	require.NoError(c.t, err)
}

// hears waits for the next message.
func (c *caller) hears() string {
	c.t.Helper()
	select {
	case text := <-c.heard:
		return text
	case <-time.After(patience):
		require.FailNow(c.t, "the client heard nothing")
		return ""
	}
}

func result(id, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`
}

// A server lies about its answers, in each way by itself: whoever has called gets its own
// answer, once, and what was wrong is counted, exactly.
func TestServerLies(t *testing.T) {
	type scene struct {
		*puppet
		a, b *caller
		g    *gateway.Gateway
	}
	for name, c := range map[string]struct {
		play    func(s *scene)
		ends    gateway.Stats // answered, expired and lost
		dropped map[gateway.Reason]uint64
	}{
		"twice": {func(s *scene) {
			s.a.ask("1", "m")
			r := s.next()
			s.say(result(r.id, `"once"`), result(r.id, `"twice"`))
			require.Equal(t, result("1", `"once"`), s.a.hears())
		}, gateway.Stats{Answered: 1}, map[gateway.Reason]uint64{gateway.LateAnswer: 1}},
		"late": {func(s *scene) {
			s.a.ask("1", "hurry")
			r := s.next()
			require.Contains(t, s.a.hears(), "total deadline")
			s.a.ask("1", "m") // the id is free again
			require.Equal(t, "notifications/cancelled", s.next().method)
			again := s.next()
			s.say(result(r.id, `"late"`), result(again.id, `"mine"`))
			require.Equal(t, result("1", `"mine"`), s.a.hears())
		}, gateway.Stats{Answered: 1, Expired: 1}, map[gateway.Reason]uint64{gateway.LateAnswer: 1}},
		"to nobody": {func(s *scene) {
			s.a.ask("1", "m")
			r := s.next()
			s.say(result("1125899906842624", `"whose?"`), result(`"`+r.id+`"`, `"text"`), result(`"1"`, `"the client's"`), result("null", `"null"`), result(r.id, `"mine"`))
			require.Equal(t, result("1", `"mine"`), s.a.hears())
		}, gateway.Stats{Answered: 1}, map[gateway.Reason]uint64{gateway.UnknownAnswer: 4}},
		"another's": {func(s *scene) {
			// Who the server names is who it means: B has an answer, and A's never comes.
			s.a.ask("1", "hurry")
			of := s.next()
			s.b.ask("1", "m")
			r := s.next()
			s.say(result(r.id, `"the first that names it"`), result(r.id, `"the second"`))
			require.Equal(t, result("1", `"the first that names it"`), s.b.hears())
			require.Contains(t, s.a.hears(), "total deadline")
			s.say(result(of.id, `"too late"`))
		}, gateway.Stats{Answered: 1, Expired: 1}, map[gateway.Reason]uint64{gateway.LateAnswer: 2}},
		"garbage": {func(s *scene) {
			s.a.ask("1", "m")
			r := s.next()
			s.say("Server ready on port 80 {", "\x00\xff\xfe", "[[[[", `"text"`, "42", `{"level":"info"}`, "\xef\xbb\xbf", result(r.id, `"mine"`))
			require.Equal(t, result("1", `"mine"`), s.a.hears())
		}, gateway.Stats{Answered: 1}, map[gateway.Reason]uint64{gateway.UnreadableServer: 6}},
		"garbage under its id": {func(s *scene) {
			s.a.ask("1", "m")
			r := s.next()
			s.say(`{"jsonrpc":"2.0","id":` + r.id + `,"result":[1,}`)
			got := s.a.hears()
			require.Contains(t, got, `"id":1,"error"`)
			s.say(result(r.id, `"after all"`))
		}, gateway.Stats{Lost: 1}, map[gateway.Reason]uint64{gateway.UnreadableServer: 1, gateway.LateAnswer: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPuppet(t)
			bed := lay(t, gateway.Upstream{Isolation: gateway.Shared, Methods: map[string]gateway.Deadlines{"hurry": {Total: 10 * time.Millisecond}}}, gateway.Options{}, downstream.Options{}, p.serve)
			s := &scene{p, bed.caller(t), bed.caller(t), bed.g}
			c.play(s)
			// A last call of each, so that all that was said before it has come.
			for _, one := range []*caller{s.a, s.b} {
				one.ask(`"last"`, "last")
				r := s.next()
				for r.method != "last" {
					r = s.next()
				}
				s.say(result(r.id, "0"))
				require.Equal(t, result(`"last"`, "0"), one.hears(), "and nothing before it")
			}
			got := residue.Calls(t, bed.g)
			require.Equal(t, c.ends.Answered+2, got.Answered)
			require.Equal(t, c.ends.Lost, got.Lost)
			require.Equal(t, c.ends.Expired, got.Expired)
			require.EqualValues(t, 1, got.Opened, "the way stays")
			require.Equal(t, c.dropped, got.Dropped)
		})
	}
}
