package conn_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// strays gathers what OnStray was shown.
type strays struct{ c chan conn.Stray }

func newStrays() strays { return strays{make(chan conn.Stray, 64)} }

func (s strays) hook(x conn.Stray) {
	x.Frame = append([]byte(nil), x.Frame...)
	s.c <- x
}

// echoes answers every request with its params.
var echoes = conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) { _ = r.Reply(r.Params()) })

func TestC07InvalidUTF8(t *testing.T) {
	seen := newStrays()
	c, p := connect(t, conn.Options{Handler: echoes, OnStray: seen.hook})
	p.send("\xff\xfe", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.line())
	require.Equal(t, "\xff\xfe", string((<-seen.c).Frame))

	// Inside a string of a good request: refused by its name, never rewritten.
	p.send(`{"jsonrpc":"2.0","id":2,"method":"m","params":["` + "\xff" + `"]}`)
	m := p.read()
	require.Equal(t, "2", string(m.ID))
	require.Equal(t, codec.CodeParse, m.Error.Code)
	x := <-seen.c
	require.ErrorIs(t, x.Err, codec.ErrInvalidUTF8)
	require.Equal(t, conn.StrayUnreadable, x.Reason)
	require.EqualValues(t, 2, c.Stats().Unreadable)
	requireWorks(t, c, p)
}

func TestC11HostileLengths(t *testing.T) {
	headers := []string{"-1", "281474976710657", "9000000000000000000", "99999999999999999999", "+5", "0x10"}
	type hostile struct {
		framer codec.Framer
		bytes  string
	}
	cases := []hostile{{codec.LengthFramer{}, "\xff\xff\xff\xff"}}
	for _, h := range headers {
		cases = append(cases, hostile{codec.HeaderFramer{}, "Content-Length: " + h + "\r\n\r\n"})
	}
	for _, h := range cases {
		t.Run(strings.TrimSpace(h.bytes), func(t *testing.T) {
			c, p := connect(t, conn.Options{Framer: h.framer})
			done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
			_, err := p.in.ReadString('}')
			require.NoError(t, err)
			_, err = io.WriteString(p.link, h.bytes)
			require.NoError(t, err)
			err = (<-done).err
			require.ErrorIs(t, err, conn.ErrClosed)
			cut, ok := errors.AsType[*codec.FrameError](err)
			require.True(t, ok, "%v", err)
			require.True(t, cut.Fatal)
			<-c.Done()
			require.Equal(t, error(cut), c.Err())
		})
	}
}

func TestC12ErrorIsABareString(t *testing.T) {
	c, p := connect(t, conn.Options{})
	for _, test := range []struct{ member, text string }{
		{`"bad cursor"`, "bad cursor"}, {`""`, ""}, {`7`, "7"}, {`["a"]`, `["a"]`}, {`{"message":"half"}`, `{"message":"half"}`},
	} {
		done := call(background, c, "m", "", conn.CallOptions{})
		p.send(errorFor(p.read().ID, test.member))
		e, ok := errors.AsType[*codec.Error]((<-done).err)
		require.True(t, ok, test.member)
		require.Equal(t, test.text, e.Message)
		require.False(t, e.Structured)
	}
	requireWorks(t, c, p)
}

func TestC17Batches(t *testing.T) {
	c, p := connect(t, conn.Options{Profile: codec.JSONRPC, Batches: conn.SplitBatches, Handler: echoes})
	for _, test := range []struct{ batch, answer string }{
		{`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`},
		{`[1]`, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}]`},
		{`[[]]`, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}]`},
		{
			`[1,{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
			`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600}},{"jsonrpc":"2.0","id":1,"result":null}]`, // the handler's, in this profile
		},
		{
			`[1,{"jsonrpc":"2.0","id":1,"method":"m","params":[2]}]`,
			`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600}},{"jsonrpc":"2.0","id":1,"result":[2]}]`,
		},
		{
			`[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"a","method":"m","params":{}}]`,
			`[{"jsonrpc":"2.0","id":"a","result":{}}]`,
		},
	} {
		p.send(test.batch)
		require.JSONEq(t, test.answer, withoutMessages(t, p.line()), test.batch)
	}
	p.send(`[{"jsonrpc":"2.0","method":"n"}]`, `[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","method":"n"}]`)
	requireWorks(t, c, p) // zero bytes came before
	require.EqualValues(t, 5, c.Stats().Unreadable)
	require.EqualValues(t, 7, c.Stats().BatchesSplit)
}

// withoutMessages drops error texts, which are for people.
func withoutMessages(t *testing.T, line string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(line), &v))
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, m := range list {
		if e, ok := m.(map[string]any)["error"].(map[string]any); ok {
			delete(e, "message")
		}
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestC18Chatter(t *testing.T) {
	seen := newStrays()
	c, p := connect(t, conn.Options{OnStray: seen.hook, Handler: conn.HandlerFunc(func(context.Context, *conn.Inbound) {
		t.Error("chatter was dispatched")
	})})
	done := call(background, c, "m", "", conn.CallOptions{})
	m := p.read()
	chatter := []string{"Server started on stdio", "", "[debug] {x", "42", `"ready"`, `{"level":"info"}`, strings.Repeat("z", 5000)}
	p.send(append(chatter, resultFor(m.ID, "{}"))...)
	require.NoError(t, (<-done).err)
	for _, line := range chatter {
		if line == "" {
			continue
		}
		x := <-seen.c
		require.Equal(t, line[:min(len(line), conn.StrayBytes)], string(x.Frame))
		require.Equal(t, len(line), x.Size)
	}
	require.Empty(t, seen.c)
	require.EqualValues(t, 6, c.Stats().Unreadable+c.Stats().BatchesRefused)
	requireWorks(t, c, p)
}

// Requests whose ids a float would make one are in flight together, answered in
// reverse, each under its own text.
func TestC24NumbersBeyondFloats(t *testing.T) {
	ids := []string{"9007199254740992", "9007199254740993", "9223372036854775808", "18446744073709551615", "-9223372036854775809"}
	taken := make(chan *conn.Inbound, len(ids))
	c, p := connect(t, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		r.Detach()
		taken <- r
	})})
	inFlight := map[string]*conn.Inbound{}
	for _, id := range ids {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`)
		r := <-taken
		inFlight[r.ID().String()] = r
	}
	require.Len(t, inFlight, len(ids))
	for i := len(ids) - 1; i >= 0; i-- {
		replied := make(chan error, 1)
		go func() { replied <- inFlight[ids[i]].Reply([]byte(ids[i])) }()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+ids[i]+`,"result":`+ids[i]+`}`, p.line())
		require.NoError(t, <-replied)
	}
	for _, id := range []string{"1e20", "1.5"} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`)
	}
	requireWorks(t, c, p)
	require.Empty(t, taken, "refused, never taken for another id")
	require.EqualValues(t, 2, c.Stats().Unreadable)

	plain, q := connect(t, conn.Options{Profile: codec.JSONRPC, Handler: echoes})
	for _, id := range []string{"1e20", "1.5"} {
		q.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"m","params":[]}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":[]}`, q.line())
	}
	requireWorks(t, plain, q)
}

func TestC26NullID(t *testing.T) {
	t.Run("plain JSON-RPC answers it", func(t *testing.T) {
		c, p := connect(t, conn.Options{Profile: codec.JSONRPC, Handler: echoes, Batches: conn.SplitBatches})
		p.send(`{"jsonrpc":"2.0","id":null,"method":"m","params":[1]}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":null,"result":[1]}`, p.line())
		p.send(`[{"jsonrpc":"2.0","id":null,"method":"m","params":[1]},{"jsonrpc":"2.0","id":null,"method":"m","params":[2]}]`)
		var batch []message
		require.NoError(t, json.Unmarshal([]byte(p.line()), &batch))
		require.Len(t, batch, 2)
		requireWorks(t, c, p)
	})
	t.Run("an MCP server refuses it", func(t *testing.T) {
		c, p := connect(t, conn.Options{Batches: conn.SplitBatches, Handler: conn.HandlerFunc(func(context.Context, *conn.Inbound) {
			t.Error("it went to the handler")
		})})
		p.send(`{"jsonrpc":"2.0","id":null,"method":"m"}`)
		require.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`, withoutMessages(t, p.line()))
		p.send(`[{"jsonrpc":"2.0","id":null,"method":"ping"}]`)
		require.JSONEq(t, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}]`, withoutMessages(t, p.line()))
		require.EqualValues(t, 2, c.Stats().NullIDs)
		requireWorks(t, c, p)
	})
	t.Run("an MCP client takes it for a notification", func(t *testing.T) {
		c, p := connect(t, conn.Options{})
		p.send(`{"jsonrpc":"2.0","id":null,"method":"m"}`)
		requireWorks(t, c, p)
		require.EqualValues(t, 1, c.Stats().Notifications)
	})
}

func TestC27ErrorWithNullID(t *testing.T) {
	seen := newStrays()
	c, p := connect(t, conn.Options{OnStray: seen.hook})
	a := call(background, c, "a", "", conn.CallOptions{})
	first := p.read()
	b := call(background, c, "b", "", conn.CallOptions{})
	second := p.read()
	p.send(
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32601,"message":"x"}}`,
		resultFor(first.ID, "1"), resultFor(second.ID, "2"),
	)
	require.Equal(t, reply{"1", nil}, <-a)
	require.Equal(t, reply{"2", nil}, <-b)
	require.Equal(t, conn.StrayNoID, (<-seen.c).Reason)
	require.EqualValues(t, 2, c.Stats().NoID)
	requireWorks(t, c, p)
}

func TestC29StreamEndsInsideAFrame(t *testing.T) {
	for _, test := range []struct {
		name   string
		framer codec.Framer
		bytes  string // after the answer to the first of two calls
		cause  error
		whole  bool // bytes hold the answer to the second
	}{
		{"cut line", codec.LineFramer{}, `{"jsonrpc":"2.0","id":ID,"result":{`, io.ErrUnexpectedEOF, false},
		{"line without its end", codec.LineFramer{}, `{"jsonrpc":"2.0","id":ID,"result":1}`, io.EOF, true},
		{"header alone", codec.HeaderFramer{}, "Content-Length: 40\r\n\r\n", io.ErrUnexpectedEOF, false},
		{"cut header", codec.HeaderFramer{}, "Content-Le", io.ErrUnexpectedEOF, false},
		{"cut body", codec.HeaderFramer{}, "Content-Length: 40\r\n\r\n{\"jsonrpc\"", io.ErrUnexpectedEOF, false},
		{"cut length", codec.LengthFramer{}, "\x00\x00", io.ErrUnexpectedEOF, false},
		{"nothing", codec.LengthFramer{}, "", io.EOF, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, conn.Options{Framer: test.framer})
				done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
				frame, err := p.in.ReadString('}')
				require.NoError(t, err)
				go func() { _, _ = io.Copy(io.Discard, p.in) }()
				var m message
				require.NoError(t, json.Unmarshal([]byte(frame[strings.IndexByte(frame, '{'):]), &m))
				_, err = io.WriteString(p.link, strings.Replace(test.bytes, "ID", string(m.ID), 1))
				require.NoError(t, err)
				require.NoError(t, p.link.Close())
				r := <-done
				if test.whole {
					require.Equal(t, reply{"1", nil}, r)
				} else {
					require.ErrorIs(t, r.err, conn.ErrClosed)
					require.ErrorIs(t, r.err, test.cause)
				}
				<-c.Done()
				require.ErrorIs(t, c.Err(), test.cause)
				gone, ok := errors.AsType[*conn.PeerGone](c.Err())
				require.True(t, ok)
				require.Equal(t, -1, gone.ExitCode)
			})
		})
	}
}
