package sourcegraph_test

import (
	"context"
	"encoding/json"
	"net"
	"regexp"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
)

func TestCallOptions(t *testing.T) {
	c, p := play(t, nil)
	opts := []jsonrpc2.CallOption{
		nil, jsonrpc2.Meta(map[string]int{"trace": 1}), jsonrpc2.ExtraField(`session"`, []int{2}),
		jsonrpc2.PickID(jsonrpc2.ID{Str: "mine", IsString: true}), jsonrpc2.StringID(),
	}
	done := make(chan error, 1)
	go func() { done <- c.Call(t.Context(), "m", []int{1}, nil, opts...) }()
	l := p.Read()
	require.JSONEq(t, `{"jsonrpc":"2.0","id":`+string(l.ID)+`,"method":"m","params":[1],"meta":{"trace":1},"session\"":[2]}`, l.Text)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, l.ID)
	require.Equal(t, &jsonrpc2.Error{Code: 1, Message: "no"}, script.Get(t, done))

	require.NoError(t, c.Notify(t.Context(), "n", nil, jsonrpc2.Meta("x")))
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"n","params":{},"meta":"x"}`, p.Read().Text)
	require.ErrorContains(t, c.Notify(t.Context(), "n", nil, jsonrpc2.ExtraField("id", 1)), "invalid extra field")
	require.ErrorContains(t, c.Call(t.Context(), "n", nil, nil, jsonrpc2.ExtraField("id", 1)), "invalid extra field")
	require.Error(t, c.Call(t.Context(), "n", func() {}, nil, jsonrpc2.Meta(1)))

	require.NoError(t, c.Close())
	require.Equal(t, jsonrpc2.ErrClosed, c.Notify(t.Context(), "n", nil, jsonrpc2.Meta("x")))
}

// A handler sees of a request what the library shows.
func TestRequestsAsTheLibraryHasThem(t *testing.T) {
	texts := []string{
		`{"jsonrpc":"2.0","method":"a"}`,
		`{"jsonrpc":"2.0","method":"a","params":null,"id":7}`,
		`{"jsonrpc":"2.0","method":"a:b","params":{"a":[1,":"]},"id":"x:y"}`,
		`{"meta":{"t":1},"jsonrpc":"2.0","method":"a","params":[1],"id":1}`,
		`{"jsonrpc":"2.0","method":"a","meta":null,"extra":12345678901234567890}`,
		`{"jsonrpc":"2.0","method":"\u0061","params":[],"id":0,"x":{"y":"z"}}`,
	}
	for _, text := range texts {
		var want jsonrpc2.Request
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		seen := make(chan *jsonrpc2.Request, 1)
		_, p := play(t, jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			seen <- req
			return nil, nil
		}))
		p.Say("%s", text)
		require.Equal(t, &want, script.Get(t, seen), text)
	}
}

// Answers can be given by hand, late, once, and with a meta.
func TestReplies(t *testing.T) {
	ids := make(chan jsonrpc2.ID, 1)
	silent := func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) { ids <- req.ID }
	c, p := play(t, handlerFunc(silent))
	p.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	id := script.Get(t, ids)
	require.ErrorContains(t, c.SendResponse(t.Context(), &jsonrpc2.Response{ID: id}), "without result")
	require.Error(t, c.Reply(t.Context(), id, func() {}))
	require.NoError(t, c.Reply(t.Context(), id, []int{1}))
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":[1]}`, p.Read().Text)
	require.ErrorContains(t, c.Reply(t.Context(), id, nil), "no request 1")

	p.Say(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
	result, meta, data := json.RawMessage("{}"), json.RawMessage(`{"t":1}`), json.RawMessage("[2]")
	require.NoError(t, c.SendResponse(t.Context(), &jsonrpc2.Response{ID: script.Get(t, ids), Result: &result, Meta: &meta}))
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{},"meta":{"t":1}}`, p.Read().Text)
	require.Equal(t, "{}", string(result))

	p.Say(`{"jsonrpc":"2.0","id":3,"method":"m"}`)
	require.NoError(t, c.ReplyWithError(t.Context(), script.Get(t, ids), &jsonrpc2.Error{Code: 4, Message: "m", Data: &data}))
	require.JSONEq(t, `{"jsonrpc":"2.0","id":3,"error":{"code":4,"message":"m","data":[2]}}`, p.Read().Text)
}

type handlerFunc func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request)

func (f handlerFunc) Handle(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) {
	f(ctx, c, req)
}

// Both log the same of the same conversation, but for the ids of calls.
func TestLogMessages(t *testing.T) {
	number := regexp.MustCompile(`#\d+`)
	var logs [2][]string
	for i, open := range []func(net.Conn, jsonrpc2.Handler, jsonrpc2.Logger) client{
		func(l net.Conn, h jsonrpc2.Handler, to jsonrpc2.Logger) client {
			return jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(l), h, jsonrpc2.LogMessages(to))
		},
		func(l net.Conn, h jsonrpc2.Handler, to jsonrpc2.Logger) client {
			return sourcegraph.NewConn(context.Background(), sourcegraph.NewPlainObjectStream(l), h, sourcegraph.LogMessages(to), nil)
		},
	} {
		var mu sync.Mutex
		note := logger(func(s string) {
			mu.Lock()
			defer mu.Unlock()
			logs[i] = append(logs[i], number.ReplaceAllString(s, "#N"))
		})
		stream, p := script.New(t)
		handled := make(chan struct{}, 1)
		c := open(stream, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			defer func() { handled <- struct{}{} }()
			switch req.Method {
			case "fail":
				return nil, &jsonrpc2.Error{Code: 3, Message: "no"}
			case "call":
				return nil, c.Call(ctx, "back", []int{5}, nil)
			}
			return []int{1}, nil
		})), note)
		for _, answer := range []string{`"result":[2]`, `"error":{"code":1,"message":"no","data":3}`} {
			done := make(chan error, 1)
			go func() { done <- c.Call(t.Context(), "m", []int{1}, nil) }()
			p.Say(`{"jsonrpc":"2.0","id":%s,%s}`, p.Read().ID, answer)
			script.Get(t, done)
		}
		require.NoError(t, c.Notify(t.Context(), "n", map[string]any{}))
		p.Read()
		for _, method := range []string{"good", "fail"} {
			p.Say(`{"jsonrpc":"2.0","id":1,"method":"%s","params":[4]}`, method)
			p.Read()
			script.Get(t, handled)
		}
		p.Say(`{"jsonrpc":"2.0","id":2,"method":"call"}`)
		p.Say(`{"jsonrpc":"2.0","id":%s,"result":true}`, p.Read().ID)
		script.Get(t, handled)
		p.Read()
		p.Say(`{"jsonrpc":"2.0","method":"note"}`)
		script.Get(t, handled)
		require.NoError(t, c.Close())
		script.Get(t, c.DisconnectNotify())
	}
	require.NotEmpty(t, logs[0])
	require.Equal(t, logs[0], logs[1])
}
