package gosdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// peer is the other end of a transport, played line by line.
type peer struct {
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

func pair(t *testing.T) (net.Conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, &peer{t, theirs, bufio.NewReader(theirs)}
}

func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	_, err := fmt.Fprintf(p.link, format+"\n", args...)
	require.NoError(p.t, err)
}

func (p *peer) read() (l line) {
	p.t.Helper()
	text, err := p.in.ReadString('\n')
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal([]byte(text), &l), text)
	return l
}

// served is a go-sdk server whose client is played, after the handshake of the
// older era.
func served(t *testing.T, b bench, o gosdk.Options) (*gosdk.Transport, *peer) {
	t.Helper()
	ours, p := pair(t)
	link := gosdk.Stream(ours, o)
	done := make(chan error, 1)
	go func() { done <- newServer(b).Run(context.Background(), link) }()
	t.Cleanup(func() {
		_ = p.link.Close()
		<-done
	})
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	require.Equal(t, `"hello"`, string(p.read().ID))
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return link, p
}

const double = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"double","arguments":{"n":4}}}`

// What ends go-sdk's own transports leaves a server behind this one as it was.
func TestLinesThatAreNoMessage(t *testing.T) {
	var strays []conn.StrayReason
	link, p := served(t, newBench(), gosdk.Options{MaxFrame: 1 << 10, OnStray: func(s conn.Stray) { strays = append(strays, s.Reason) }})
	p.say("starting up...")
	p.say(`{"jsonrpc":"1.0","method":"x"}`)
	p.say(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`)
	p.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	p.say(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`)
	p.say(`"%s"`, strings.Repeat("x", 2<<10))
	p.say("")
	p.say("\xef\xbb\xbf" + fmt.Sprintf(double, "7") + " \r")
	l := p.read()
	require.Equal(t, "7", string(l.ID))
	require.Contains(t, string(l.Result), `"8"`)
	require.Equal(t, []conn.StrayReason{
		conn.StrayUnreadable, conn.StrayUnreadable, conn.StrayNoID, conn.StrayNoID, conn.StrayBatch, conn.StrayTooLarge,
	}, strays)
	stats := link.Stats()
	require.EqualValues(t, 2, stats.Unreadable)
	require.EqualValues(t, 2, stats.NoID)
	require.EqualValues(t, 1, stats.Batches)
	require.EqualValues(t, 1, stats.TooLarge)
	require.EqualValues(t, 2, stats.Frames)
}

// A request that cannot be read is refused under its id.
func TestRequestsThatCannotBeRead(t *testing.T) {
	_, p := served(t, newBench(), gosdk.Options{MaxFrame: 1 << 10})
	for text, code := range map[string]int{
		`{"jsonrpc":"2.0","id":"r","method":"x","params":{]}`:                                         codec.CodeParse,
		`{"jsonrpc":"2.0","id":"r","method":"x","method":"y"}`:                                        codec.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":"r","method":"x","params":{"a":"` + strings.Repeat("x", 2<<10) + `"}}`: codec.CodeInvalidRequest,
	} {
		p.say("%s", text)
		l := p.read()
		require.Equal(t, `"r"`, string(l.ID))
		require.Contains(t, string(l.Error), fmt.Sprint(code))
	}
	p.say(double, "1.5") // no id at all: dropped
	p.say(double, "2")
	require.Equal(t, "2", string(p.read().ID))
}

// Ids come back as they were, whatever a float makes of them, and cancel what they
// name.
func TestIDs(t *testing.T) {
	b := newBench()
	_, p := served(t, b, gosdk.Options{})
	for _, id := range []string{
		"0", "-1", `""`, `"1"`, "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
		"9223372036854775807", "123456789012345678901234567890", `"\u0000id:7"`, `"grüße"`, `"a\"b"`,
	} {
		p.say(double, id)
		l := p.read()
		require.JSONEq(t, id, string(l.ID))
		if id[0] != '"' {
			require.Equal(t, id, string(l.ID))
		}
		require.Contains(t, string(l.Result), `"8"`)
	}
	// Both of these are the same float.
	for _, id := range []string{"9007199254740992", "9007199254740993", `"\u0000id:7"`} {
		p.say(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"linger","arguments":{"n":1}}}`, id)
		<-b.begun // one that is cancelled before is not even handled
	}
	for _, id := range []string{"9007199254740993", `"\u0000id:7"`, "9007199254740992"} {
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r","requestId":%s,"more":[1]}}`, id)
		<-b.cancelled
		require.JSONEq(t, id, string(p.read().ID)) // go-sdk answers what was cancelled
	}
	// What names nothing is nobody's.
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}`)
	p.say(double, "3")
	require.Equal(t, "3", string(p.read().ID))
}

// A subscription is known by the id of its request, also where go-sdk cannot hold
// that.
func TestSubscriptionUnderALargeID(t *testing.T) {
	ours, p := pair(t)
	done := make(chan error, 1)
	go func() { done <- newServer(newBench()).Run(context.Background(), gosdk.Stream(ours, gosdk.Options{})) }()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	p.say(`{"jsonrpc":"2.0","id":9007199254740993,"method":"subscriptions/listen","params":{%s,"notifications":{"toolsListChanged":true}}}`, meta)
	l := p.read()
	require.Equal(t, "notifications/subscriptions/acknowledged", l.Method)
	require.Contains(t, string(l.Params), `"io.modelcontextprotocol/subscriptionId":9007199254740993`)
	_ = p.link.Close()
	<-done
}

// raw connects a transport without go-sdk's own machinery above it.
func raw(t *testing.T, stream io.ReadWriteCloser, o gosdk.Options) mcp.Connection {
	t.Helper()
	c, err := gosdk.Stream(stream, o).Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// An answer that cannot be read fails the call that it names.
func TestAnswersThatCannotBeRead(t *testing.T) {
	ours, p := pair(t)
	c := raw(t, ours, gosdk.Options{MaxFrame: 1 << 10})
	go func() {
		p.say(`{"jsonrpc":"2.0","id":5,"result":{]}`)
		p.say(`{"jsonrpc":"2.0","id":6,"result":"%s"}`, strings.Repeat("x", 2<<10))
		p.say(`{"jsonrpc":"2.0","id":7,"error":"cursor_invalid"}`)
		p.say(`{"jsonrpc":"2.0","id":8,"result":null}`)
	}()
	for id, code := range []int64{5: codec.CodeParse, 6: codec.CodeInvalidRequest, 7: codec.CodeInternal} {
		if code == 0 {
			continue
		}
		m, err := c.Read(t.Context())
		require.NoError(t, err)
		r := m.(*jsonrpc.Response)
		require.EqualValues(t, id, r.ID.Raw())
		e, ok := errors.AsType[*jsonrpc.Error](r.Error)
		require.True(t, ok)
		require.Equal(t, code, e.Code)
	}
	m, err := c.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "null", string(m.(*jsonrpc.Response).Result))
}

func id(t *testing.T, v any) jsonrpc.ID {
	t.Helper()
	made, err := jsonrpc.MakeID(v)
	require.NoError(t, err)
	return made
}

// What is written is what go-sdk's own encoder writes.
func TestFramesAreThoseOfGoSDK(t *testing.T) {
	ours, p := pair(t)
	c := raw(t, ours, gosdk.Options{})
	failure := &jsonrpc.Error{Code: -5, Message: "no\n<", Data: json.RawMessage(`{"a":1}`)}
	for _, m := range []jsonrpc.Message{
		&jsonrpc.Request{ID: id(t, 1.0), Method: "m", Params: json.RawMessage(`{"a":"<&>"}`)},
		&jsonrpc.Request{ID: id(t, "one"), Method: "m/é"},
		&jsonrpc.Request{Method: "notifications/x", Params: json.RawMessage("{\n}")},
		&jsonrpc.Response{ID: id(t, 2.0), Result: json.RawMessage(`{"r":1}`)},
		&jsonrpc.Response{ID: id(t, "two"), Error: failure},
		&jsonrpc.Response{ID: id(t, 3.0), Error: fmt.Errorf("outer: %w", failure)},
		&jsonrpc.Response{ID: id(t, 4.0), Error: errors.New("plain")},
		&jsonrpc.Response{Error: failure},
	} {
		want, err := jsonrpc.EncodeMessage(m)
		require.NoError(t, err)
		written := make(chan error, 1)
		go func() { written <- c.Write(t.Context(), m) }()
		got, err := p.in.ReadString('\n')
		require.NoError(t, err)
		require.JSONEq(t, string(want), got)
		require.NoError(t, <-written)
	}
	require.ErrorContains(t, c.Write(t.Context(), nil), "cannot write")
}

// A peer that does not read holds up nobody beyond his ctx, and Close ends it all.
func TestPeerThatDoesNotRead(t *testing.T) {
	ours, p := pair(t)
	link := gosdk.Stream(ours, gosdk.Options{})
	c, err := link.Connect(t.Context())
	require.NoError(t, err)
	ctx, giveUp := context.WithCancel(t.Context())
	stuck, waiting := make(chan error, 1), make(chan error, 1)
	go func() { stuck <- c.Write(t.Context(), &jsonrpc.Request{Method: "a"}) }()
	_, err = p.link.Read(make([]byte, 1)) // the write has begun, and is not over
	require.NoError(t, err)
	go func() { waiting <- c.Write(ctx, &jsonrpc.Request{Method: "b"}) }()
	giveUp()
	require.ErrorIs(t, <-waiting, context.Canceled)
	require.ErrorIs(t, c.Write(ctx, &jsonrpc.Request{Method: "c"}), context.Canceled)

	// It asks and asks what must be refused: the refusals are bounded.
	reading := make(chan error, 1)
	go func() {
		_, err := c.Read(t.Context())
		reading <- err
	}()
	for range 2000 {
		p.say(`{"jsonrpc":"2.0","id":"%s","method":"x","params":{]}`, strings.Repeat("i", 100))
	}
	p.say("") // the reader has dealt with what came before
	require.NotZero(t, link.Stats().Dropped)
	require.NoError(t, c.Close())
	require.Error(t, <-stuck)
	require.ErrorIs(t, <-reading, io.EOF)
	require.ErrorIs(t, c.Write(t.Context(), &jsonrpc.Request{Method: "d"}), io.ErrClosedPipe)
	require.NoError(t, c.Close())
	_, err = c.Read(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, c.SessionID())
}

// What many write at once goes out together.
// What is given up leaves its frame behind, and a peer that reads nothing makes
// these no more than WriteBuffer.
func TestWriteBuffer(t *testing.T) {
	for _, limit := range []int{1000, 1} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			link, err := gosdk.Stream(ours, gosdk.Options{WriteBuffer: limit}).Connect(t.Context())
			require.NoError(t, err)
			message, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`))
			require.NoError(t, err)
			var wg sync.WaitGroup
			for range 500 {
				wg.Go(func() {
					ctx, stop := context.WithTimeout(t.Context(), time.Second)
					defer stop()
					require.ErrorIs(t, link.Write(ctx, message), context.DeadlineExceeded)
				})
			}
			wg.Wait()
			read := make(chan int, 1)
			go func() {
				text, _ := io.ReadAll(theirs)
				read <- len(text)
			}()
			synctest.Wait() // it has all that waited
			require.NoError(t, link.Write(t.Context(), message), "there is room again")
			require.NoError(t, link.Close())
			frame := len(`{"jsonrpc":"2.0","method":"notifications/x"}`) + 1
			require.LessOrEqual(t, <-read, 2*max(limit, frame)+frame)
		})
	}
}

// Close ends those that wait for room.
func TestCloseEndsWhoWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		link, err := gosdk.Stream(ours, gosdk.Options{WriteBuffer: 1}).Connect(t.Context())
		require.NoError(t, err)
		message, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`))
		require.NoError(t, err)
		failed := make(chan error, 9)
		for range cap(failed) {
			go func() { failed <- link.Write(context.Background(), message) }()
		}
		synctest.Wait()
		require.Empty(t, failed)
		require.NoError(t, link.Close())
		for range cap(failed) {
			require.ErrorIs(t, <-failed, io.ErrClosedPipe)
		}
	})
}

func TestWritesAreShared(t *testing.T) {
	ours, p := pair(t)
	link := gosdk.Stream(ours, gosdk.Options{})
	c, err := link.Connect(t.Context())
	require.NoError(t, err)
	defer c.Close()
	const many = 100
	done := make(chan error, many)
	for range many {
		go func() { done <- c.Write(t.Context(), &jsonrpc.Request{Method: "m"}) }()
	}
	for range many {
		require.Equal(t, "m", p.read().Method)
	}
	for range many {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, many, link.Stats().Frames)
	require.LessOrEqual(t, link.Stats().Writes, uint64(many))
}

// A child that dies says so in the calls that it leaves, and where none is left in
// what comes after.
func TestChildThatDies(t *testing.T) {
	s := connect(t, gosdk.Command(child(t, "serve"), gosdk.Options{}), "", nil)
	_, err := tool(t.Context(), s, "die", 0, nil)
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 7, gone.ExitCode)
	require.Contains(t, string(gone.StderrTail), "no luck today")
	require.NoError(t, s.Close())

	_, err = mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).
		Connect(t.Context(), gosdk.Command(child(t, "broken"), gosdk.Options{}), nil)
	require.ErrorContains(t, err, "exited with code 7")
	require.ErrorContains(t, err, "no luck today")
}

func TestConnect(t *testing.T) {
	missing := gosdk.Command(conn.Command{Path: filepath.Join(t.TempDir(), "nothing")}, gosdk.Options{})
	require.Zero(t, missing.Stats())
	_, err := missing.Connect(t.Context())
	_, ok := errors.AsType[*conn.SpawnError](err)
	require.True(t, ok)
	_, err = missing.Connect(t.Context())
	require.ErrorIs(t, err, gosdk.ErrConnected)
	_, err = gosdk.Dial("udp", "127.0.0.1:1", gosdk.Options{}).Connect(t.Context())
	require.ErrorIs(t, err, net.UnknownNetworkError("udp"))
	_, err = gosdk.Dial("unix", filepath.Join(t.TempDir(), "s"), gosdk.Options{}).Connect(t.Context())
	require.Error(t, err)
}

// A session that was closed leaves no goroutine.
func TestNothingIsLeft(t *testing.T) {
	address := serve(t, "unix")
	before := runtime.NumGoroutine()
	for range 5 {
		s := connect(t, gosdk.Dial("unix", address, gosdk.Options{}), "2025-11-25", nil)
		_, err := tool(t.Context(), s, "double", 1, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "%d goroutines are left", runtime.NumGoroutine()-before)
	}
}
