package mcpgo_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/mcpgo"
	"github.com/correlator-go/correlator/conn"
)

// script is a server played line by line.
type script struct {
	t    *testing.T
	link net.Conn
	in   *bufio.Reader
}

type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// play makes a transport with a scripted server, both gone after the test.
func play(t *testing.T, o mcpgo.Options) (*mcpgo.Transport, *script) {
	t.Helper()
	ours, theirs := net.Pipe()
	link := mcpgo.Stream(ours, o)
	require.NoError(t, link.Start(context.Background()))
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = link.Close()
		<-link.Conn().Done()
	})
	return link, &script{t, theirs, bufio.NewReader(theirs)}
}

func (s *script) read() (l line) {
	s.t.Helper()
	text, err := s.in.ReadString('\n')
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal([]byte(text), &l))
	return l
}

func (s *script) say(format string, args ...any) {
	s.t.Helper()
	_, err := fmt.Fprintf(s.link, format+"\n", args...)
	require.NoError(s.t, err)
}

type outcome struct {
	response *transport.JSONRPCResponse
	err      error
}

// send makes a call in the background.
func send(ctx context.Context, link *mcpgo.Transport, id any, method string, params any) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := link.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: "2.0", ID: mcp.NewRequestId(id), Method: method, Params: params})
		done <- outcome{r, err}
	}()
	return done
}

// Lines that are no message, an error without an id and answers to nothing end
// nothing; the answer that cannot be read ends its call alone.
func TestBadLines(t *testing.T) {
	link, s := play(t, mcpgo.Options{})
	first, second := send(t.Context(), link, "a", "x", nil), send(t.Context(), link, int64(9007199254740993), "y", nil)
	requests := map[string]line{}
	for range 2 {
		l := s.read()
		requests[l.Method] = l
	}
	s.say("Server listening on port 3000")
	s.say(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`)
	s.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	s.say(`{"jsonrpc":"2.0","id":987654321,"result":{}}`)
	s.say(`[]`)
	s.say(`{"jsonrpc":"2.0","id":%s,"result":{]}`, requests["x"].ID)
	got := <-first
	require.ErrorIs(t, got.err, conn.ErrInvalidAnswer)
	s.say(`{"result":{"fine":true},"id":%s,"jsonrpc":"2.0"}`, requests["y"].ID)
	got = <-second
	require.NoError(t, got.err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":9007199254740993,"result":{"fine":true}}`, marshal(t, got.response))
	require.NoError(t, link.Conn().Err())
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// A subscription keeps the caller's id, a progress token beside it, and outlives
// every timeout.
func TestSubscription(t *testing.T) {
	link, s := play(t, mcpgo.Options{Conn: conn.Options{Timeout: time.Nanosecond}})
	seen := make(chan mcp.JSONRPCNotification, 10)
	link.SetNotificationHandler(func(n mcp.JSONRPCNotification) { seen <- n })
	done := send(t.Context(), link, 9, "subscriptions/listen", map[string]any{"_meta": map[string]any{"progressToken": "mine"}})
	l := s.read()
	s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, l.ID)
	s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, l.ID)
	n := <-seen
	require.Equal(t, "mine", n.Params.AdditionalFields["progressToken"])
	n = <-seen
	require.Equal(t, "notifications/tools/list_changed", n.Method)
	require.Equal(t, map[string]any{"io.modelcontextprotocol/subscriptionId": 9.0}, n.Params.Meta)
	s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, l.ID)
	require.ErrorIs(t, (<-done).err, conn.ErrSubscriptionEnded)
}

// A server's error is a response, whatever shape it has.
func TestErrorsOfTheServer(t *testing.T) {
	for sent, want := range map[string]mcp.JSONRPCErrorDetails{
		`{"code":-32601,"message":"no such method"}`:            {Code: -32601, Message: "no such method"},
		`{"code":0,"message":"odd","data":{"a":[1]}}`:           {Message: "odd", Data: map[string]any{"a": []any{1.0}}},
		`"cursor_invalid"`:                                      {Code: mcp.INTERNAL_ERROR, Message: "cursor_invalid"},
		`{"code":-32022,"message":"v","data":{"supported":[]}}`: {Code: -32022, Message: "v", Data: map[string]any{"supported": []any{}}},
	} {
		link, s := play(t, mcpgo.Options{})
		done := send(t.Context(), link, 1, "x", nil)
		s.say(`{"jsonrpc":"2.0","id":%s,"error":%s}`, s.read().ID, sent)
		got := <-done
		require.NoError(t, got.err)
		require.Nil(t, got.response.Result)
		require.Equal(t, &want, got.response.Error, sent)
	}
}

func TestParamsAndNotificationsGoOutAsTheyAre(t *testing.T) {
	link, s := play(t, mcpgo.Options{})
	for _, params := range []any{nil, (*mcp.PaginatedParams)(nil), map[string]any(nil)} {
		done := send(t.Context(), link, 1, "x", params)
		l := s.read()
		require.Nil(t, l.Params)
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, l.ID)
		require.NoError(t, (<-done).err)
	}
	// The text of a name elsewhere is no token.
	for _, params := range []string{
		`{"arguments":{"progressToken":1,"task":2}}`, `{"_meta":["progressToken"]}`, `["progressToken","task"]`, `{"task":null}`,
		`{"_meta":{"progressToken":null}}`,
	} {
		done := send(t.Context(), link, 1, "x", json.RawMessage(params))
		l := s.read()
		require.JSONEq(t, params, string(l.Params))
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, l.ID)
		require.NoError(t, (<-done).err)
	}

	_, err := link.SendRequest(t.Context(), transport.JSONRPCRequest{Method: "x", Params: make(chan int)})
	require.ErrorContains(t, err, "failed to marshal request")

	note := mcp.JSONRPCNotification{Notification: mcp.Notification{Method: "notifications/roots/list_changed"}}
	require.NoError(t, link.SendNotification(t.Context(), note))
	l := s.read()
	require.Equal(t, "notifications/roots/list_changed", l.Method)
	require.Nil(t, l.Params)
	note.Params.AdditionalFields = map[string]any{"a": 1}
	require.NoError(t, link.SendNotification(t.Context(), note))
	require.JSONEq(t, `{"a":1}`, string(s.read().Params))
}

// The cancel names the id on the wire; the client's own, which names another, is
// not written.
func TestCancelOnTheWire(t *testing.T) {
	link, s := play(t, mcpgo.Options{})
	ctx, giveUp := context.WithCancel(t.Context())
	done := send(ctx, link, "mine", "x", nil)
	l := s.read()
	giveUp()
	require.ErrorIs(t, (<-done).err, context.Canceled)
	cancel := s.read()
	require.Equal(t, "notifications/cancelled", cancel.Method)
	require.JSONEq(t, `{"requestId":`+string(l.ID)+`,"reason":"cancelled"}`, string(cancel.Params))

	note := mcp.JSONRPCNotification{Notification: mcp.Notification{Method: "notifications/cancelled"}}
	note.Params.AdditionalFields = map[string]any{"requestId": "mine"}
	require.NoError(t, link.SendNotification(t.Context(), note))
	require.ErrorIs(t, link.SendNotification(ctx, note), context.Canceled)

	// The server's word that the probe and a task end by other means than a cancel.
	for method, params := range map[string]any{"server/discover": nil, "tools/call": map[string]any{"task": map[string]any{}}} {
		ctx, giveUp := context.WithCancel(t.Context())
		done := send(ctx, link, 1, method, params)
		require.Equal(t, method, s.read().Method)
		giveUp()
		require.ErrorIs(t, (<-done).err, context.Canceled)
	}
	done = send(t.Context(), link, 1, "next", nil)
	l = s.read()
	require.Equal(t, "next", l.Method)
	s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, l.ID)
	require.NoError(t, (<-done).err)
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, s := play(t, mcpgo.Options{Conn: conn.Options{Timeout: time.Second}})
		done := send(t.Context(), link, 1, "x", nil)
		s.read()
		require.ErrorIs(t, (<-done).err, conn.ErrTimeout)
		require.Equal(t, "notifications/cancelled", s.read().Method)

		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		link, s = play(t, mcpgo.Options{Conn: conn.Options{Timeout: -1}})
		done = send(ctx, link, 1, "x", nil)
		s.read()
		require.ErrorIs(t, (<-done).err, context.DeadlineExceeded)
	})
}

// What the server asks is answered with what the handler says, or an error.
func TestRequestsOfTheServer(t *testing.T) {
	type key struct{}
	ours, theirs := net.Pipe()
	link := mcpgo.Stream(ours, mcpgo.Options{})
	require.NoError(t, link.Start(context.WithValue(context.Background(), key{}, "kept")))
	defer func() {
		_ = link.Close()
		<-link.Conn().Done()
	}()
	s := &script{t, theirs, bufio.NewReader(theirs)}
	ask := func(id, method string) line {
		s.say(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"a":1}}`, id, method)
		l := s.read()
		require.Equal(t, id, string(l.ID))
		return l
	}
	require.JSONEq(t, `{"code":-32601,"message":"No request handler configured"}`, string(ask(`1`, "roots/list").Error))
	require.JSONEq(t, `{}`, string(ask(`2`, "ping").Result))
	withdrawn := make(chan struct{})
	link.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		switch r.Method {
		case "echo":
			text, err := json.Marshal(map[string]any{"id": r.ID, "params": r.Params, "value": ctx.Value(key{})})
			return transport.NewJSONRPCResultResponse(r.ID, text), err
		case "refuse":
			return transport.NewJSONRPCErrorResponse(r.ID, -5, "no", map[string]any{"why": 1}), nil
		case "fail":
			return nil, errors.New("broken")
		case "panic":
			panic("no")
		case "wait":
			<-ctx.Done()
			close(withdrawn)
		}
		return nil, nil
	})
	for _, id := range []string{`3`, `"three"`, `9007199254740993`, `123456789012345678901234567890`} {
		require.JSONEq(t, `{"id":`+id+`,"params":{"a":1},"value":"kept"}`, string(ask(id, "echo").Result))
	}
	require.JSONEq(t, `{"code":-5,"message":"no","data":{"why":1}}`, string(ask(`4`, "refuse").Error))
	require.JSONEq(t, `{"code":-32603,"message":"broken"}`, string(ask(`5`, "fail").Error))
	require.Contains(t, string(ask(`6`, "panic").Error), "-32603")
	require.Contains(t, string(ask(`7`, "silence").Error), "-32603")
	s.say(`{"jsonrpc":"2.0","id":8,"method":"wait"}`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
	<-withdrawn
	link.SetRequestHandler(nil)
	require.Contains(t, string(ask(`9`, "echo").Error), "-32601")
}

// A handler that never returns holds up neither answers nor, beyond HandlerWait,
// the calls whose reports it has not seen.
func TestHandlerThatBlocks(t *testing.T) {
	for name, o := range map[string]mcpgo.Options{
		"a moment": {HandlerWait: time.Millisecond, Buffer: 2},
		"never":    {HandlerWait: -1, Buffer: -1},
	} {
		t.Run(name, func(t *testing.T) {
			link, s := play(t, o)
			entered, release := make(chan struct{}, 100), make(chan struct{})
			defer close(release)
			link.SetNotificationHandler(func(mcp.JSONRPCNotification) {
				entered <- struct{}{}
				<-release
			})
			s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			<-entered
			done := send(t.Context(), link, 1, "x", map[string]any{"_meta": map[string]any{"progressToken": "t"}})
			l := s.read()
			for i := range 10 {
				s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, l.ID, i+1)
			}
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, l.ID)
			require.NoError(t, (<-done).err)
		})
	}
}

// A handler that panics, or ends its goroutine, costs its own notification.
func TestHandlerThatPanics(t *testing.T) {
	shown := make(chan any, 1)
	link, s := play(t, mcpgo.Options{Conn: conn.Options{OnPanic: func(v any, _ []byte) { shown <- v }}})
	seen := make(chan string, 1)
	link.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		if n.Method == "bad" {
			panic("no")
		}
		seen <- n.Method
	})
	s.say(`{"jsonrpc":"2.0","method":"bad"}`)
	s.say(`{"jsonrpc":"2.0","method":"unreadable","params":[1]}`)
	s.say(`{"jsonrpc":"2.0","method":"good"}`)
	require.Equal(t, "no", <-shown)
	require.Equal(t, "good", <-seen)
	link.SetNotificationHandler(nil)
}

func TestServerThatDies(t *testing.T) {
	link := mcpgo.Command(childOf(t, "broken"), mcpgo.Options{})
	lost := make(chan error, 1)
	c := client.NewClient(link)
	c.OnConnectionLost(func(err error) { lost <- err })
	require.NoError(t, c.Start(t.Context()))
	_, err := link.SendRequest(t.Context(), transport.JSONRPCRequest{Method: "x"})
	require.ErrorIs(t, err, transport.ErrTransportClosed)
	require.ErrorIs(t, err, conn.ErrClosed)
	for _, err := range []error{err, <-lost} {
		gone, ok := errors.AsType[*conn.PeerGone](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, 7, gone.ExitCode)
		require.Contains(t, string(gone.StderrTail), "no luck today")
	}
	<-link.Conn().Done()
	stderr, ok := client.GetStderr(c)
	require.True(t, ok)
	text, err := io.ReadAll(stderr)
	require.NoError(t, err)
	require.Equal(t, "no luck today\n", string(text))
	require.ErrorIs(t, link.SendNotification(t.Context(), mcp.JSONRPCNotification{}), transport.ErrTransportClosed)
	cancelled := mcp.JSONRPCNotification{Notification: mcp.Notification{Method: "notifications/cancelled"}}
	require.ErrorIs(t, link.SendNotification(t.Context(), cancelled), transport.ErrTransportClosed)
}

func TestStartAndClose(t *testing.T) {
	link := mcpgo.NewStdio(filepath.Join(t.TempDir(), "nothing"), nil)
	_, err := link.SendRequest(t.Context(), transport.JSONRPCRequest{Method: "x"})
	require.ErrorIs(t, err, mcpgo.ErrNotStarted)
	require.ErrorIs(t, link.SendNotification(t.Context(), mcp.JSONRPCNotification{}), mcpgo.ErrNotStarted)
	require.Nil(t, link.Conn())
	require.Empty(t, link.GetSessionId())
	for range 2 { // it may be tried again
		require.ErrorIs(t, link.Start(t.Context()), os.ErrNotExist)
	}
	require.NoError(t, link.Close())
	require.ErrorIs(t, link.Start(t.Context()), transport.ErrTransportClosed)
	_, err = link.SendRequest(t.Context(), transport.JSONRPCRequest{Method: "x"})
	require.ErrorIs(t, err, transport.ErrTransportClosed)

	_, err = mcpgo.NewStdioMCPClient(filepath.Join(t.TempDir(), "nothing"), nil)
	require.ErrorContains(t, err, "failed to start stdio transport")

	self, err := os.Executable()
	require.NoError(t, err)
	c, err := mcpgo.NewStdioMCPClient(self, []string{serverVar + "=mcp-go"}, "-an", "argument")
	require.NoError(t, err)
	_, err = c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	got, err := tool(t.Context(), c, "double", 4, nil)
	require.NoError(t, err)
	require.Equal(t, "8", got)
	require.NoError(t, c.Start(t.Context()), "once more does nothing")
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	_, err = tool(t.Context(), c, "double", 4, nil)
	require.ErrorIs(t, err, transport.ErrTransportClosed)

	stream := mcpgo.Stream(nil, mcpgo.Options{})
	_, ok := errors.AsType[*conn.OptionError](stream.Start(t.Context()))
	require.True(t, ok)
	text, err := io.ReadAll(stream.Stderr())
	require.NoError(t, err)
	require.Empty(t, text)
}

// The end of Start's ctx ends the child; Close ends a Start that hangs.
func TestContextOfStart(t *testing.T) {
	closed := make(chan error, 1)
	ctx, end := context.WithCancel(context.Background())
	link := mcpgo.Command(childOf(t, "patient"), mcpgo.Options{Conn: conn.Options{OnClose: func(err error) { closed <- err }}})
	require.NoError(t, link.Start(ctx))
	end()
	require.ErrorIs(t, <-closed, conn.ErrClosed)
	<-link.Conn().Done()

	opening := make(chan struct{})
	link = mcpgo.New(func(ctx context.Context, _ conn.Options) (*conn.Conn, error) {
		close(opening)
		<-ctx.Done()
		return nil, ctx.Err()
	}, mcpgo.Options{})
	failed := make(chan error, 1)
	go func() { failed <- link.Start(context.Background()) }()
	<-opening
	require.NoError(t, link.Close())
	require.ErrorIs(t, <-failed, context.Canceled)
}

// A child's standard error is always read, and the end of it kept.
func TestStderr(t *testing.T) {
	copyOf := new(strings.Builder)
	command := childOf(t, "broken")
	command.Stderr = copyOf
	link := mcpgo.Command(command, mcpgo.Options{})
	require.NoError(t, link.Start(t.Context()))
	buf := make([]byte, 3)
	n, err := io.ReadFull(link.Stderr(), buf)
	require.NoError(t, err)
	require.Equal(t, "no ", string(buf[:n]))
	<-link.Conn().Done()
	require.Equal(t, "no luck today\n", copyOf.String())
}

// A connection that was closed leaves no goroutine, nor a hold on Start's ctx.
func TestNothingIsLeft(t *testing.T) {
	address := accept(t, "unix", func(_ context.Context, c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	before := runtime.NumGoroutine()
	for range 5 {
		link := mcpgo.Dial("unix", address, mcpgo.Options{})
		require.NoError(t, link.Start(t.Context()))
		require.NoError(t, link.SendNotification(t.Context(), mcp.JSONRPCNotification{Notification: mcp.Notification{Method: "x"}}))
		require.NoError(t, link.Close())
		<-link.Conn().Done()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "%d goroutines are left", runtime.NumGoroutine()-before)
	}
}
