package conn_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/invariants"
)

// relayTo is a relay that passes what it gets to functions.
type relayTo struct {
	receive  func(m *codec.Message)
	refused  func(m *codec.Message, err error)
	flush    func()
	ending   func() <-chan struct{}
	dispatch func(call int64) bool
}

func (r *relayTo) Receive(m *codec.Message) {
	if r.receive != nil {
		r.receive(m)
	}
}

func (r *relayTo) Refused(m *codec.Message, err error) {
	if r.refused != nil {
		r.refused(m, err)
	}
}

func (r *relayTo) Flush() {
	if r.flush != nil {
		r.flush()
	}
}

func (r *relayTo) Ending() <-chan struct{} {
	if r.ending != nil {
		return r.ending()
	}
	return nil
}

func (r *relayTo) Dispatch(call int64) bool { return r.dispatch == nil || r.dispatch(call) }

func relayPair(t *testing.T, r conn.Relay, o conn.Options) (*conn.Conn, net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	o.Relay = r
	c, err := conn.New(ours, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = c.Close()
		<-c.Done()
	})
	return c, theirs
}

// What comes in and goes out is byte for byte the same, but for the edits.
func TestRelayPassesBytes(t *testing.T) {
	const odd = ` { "id" : 7 ,"method":"a\/b", "jsonrpc":"2.0","x":1e400,"params":{"n":12345678901234567890.10} }`
	got := make(chan string, 1)
	c, peer := relayPair(t, &relayTo{receive: func(m *codec.Message) { got <- string(m.Frame()) }}, conn.Options{})
	go func() { _, _ = io.WriteString(peer, odd+"\n") }()
	in := <-got
	require.Equal(t, odd, in)

	m, err := codec.Parse([]byte(in), codec.ScanOptions{})
	require.NoError(t, err)
	require.NoError(t, c.SendFrame(&conn.RelayFrame{Bytes: []byte(in), Edits: []codec.Edit{{Span: m.Envelope.RawID, Text: []byte(`"x"`)}}}))
	buf := make([]byte, 256)
	n, err := peer.Read(buf)
	require.NoError(t, err)
	require.Equal(t, ` { "id" : "x" ,"method":"a\/b", "jsonrpc":"2.0","x":1e400,"params":{"n":12345678901234567890.10} }`+"\n", string(buf[:n]))
}

func TestRelayHearsWhatIsNoMessage(t *testing.T) {
	type refusal struct {
		id  string
		err error
	}
	got := make(chan refusal, 3)
	_, peer := relayPair(t, &relayTo{refused: func(m *codec.Message, err error) { got <- refusal{string(m.RawID()), err} }}, conn.Options{MaxFrame: 64})
	go func() {
		_, _ = io.WriteString(peer, `{"jsonrpc":"2.0","id":3,"method":"m","method":"m"}`+"\n[]\n"+`{"jsonrpc":"2.0","id":4,"method":"`+string(make([]byte, 200))+"\n")
	}()
	r := <-got
	require.Equal(t, "3", r.id)
	require.ErrorIs(t, r.err, codec.ErrDuplicateMember)
	require.ErrorIs(t, (<-got).err, codec.ErrBatch)
	require.ErrorIs(t, (<-got).err, codec.ErrFrameTooLarge)
}

// A frame that is not wanted any more when its turn comes is left out.
func TestRelayDispatch(t *testing.T) {
	var asked atomic.Int64
	c, peer := relayPair(t, &relayTo{dispatch: func(call int64) bool { asked.Add(1); return call != 2 }}, conn.Options{})
	for call := int64(1); call <= 3; call++ {
		frame := codec.AppendRequest(nil, codec.IntID(call), "m", nil)
		require.NoError(t, c.SendFrame(&conn.RelayFrame{Bytes: frame, Call: call, Held: true}))
	}
	c.SendCancel(1, true)
	c.Nudge()
	r := codec.NewReader(peer, codec.ReaderOptions{})
	var m codec.Message
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, codec.IntID(1), m.ID())
	// The cancel follows the request that it is of, and may be before others.
	rest := map[string]int{}
	for range 2 {
		require.NoError(t, r.ReadMessage(&m))
		rest[string(m.RawID())+"/"+string(m.RequestID())]++
	}
	require.Equal(t, map[string]int{"3/": 1, "/1": 1}, rest)
	require.EqualValues(t, 3, asked.Load())
}

// A full buffer refuses the frame and keeps nothing of it.
func TestRelayFull(t *testing.T) {
	c, _ := relayPair(t, &relayTo{}, conn.Options{WriteBuffer: 1000})
	frame := codec.AppendNotification(nil, "n", []byte(`"x"`))
	var err error
	for err == nil {
		err = c.SendFrame(&conn.RelayFrame{Bytes: frame})
	}
	require.ErrorIs(t, err, conn.ErrFull)
	require.LessOrEqual(t, c.Queued(), int64(1000))
	require.NoError(t, c.Close())
	<-c.Done()
	require.ErrorIs(t, c.SendFrame(&conn.RelayFrame{Bytes: frame}), conn.ErrClosed)
}

// A peer that has said all it wants still gets the answers that are on their way.
func TestRelayEnding(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", t.TempDir()+"/s")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	peer, err := net.Dial("unix", listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = peer.Close() }()
	ours, err := listener.Accept()
	require.NoError(t, err)
	idle, ending := make(chan struct{}), make(chan struct{})
	c, err := conn.New(ours, conn.Options{CloseTimeout: 1 << 40, Relay: &relayTo{ending: func() <-chan struct{} { close(ending); return idle }}})
	require.NoError(t, err)
	require.NoError(t, peer.(*net.UnixConn).CloseWrite())
	<-ending
	require.NoError(t, c.SendFrame(&conn.RelayFrame{Bytes: []byte(`{"jsonrpc":"2.0","id":1,"result":1}`)}))
	close(idle)
	all, err := io.ReadAll(peer)
	require.NoError(t, err)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":1}`+"\n", string(all))
	<-c.Done()
}

// A peer that has closed its side and does not read either is waited for no longer.
func TestRelayEndsWithThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		ending := make(chan struct{})
		c, err := conn.New(ours, conn.Options{CloseTimeout: 1 << 40, Relay: &relayTo{ending: func() <-chan struct{} {
			close(ending)
			return make(chan struct{})
		}}})
		require.NoError(t, err)
		require.NoError(t, theirs.Close())
		<-ending
		synctest.Wait()
		select {
		case <-c.Done():
			t.Fatal("it may still read")
		default:
		}
		began := time.Now()
		_ = c.SendFrame(&conn.RelayFrame{Bytes: []byte(`{"jsonrpc":"2.0","method":"n"}`)})
		<-c.Done()
		require.Zero(t, time.Since(began))
	})
}

func TestRelayAllocates(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("counts differ under the race detector and with invariants")
	}
	c, peer := relayPair(t, &relayTo{}, conn.Options{})
	go func() { _, _ = io.Copy(io.Discard, peer) }()
	frame := codec.AppendRequest(nil, codec.IntID(1), "m", nil)
	m, err := codec.Parse(frame, codec.ScanOptions{})
	require.NoError(t, err)
	f := &conn.RelayFrame{Bytes: frame, Edits: []codec.Edit{{Span: m.Envelope.RawID, Text: []byte("12345")}}, Call: 1}
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		for c.SendFrame(f) != nil {
			_ = c.Flush(context.Background())
		}
	}), 0.1)
}
