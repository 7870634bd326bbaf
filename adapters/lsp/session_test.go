package lsp_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// What a session says, in its order.
func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		c := connect(t, lsp.Options{}, func(f *fake) {
			for {
				m, ok := f.read()
				if !ok {
					return
				}
				said = append(said, m.Method+" "+string(m.Params))
				switch m.Method {
				case "initialize":
					f.answer(m, `{"capabilities":{}}`)
				case "shutdown":
					f.answer(m, "null")
				case "exit":
					return
				case "echo":
					f.answer(m, string(m.Params))
				}
			}
		})
		ctx := t.Context()
		_, err := c.Call(ctx, "echo", nil, lsp.CallOptions{})
		require.ErrorIs(t, err, lsp.ErrNotInitialized)
		require.ErrorIs(t, c.Notify(ctx, "textDocument/didOpen", nil), lsp.ErrNotInitialized)

		_, err = c.Initialize(ctx, map[string]any{"rootUri": "file:///w"}, lsp.CallOptions{})
		require.NoError(t, err)
		_, err = c.Initialize(ctx, nil, lsp.CallOptions{})
		require.ErrorIs(t, err, lsp.ErrInitialized)
		for _, method := range []string{"initialize", "initialized", "shutdown", "exit"} {
			_, err = c.Call(ctx, method, nil, lsp.CallOptions{})
			require.ErrorIs(t, err, lsp.ErrLifecycle)
			require.ErrorContains(t, err, method)
			require.ErrorIs(t, c.Notify(ctx, method, nil), lsp.ErrLifecycle)
		}

		require.NoError(t, c.Notify(ctx, "textDocument/didOpen", map[string]int{"version": 1}))
		type point struct{ Line, Character int }
		got, err := lsp.Call[point](ctx, c, "echo", point{3, 4}, lsp.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, point{3, 4}, got)
		raw, err := lsp.Call[json.RawMessage](ctx, c, "echo", json.RawMessage(`[1, 2]`), lsp.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, `[1, 2]`, string(raw))
		none, err := lsp.Call[*point](ctx, c, "echo", json.RawMessage(`null`), lsp.CallOptions{})
		require.NoError(t, err)
		require.Nil(t, none)
		_, err = lsp.Call[int](ctx, c, "echo", json.RawMessage(`"text"`), lsp.CallOptions{})
		require.ErrorIs(t, err, conn.ErrInvalidAnswer)
		_, err = c.Call(ctx, "echo", make(chan int), lsp.CallOptions{})
		require.ErrorContains(t, err, "echo: params")
		require.ErrorContains(t, c.Notify(ctx, "note", make(chan int)), "note: params")

		require.NoError(t, c.Shutdown(ctx))
		require.ErrorIs(t, c.Shutdown(ctx), lsp.ErrShutdown)
		_, err = c.Call(ctx, "echo", nil, lsp.CallOptions{})
		require.ErrorIs(t, err, lsp.ErrShutdown)
		_, err = c.Initialize(ctx, nil, lsp.CallOptions{})
		require.ErrorIs(t, err, lsp.ErrShutdown)
		<-c.Done()
		synctest.Wait()
		require.Equal(t, []string{
			`initialize {"capabilities":{},"processId":null,"rootUri":"file:///w"}`, "initialized {}", `textDocument/didOpen {"version":1}`,
			`echo {"Line":3,"Character":4}`, "echo [1, 2]", "echo null", `echo "text"`, "shutdown ", "exit ",
		}, said)
	})
}

// What the protocol demands of initialize is put in, and nothing is put twice.
func TestInitializeParams(t *testing.T) {
	for _, try := range []struct {
		params any
		want   string
	}{
		{nil, `{"processId":null,"rootUri":null,"capabilities":{}}`},
		{json.RawMessage(" {\n} "), `{"processId":null,"rootUri":null,"capabilities":{}}`},
		{json.RawMessage(`{"processId":7,"rootUri":"file:///w","capabilities":{"a":1},"trace":"off"}`), `{"processId":7,"rootUri":"file:///w","capabilities":{"a":1},"trace":"off"}`},
		{struct {
			Trace string `json:"trace"`
		}{"off"}, `{"processId":null,"rootUri":null,"capabilities":{},"trace":"off"}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			var params json.RawMessage
			c := connect(t, lsp.Options{}, func(f *fake) {
				m, _ := f.read()
				params = m.Params
				f.answer(m, "{}")
				_, _ = f.read()
			})
			_, err := c.Initialize(t.Context(), try.params, lsp.CallOptions{})
			require.NoError(t, err)
			require.NoError(t, c.Close())
			require.JSONEq(t, try.want, string(params))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, lsp.Options{}, func(f *fake) { f.serve(func(message) {}) })
		for _, params := range []any{json.RawMessage(`[1]`), json.RawMessage(`null`), 5, make(chan int)} {
			_, err := c.Initialize(t.Context(), params, lsp.CallOptions{})
			require.ErrorContains(t, err, "params")
		}
		_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
		require.NoError(t, err, "nothing was sent before")
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// A server that refuses may be asked again.
func TestInitializeRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, lsp.Options{}, func(f *fake) {
			m, _ := f.read()
			f.send(`"id":%s,"error":{"code":-32803,"message":"no go.mod","data":{"retry":true}}`, m.ID)
			f.serve(func(message) {})
		})
		_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
		require.ErrorIs(t, err, lsp.ErrRequestFailed)
		require.EqualError(t, err, "initialize: no go.mod (-32803)")
		refused := new(codec.Error)
		require.ErrorAs(t, err, &refused)
		require.JSONEq(t, `{"retry":true}`, string(refused.Data))
		_, err = c.Initialize(t.Context(), nil, lsp.CallOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// initialize must not be cancelled at the server: the connection ends in its place.
func TestInitializeExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		c := connect(t, lsp.Options{}, func(f *fake) {
			for m, ok := f.read(); ok; m, ok = f.read() {
				heard = append(heard, m.Method)
			}
		})
		_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{Timeout: time.Second, CancelGrace: time.Hour, WorkDone: func(json.RawMessage) {}})
		require.ErrorIs(t, err, conn.ErrTimeout)
		<-c.Done()
		synctest.Wait()
		require.ErrorIs(t, c.Err(), conn.ErrHandshake)
		require.Equal(t, []string{"initialize"}, heard)
	})
}

// A server that does not end after exit is left behind, after the grace.
func TestShutdownOfADeafServer(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{0: lsp.DefaultExitGrace, time.Second: time.Second, -1: 0} {
		synctest.Test(t, func(t *testing.T) {
			// No Close of the pipe at exit: it is closed from here.
			c := connect(t, lsp.Options{ExitGrace: grace, Conn: conn.Options{CloseTimeout: -1}}, func(f *fake) {
				for m, ok := f.read(); ok; m, ok = f.read() {
					if m.ID != nil {
						f.answer(m, "null")
					}
				}
			})
			_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
			require.NoError(t, err)
			began := time.Now()
			require.NoError(t, c.Shutdown(t.Context()))
			require.Equal(t, want, time.Since(began))
		})
	}
	synctest.Test(t, func(t *testing.T) { // nor is one that does not answer waited for beyond ctx
		c := connect(t, lsp.Options{Conn: conn.Options{CloseTimeout: -1}}, func(f *fake) {
			for m, ok := f.read(); ok; m, ok = f.read() {
				if m.Method == "initialize" {
					f.answer(m, "{}")
				}
			}
		})
		_, err := c.Initialize(t.Context(), nil, lsp.CallOptions{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, c.Shutdown(ctx), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		<-c.Done()
	})
}

// A session that never began ends without shutdown.
func TestShutdownBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		c := connect(t, lsp.Options{}, func(f *fake) {
			m, _ := f.read()
			heard = append(heard, m.Method)
		})
		require.NoError(t, c.Shutdown(t.Context()))
		<-c.Done()
		synctest.Wait()
		require.Equal(t, []string{"exit"}, heard)
	})
}

func TestOptionsAreChecked(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	_, err := lsp.New(near, lsp.Options{Conn: conn.Options{MaxPending: 1 << 30}})
	refused := new(conn.OptionError)
	require.ErrorAs(t, err, &refused)
	require.NoError(t, near.Close())
	_, err = lsp.Dial(t.Context(), "unix", t.TempDir()+"/none", lsp.Options{})
	require.Error(t, err)
	_, err = lsp.Spawn(t.Context(), conn.Command{Path: "no-such-server"}, lsp.Options{})
	failed := new(conn.SpawnError)
	require.ErrorAs(t, err, &failed)
}
