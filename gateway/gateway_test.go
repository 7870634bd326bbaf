package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
)

// start makes a gateway with one upstream, which a fake server plays.
func start(t *testing.T, u gateway.Upstream) (*gateway.Gateway, *fake.Server) {
	t.Helper()
	server := &fake.Server{}
	u.Name, u.Opener = "tools", server
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}, Random: func() float64 { return 1 }})
	require.NoError(t, err)
	over(t, g)
	return g, server
}

// over ends a gateway after its test: then every call has ended, once.
func over(t *testing.T, g *gateway.Gateway) {
	t.Cleanup(func() {
		_ = g.Close()
		residue.Ended(t, g)
	})
}

func join(g *gateway.Gateway) (*fake.Client, *gateway.Session) {
	c := &fake.Client{Who: link.Peer{Transport: "fake"}}
	s := g.Join(c)
	c.Join(s)
	return c, s
}

func shared() gateway.Upstream { return gateway.Upstream{Isolation: gateway.Shared} }

// Two clients use the same id at once; the answers come in reverse.
func TestG01TwoClientsSameID(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["A"]}`))
	require.NoError(t, b.Say(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["B"]}`))
	w := server.Way(0)
	idA, _ := w.NextRequest()
	idB, _ := w.NextRequest()
	require.NotEqual(t, idA, idB)
	w.Say(`{"jsonrpc":"2.0","id":` + idB + `,"result":["B"]}`)
	w.Say(`{"jsonrpc":"2.0","id":` + idA + `,"result":["A"]}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":["A"]}`, a.Next())
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":["B"]}`, b.Next())
	require.Empty(t, a.Unread())
	require.Empty(t, b.Unread())
}

// The bytes of a call are the same on both sides, but for the ids.
func TestBytesPass(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(` { "x":[1e400, 0.10],"method":"tools\/call","id" : "\u0031","jsonrpc":"2.0","params":{"big":123456789012345678901234567890,"s":"\u00e9\/"} } `))
	w := server.Way(0)
	id, frame := w.NextRequest()
	require.Equal(t, ` { "x":[1e400, 0.10],"method":"tools\/call","id" : `+id+`,"jsonrpc":"2.0","params":{"big":123456789012345678901234567890,"s":"\u00e9\/"} } `, frame)
	w.Say(`{"result" : {"n":-0.0,"e":1E+2} ,"id": ` + id + `, "jsonrpc":"2.0" }`)
	require.Equal(t, `{"result" : {"n":-0.0,"e":1E+2} ,"id": "\u0031", "jsonrpc":"2.0" }`, c.Next())
}

// An id comes back in the type and the spelling in which it came.
func TestG06IDsComeBack(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for _, id := range []string{`"1"`, `1`, `"007"`, `""`, `"a\"b"`, `"\u0032"`, `0`, `-1`, `9007199254740993`, `18446744073709551616`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`))
	}
	w := server.Way(0)
	for range 10 {
		wire, _ := w.NextRequest()
		w.Say(`{"jsonrpc":"2.0","id":` + wire + `,"result":` + wire + `}`)
	}
	for _, id := range []string{`"1"`, `1`, `"007"`, `""`, `"a\"b"`, `"\u0032"`, `0`, `-1`, `9007199254740993`, `18446744073709551616`} {
		require.Contains(t, c.Next(), `"id":`+id+`,`)
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1.0,"method":"m"}`), "no id of MCP: it goes nowhere, and is counted")
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.UnreadableClient])
	require.Empty(t, c.Unread())
}

// A second request under an id in flight goes nowhere, and harms the first one not.
func TestG02DuplicateID(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
	require.ErrorIs(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"y"}`), link.ErrDuplicate)
	w := server.Way(0)
	id, _ := w.NextRequest()
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":"x"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"x"}`, c.Next())
	require.Empty(t, c.Unread())
	require.EqualValues(t, 1, g.Stats().Dropped[gateway.DuplicateRequest])
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"z"}`), "the id is free again")
}

// What is rewritten must stand once: a second one is refused by name.
func TestSecondMemberRefused(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for _, params := range []string{
		`{"name":"safe","name":"danger"}`, `{"_meta":{"progressToken":1,"progressToken":2}}`, `{"_meta":{},"_meta":{"progressToken":2}}`,
		`{"name":"safe","n\u0061me":"danger"}`,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":`+params+`}`))
		got := c.Next()
		require.Contains(t, got, `"id":4`)
		require.Contains(t, got, `-32600`)
	}
	require.Zero(t, server.Opened())
}

// Both clients use the same token; each hears of its own call, under its own token, also
// when the other's is over, and its progress moves its own deadline alone. A token of
// another type is another one.
func TestX12SameProgressToken(t *testing.T) {
	for _, tokens := range [][2]string{{`1`, `1`}, {`1`, `"1"`}} {
		synctest.Test(t, func(t *testing.T) {
			u := shared()
			u.IdleTimeout = time.Second
			g, server := start(t, u)
			a, _ := join(g)
			b, _ := join(g)
			request := func(id, token string) string {
				return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"_meta":{"progressToken":` + token + `}}}`
			}
			require.NoError(t, a.Say(request("1", tokens[0])))
			require.NoError(t, b.Say(request("1", tokens[1])))
			require.NoError(t, a.Say(request("2", "2")))
			w := server.Way(0)
			idA, frame := w.NextRequest()
			require.Contains(t, frame, `"progressToken":`+idA)
			idB, _ := w.NextRequest()
			_ = w.Next()
			progress := func(id string) string {
				return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.50,"progressToken":` + id + `}}`
			}
			w.Say(progress(idA))
			w.Say(progress(idB))
			require.Equal(t, progress(tokens[0]), a.Next())
			require.Equal(t, progress(tokens[1]), b.Next())
			w.Say(`{"jsonrpc":"2.0","id":` + idA + `,"result":{}}`)
			_ = a.Next()
			time.Sleep(900 * time.Millisecond)
			w.Say(progress(idA))
			w.Say(progress(idB))
			require.Equal(t, progress(tokens[1]), b.Next())
			require.Empty(t, a.Unread(), "nothing follows the answer")
			require.EqualValues(t, 1, g.Stats().Dropped[gateway.LateProgress])
			time.Sleep(200 * time.Millisecond)
			require.Contains(t, a.Next(), `"deadline":"idle"`, "B's progress is none of A's")
			require.Empty(t, b.Unread(), "its own deadline has moved")
			time.Sleep(time.Second)
			require.Contains(t, b.Next(), `"deadline":"idle"`)
			_ = g.Close()
			synctest.Wait()
		})
	}
}

// The cancel names the call as the upstream knows it; the late answer goes nowhere.
func TestX01CancelGoesUpstream(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":101,"method":"slow"}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":101,"reason":"no \u0041"}}`))
	cancels := w.Cancels()
	require.Len(t, cancels, 1)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"no \u0041"}}`, cancels[0].Note)
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.Empty(t, c.Unread())
	s := g.Stats()
	require.EqualValues(t, 1, s.Cancelled)
	require.EqualValues(t, 1, s.Dropped[gateway.LateAnswer])
	require.Zero(t, s.InFlight)
}

// A client that goes has each of its calls cancelled, once.
func TestX02ClientGone(t *testing.T) {
	g, server := start(t, shared())
	c, s := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"slow"}`))
	w := server.Way(0)
	_ = w.Next()
	_ = w.Next()
	s.Gone(errors.New("reset"))
	s.Gone(errors.New("again"))
	require.Len(t, w.Cancels(), 2)
	require.Zero(t, g.Stats().InFlight)
	require.Zero(t, g.Stats().Sessions)
}

func TestExpiredCallNamesUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := shared()
		u.Timeout, u.IdleTimeout = time.Minute, time.Second
		g, server := start(t, u)
		c, _ := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"slow","params":{"_meta":{"progressToken":7}}}`))
		w := server.Way(0)
		id, _ := w.NextRequest()
		time.Sleep(900 * time.Millisecond)
		w.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`)
		require.Contains(t, c.Next(), `"progressToken":7`)
		time.Sleep(900 * time.Millisecond)
		require.Empty(t, c.Unread(), "progress moves the idle deadline")
		time.Sleep(200 * time.Millisecond)
		got := c.Next()
		require.Contains(t, got, `-32001`)
		require.Contains(t, got, `"upstream":"tools"`)
		require.Contains(t, got, `"deadline":"idle"`)
		require.Contains(t, got, `"elapsedMs":1`)
		require.Equal(t, []fake.Cancel{{Call: number(t, id), Expired: true}}, w.Cancels())
		w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		require.Empty(t, c.Unread())
		require.EqualValues(t, 1, g.Stats().Dropped[gateway.LateAnswer])
		_ = g.Close()
		synctest.Wait()
	})
}

// The calls of a server that dies fail at once with why, and it is opened again, later
// each time.
func TestUpstreamDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		c, _ := join(g)
		for life := range 3 {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`))
			w := server.Way(life)
			id, _ := w.NextRequest()
			w.Die(errors.New("exit status 3: out of cheese"))
			got := c.Next()
			require.Contains(t, got, "out of cheese")
			require.Contains(t, got, `upstream \"tools\"`)
			w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			begun := time.Now()
			_ = server.Way(life + 1)
			require.Equal(t, gateway.DefaultBackoffMin<<life, time.Since(begun))
			synctest.Wait()
		}
		require.Empty(t, c.Unread())
		s := g.Stats()
		require.EqualValues(t, 3, s.Lost)
		require.EqualValues(t, 3, s.Dropped[gateway.LateAnswer])
		_ = g.Close()
		synctest.Wait()
	})
}

// What waits for a server that cannot be opened is told why; calls in a later attempt
// go through, in order.
func TestG10OneOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		server.Fail = func(int) error {
			time.Sleep(50 * time.Millisecond)
			if g.Stats().OpenFailed == 0 {
				return errors.New("no such file")
			}
			return nil
		}
		c, _ := join(g)
		for _, id := range []string{"1", "2"} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`))
		}
		for range 2 {
			got := c.Next()
			require.Contains(t, got, "no such file")
			require.Contains(t, got, `"retryAfterMs":100`)
		}
		for _, id := range []string{"3", "4"} {
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+id+`,"method":"m`+id+`"}`))
		}
		w := server.Way(0)
		require.Contains(t, w.Next(), "m3")
		require.Contains(t, w.Next(), "m4")
		require.Equal(t, 1, server.Opened())
		_ = g.Close()
		synctest.Wait()
	})
}

// A client that does not read is let go of rather than left without an answer.
func TestSlowClient(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	c.Fill(true)
	w.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`)
	require.NoError(t, c.Ended())
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.ErrorIs(t, c.Ended(), link.ErrFull)
	require.EqualValues(t, 1, g.Stats().Coalesced, "the answer came in its place")
}

func TestHandshakeOnce(t *testing.T) {
	g, server := start(t, shared())
	a, _ := join(g)
	b, _ := join(g)
	for _, c := range []*fake.Client{a, b} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":"i","result":`+fake.Hello+`}`, c.Next())
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, c.Next())
	}
	require.Equal(t, 1, server.Opened())
}

// Odd answers become plain ones; nothing is ever both a result and an error.
func TestOddAnswers(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	for odd, plain := range map[string]string{
		`{"result":7,"error":null,"id":ID}`:                                                      `{"jsonrpc":"2.0","id":1,"result":7}`,
		`{"jsonrpc":"2.0","id":ID,"error":"bad cursor"}`:                                         `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad cursor"}}`,
		`{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32601,"message":"x","data":1}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x","data":1}}`,
		`{"jsonrpc":"2.0","id":ID,"error":{ "message":"x","code":-32000,"more":1e400}}`:          `{"jsonrpc":"2.0","id":1,"error":{ "message":"x","code":-32000,"more":1e400}}`,
	} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		id, _ := server.Way(0).NextRequest()
		server.Way(0).Say(strings.ReplaceAll(odd, "ID", id))
		require.Equal(t, plain, c.Next())
	}
}

func TestDrain(t *testing.T) {
	g, server := start(t, shared())
	c, _ := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	w := server.Way(0)
	id, _ := w.NextRequest()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, g.Drain(ended), context.Canceled)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":2,"method":"m"}`))
	require.Contains(t, c.Next(), "shutting down")
	w.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.NoError(t, g.Drain(context.Background()))
	require.Contains(t, c.Next(), `"result":{}`)
}

// An operator ends the oldest call, sent or waiting; its client hears of it.
func TestOperatorCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, server := start(t, shared())
		hold := make(chan struct{})
		server.Fail = func(int) error { <-hold; return nil }
		c, s := join(g)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"a","method":"one"}`))
		time.Sleep(time.Second)
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"b","method":"two"}`))
		slow := g.Slowest(5)
		require.Len(t, slow, 2)
		require.Equal(t, "one", slow[0].Method)
		require.Equal(t, time.Second, slow[0].Age)
		require.False(t, slow[0].Sent)
		require.True(t, g.CancelCall(s.Number(), slow[0].ID))
		require.Contains(t, c.Next(), "operator")
		close(hold)
		w := server.Way(0)
		require.Contains(t, w.Next(), "two")
		require.True(t, g.CancelCall(s.Number(), slow[1].ID))
		require.Contains(t, c.Next(), "operator")
		require.False(t, g.CancelCall(s.Number(), slow[1].ID))
		require.Len(t, w.Cancels(), 1)
		require.EqualValues(t, 2, g.Stats().Cancelled)
		_ = g.Close()
		synctest.Wait()
	})
}

func number(t *testing.T, id string) int64 {
	t.Helper()
	var n int64
	for _, d := range []byte(id) {
		n = n*10 + int64(d-'0')
	}
	return n
}
