package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

// levelBed is a server of the older era that logs, and some of its clients. Each step
// answers what the server is asked meanwhile.
type levelBed struct {
	t       *testing.T
	g       *gateway.Gateway
	server  *fake.Server
	clients []*fake.Client
}

func newLevelBed(t *testing.T, clients int) *levelBed {
	t.Helper()
	b := &levelBed{t: t, server: &fake.Server{Initialize: strings.Replace(fake.Hello, `"capabilities":{}`, `"capabilities":{"logging":{}}`, 1)}}
	var err error
	b.g, err = gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "logs", Opener: b.server, Isolation: gateway.Shared, ProbeTimeout: -1, DoubtAnswered: -1}}})
	require.NoError(t, err)
	for range clients {
		b.join()
	}
	return b
}

func (b *levelBed) join() *fake.Client {
	b.t.Helper()
	c, _ := join(b.g)
	b.clients = append(b.clients, c)
	require.NoError(b.t, c.Say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	synctest.Wait()
	require.Contains(b.t, c.Next(), `"id":"init","result"`)
	return c
}

// set has a client say its level, and gives what the server is told, "" for nothing.
func (b *levelBed) set(c *fake.Client, level string) (told string) {
	b.t.Helper()
	require.NoError(b.t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"`+level+`"}}`))
	told = b.told()
	require.Equal(b.t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
	return told
}

// told answers what the server is told, and gives it.
func (b *levelBed) told() string {
	b.t.Helper()
	synctest.Wait()
	stop := make(chan struct{})
	close(stop)
	frame, ok := b.server.Last().NextOr(stop)
	if !ok {
		return ""
	}
	_, rest, found := strings.Cut(frame, `"id":`)
	require.True(b.t, found, frame)
	id, rest, _ := strings.Cut(rest, ",")
	require.Contains(b.t, rest, `"method":"logging/setLevel"`)
	b.server.Last().Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	synctest.Wait()
	return strings.TrimSuffix(strings.TrimPrefix(rest, `"method":"logging/setLevel","params":{"level":"`), `"}}`)
}

// hears reports whether a line comes to c, whose alone the server is at work for.
func (b *levelBed) hears(c *fake.Client, level string) bool {
	b.t.Helper()
	require.NoError(b.t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`))
	w := b.server.Last()
	number, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"` + level + `","data":1}}`)
	w.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
	synctest.Wait()
	got := c.Unread()
	require.Contains(b.t, got[len(got)-1], `"id":2,"result"`)
	return len(got) == 2
}

// One client's level changes nothing for another: the server is told the most verbose of
// all, and each hears what it asked for.
func TestLogLevelIsEachClientsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLevelBed(t, 3)
		quiet, loud, other := b.clients[0], b.clients[1], b.clients[2]
		require.True(t, b.hears(quiet, "debug"), "nobody has said anything: it is the server's to choose")
		require.Equal(t, "info", b.set(quiet, "error"), "two have said nothing, and hear of info")
		require.Equal(t, "debug", b.set(loud, "debug"))
		for _, c := range []struct {
			client *fake.Client
			level  string
			want   bool
		}{
			{quiet, "warning", false}, {quiet, "error", true}, {quiet, "emergency", true}, {loud, "debug", true},
			{other, "debug", false}, {other, "info", true}, {quiet, "unheard of", true},
		} {
			require.Equal(t, c.want, b.hears(c.client, c.level), "%+v", c)
		}
		require.Empty(t, b.set(other, "notice"), "the server knows already")
		require.Equal(t, "notice", b.set(loud, "critical"))
		require.Equal(t, "info", b.toldBy(func() { b.join() }), "a new client hears of info")
		_ = b.g.Close()
		synctest.Wait()
	})
}

func (b *levelBed) toldBy(f func()) string {
	f()
	return b.told()
}

// The server is told less when who wanted more has gone, and all of it anew when it was
// lost.
func TestLogLevelFollowsClientsAndServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLevelBed(t, 2)
		quiet, loud := b.clients[0], b.clients[1]
		b.set(quiet, "error")
		require.Equal(t, "debug", b.set(loud, "debug"))
		loud.End(errors.New("gone"))
		require.Equal(t, "error", b.told())
		b.server.Last().Die(errors.New("killed"))
		time.Sleep(time.Minute)
		require.Equal(t, 2, b.server.Opened())
		require.Equal(t, "error", b.told())
		require.False(t, b.hears(quiet, "info"))
		_ = b.g.Close()
		synctest.Wait()
	})
}

// A level that there is not is refused, a server's refusal is the client's, and a server
// that does not log is asked itself.
func TestLogLevelRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLevelBed(t, 1)
		c := b.clients[0]
		set := func(level string) {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":`+level+`}}`))
		}
		for _, level := range []string{`"loud"`, `7`, `""`} {
			set(level)
			require.Contains(t, c.Next(), `-32602`)
		}
		set(`"error"`)
		number, _ := b.server.Last().NextRequest()
		b.server.Last().Say(`{"jsonrpc":"2.0","id":` + number + `,"error":{"code":-32603,"message":"not now"}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"not now"}}`, c.Next())
		_ = b.g.Close()
		synctest.Wait()
	})
	g, server := start(t, shared())
	c, _ := join(g)
	begin(t, c)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"odd"}}`))
	number, _ := server.Way(0).NextRequest()
	server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"error":{"code":-32601,"message":"no"}}`)
	require.Contains(t, c.Next(), `-32601`)
}

// A client of the modern era says with each request what it wants to hear.
func TestLogLevelOfModernRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLevelBed(t, 0)
		c, _ := join(b.g)
		for level, want := range map[string]int{`"info"`: 1, `"error"`: 2, `"alert"`: 2} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"error"}}}`))
			synctest.Wait()
			w := b.server.Last()
			number, _ := w.NextRequest()
			w.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":` + level + `,"data":1}}`)
			w.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
			synctest.Wait()
			require.Len(t, c.Unread(), want, level)
		}
		_ = b.g.Close()
		synctest.Wait()
	})
}
