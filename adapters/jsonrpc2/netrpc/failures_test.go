package netrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/netrpc"
	"github.com/correlator-go/correlator/conn"
)

// play makes a client with a scripted server, both gone after the test.
func play(t *testing.T, o netrpc.Options) (*rpc.Client, *netrpc.Codec, *script.Peer) {
	stream, p := script.New(t)
	codec, err := netrpc.New(stream, o)
	require.NoError(t, err)
	c := rpc.NewClientWithCodec(codec)
	t.Cleanup(func() {
		_ = p.Link.Close()
		_ = c.Close()
		<-codec.Conn().Done()
	})
	return c, codec, p
}

func TestWire(t *testing.T) {
	c, _, p := play(t, netrpc.Options{})
	call := c.Go("A.b", map[string]int{"x": 1}, nil, nil)
	l := p.Read()
	require.JSONEq(t, `{"jsonrpc":"2.0","id":`+string(l.ID)+`,"method":"A.b","params":[{"x":1}]}`, l.Text)
	p.Say(`{"id":%s,"result":{},"error":null}`, l.ID)
	require.NoError(t, script.Get(t, call.Done).Error)
}

// Answers out of order, garbage between them, errors of any shape and a null
// result harm no other call.
func TestStrangeAnswers(t *testing.T) {
	c, codec, p := play(t, netrpc.Options{})
	replies := map[string]*any{}
	calls := map[string]*rpc.Call{}
	for _, method := range []string{"first", "null", "object", "string", "empty", "broken", "last"} {
		replies[method] = new(any)
		calls[method] = c.Go(method, nil, replies[method], nil)
	}
	lines := p.ReadBy(len(calls))
	p.Say(`Server listening on {port}`)
	p.Say(`{"id":%s,"result":"l"}`, lines["last"].ID)
	p.Say(`{"id":%s,"result":null,"error":null}`, lines["null"].ID)
	p.Say(`{"id":987654321,"result":1}`)
	p.Say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	p.Say(`[]`)
	p.Say(`{"id":%s,"error":{"code":-32000,"message":"no"},"result":1}`, lines["object"].ID)
	p.Say(`{"id":%s,"error":"text"}`, lines["string"].ID)
	p.Say(`{"id":%s,"error":""}`, lines["empty"].ID)
	p.Say(`{"id":%s,"result":{]}`, lines["broken"].ID)
	p.Say("{\n\"id\":%s,\n\"result\":\"f\"}", lines["first"].ID)
	want := map[string]error{"object": rpc.ServerError("no"), "string": rpc.ServerError("text"), "empty": rpc.ServerError("unspecified error")}
	for method, call := range calls {
		err := script.Get(t, call.Done).Error
		if method == "broken" {
			require.ErrorContains(t, err, conn.ErrInvalidAnswer.Error())
			continue
		}
		require.Equal(t, want[method], err, method)
	}
	require.Equal(t, "f", *replies["first"])
	require.Equal(t, "l", *replies["last"])
	require.Nil(t, *replies["null"])
	require.NoError(t, codec.Conn().Err())
	require.EqualValues(t, 1, codec.Conn().Stats().Calls.Unknown)
}

// What pending calls and later ones end with when the connection does, is what
// net/rpc/jsonrpc gives.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(*rpc.Client, *script.Peer){
		"the server closes":         func(_ *rpc.Client, p *script.Peer) { _ = p.Link.Close() },
		"the client closes":         func(c *rpc.Client, _ *script.Peer) { _ = c.Close() },
		"the server ends in a line": func(_ *rpc.Client, p *script.Peer) { _, _ = io.WriteString(p.Link, `{"id":`); _ = p.Link.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			var outcomes [2][]error
			for i, open := range []func(net.Conn) *rpc.Client{
				func(c net.Conn) *rpc.Client { return jsonrpc.NewClient(c) },
				func(c net.Conn) *rpc.Client { return netrpc.NewClient(c) },
			} {
				stream, p := script.New(t)
				c := open(stream)
				pending := []*rpc.Call{c.Go("a", 1, nil, nil), c.Go("b", 2, nil, nil)}
				p.ReadBy(2)
				end(c, p)
				for _, call := range pending {
					outcomes[i] = append(outcomes[i], script.Get(t, call.Done).Error)
				}
				outcomes[i] = append(outcomes[i], c.Call("c", 3, nil))
				_ = c.Close()
			}
			require.Len(t, outcomes[0], 3)
			if name == "the client closes" { // jsonrpc shows the error of a read that was cut off
				require.Equal(t, []error{rpc.ErrShutdown, rpc.ErrShutdown, rpc.ErrShutdown}, outcomes[1])
				return
			}
			require.Equal(t, outcomes[0], outcomes[1])
		})
	}
}

// A call that has no room is not made, one that gets no answer ends in time.
func TestLimits(t *testing.T) {
	c, codec, p := play(t, netrpc.Options{Conn: conn.Options{Timeout: time.Millisecond, MaxFrameOut: 100}})
	require.ErrorIs(t, c.Call("m", strings.Repeat("x", 100), nil), conn.ErrTooLarge)
	go p.Drop()
	err := c.Call("m", 1, nil)
	require.IsType(t, rpc.ServerError(""), err)
	require.ErrorContains(t, err, "m")
	require.EqualValues(t, 1, codec.Conn().Stats().Calls.Expired)
}

// A result that does not fit ends the client, as it always does in net/rpc.
func TestResultThatDoesNotFit(t *testing.T) {
	c, _, p := play(t, netrpc.Options{})
	call := c.Go("m", 1, new(int), nil)
	p.Say(`{"id":%s,"result":"text"}`, p.Read().ID)
	require.ErrorContains(t, script.Get(t, call.Done).Error, "reading body")
	require.Equal(t, rpc.ErrShutdown, c.Call("m", 1, nil))
}

func TestRefusedOptions(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	_, err := netrpc.New(ours, netrpc.Options{Conn: conn.Options{IdleTimeout: 1 << 62}})
	bad, ok := errors.AsType[*conn.OptionError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "IdleTimeout", bad.Field)
	_, err = netrpc.Dial("unix", "/no/such/socket")
	require.Error(t, err)
}

// What the server asks and notifies reaches a handler, if there is one.
func TestServersRequests(t *testing.T) {
	notes := make(chan string, 1)
	c, _, p := play(t, netrpc.Options{Conn: conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		if r.IsNotification() {
			notes <- r.Method()
			return
		}
		_ = r.Reply(r.Params())
	})}})
	p.Say(`{"jsonrpc":"2.0","method":"note"}`)
	require.Equal(t, "note", script.Get(t, notes))
	p.Say(`{"jsonrpc":"2.0","id":1.50,"method":"ask","params":[1]}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1.50,"result":[1]}`, p.Read().Text)
	call := c.Go("m", 1, nil, nil)
	p.Say(`{"id":%s,"result":0}`, p.Read().ID)
	require.NoError(t, script.Get(t, call.Done).Error)
}
