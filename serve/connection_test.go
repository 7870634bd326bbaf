package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// memory is a Sink that keeps what it gets. A write to an exchange in broken fails.
type memory struct {
	mu     sync.Mutex
	frames map[mcp.ExchangeID][]string
	closed map[mcp.ExchangeID]int
	broken map[mcp.ExchangeID]bool
	block  chan struct{} // when not nil, writes wait for it
}

var errBroken = errors.New("broken")

func newMemory() *memory {
	return &memory{frames: map[mcp.ExchangeID][]string{}, closed: map[mcp.ExchangeID]int{}, broken: map[mcp.ExchangeID]bool{}}
}

func (m *memory) Write(x mcp.ExchangeID, frame []byte) error {
	m.mu.Lock()
	block := m.block
	m.mu.Unlock()
	if block != nil {
		<-block
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken[x] {
		return errBroken
	}
	m.frames[x] = append(m.frames[x], string(frame))
	return nil
}

func (m *memory) Close(x mcp.ExchangeID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed[x]++
}

// hold lets writes wait until the channel that it returns gives or is closed.
func (m *memory) hold() chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.block = make(chan struct{})
	return m.block
}

func (m *memory) of(x mcp.ExchangeID) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.frames[x]...)
}

func (m *memory) closes(x mcp.ExchangeID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed[x]
}

// rig is a connection whose frames a test brings and takes.
type rig struct {
	t    *testing.T
	s    *serve.Server
	f    *tools
	conn *serve.Connection
	out  *memory
}

func newRig(t *testing.T, o serve.Options) *rig {
	t.Helper()
	r := &rig{t: t, f: newTools(), out: newMemory()}
	r.s = newServer(t, r.f, o)
	var err error
	r.conn, err = r.s.Connect(context.Background(), mcp.Caller{}, r.out)
	require.NoError(t, err)
	return r
}

func (r *rig) send(frame string) mcp.ExchangeID {
	r.t.Helper()
	x := mcp.NewExchangeID()
	require.NoError(r.t, r.conn.Send(x, []byte(frame), ""))
	return x
}

// only is the one frame of an exchange that is over.
func (r *rig) only(x mcp.ExchangeID) string {
	r.t.Helper()
	synctest.Wait()
	require.Len(r.t, r.out.of(x), 1)
	require.Equal(r.t, 1, r.out.closes(x))
	return r.out.of(x)[0]
}

func TestSinkEqualIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 20 {
			r := newRig(t, serve.Options{})
			a, b := r.send(call("1", "stuck", `{}`)), r.send(call("1", "stuck", `{}`))
			<-r.f.entered
			<-r.f.entered
			close(r.f.release)
			require.Equal(t, "released", parse(t, r.only(a)).text(t))
			require.Equal(t, "released", parse(t, r.only(b)).text(t))
			r.conn.Close()
		}
	})
}

// A write that fails closes its own exchange and no other.
func TestSinkErrorIsOneExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		x := mcp.NewExchangeID()
		r.out.broken[x] = true
		require.NoError(t, r.conn.Send(x, []byte(call("1", "progress", `{"n":1}`, `"progressToken":"p"`)), ""))
		other := r.send(call("2", "stuck", `{}`))
		<-r.f.entered
		synctest.Wait()
		require.Equal(t, 1, r.out.closes(x))
		require.Equal(t, 1, r.conn.Live())
		close(r.f.release)
		require.Equal(t, "released", parse(t, r.only(other)).text(t))
	})
}

// A refusal writes nothing, and says which limit it was.
func TestSendRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan serve.Event, 64)
		r := newRig(t, serve.Options{MaxFrame: 2000, MaxLive: 2, MaxHandlers: 8, Observer: func(e serve.Event) { events <- e }})
		refused := func(frame string, want error, problem string) {
			t.Helper()
			for len(events) > 0 {
				<-events
			}
			x := mcp.NewExchangeID()
			err := r.conn.Send(x, []byte(frame), "")
			require.ErrorIs(t, err, want)
			limit, ok := errors.AsType[*serve.LimitError](err)
			require.True(t, ok)
			require.NotZero(t, limit.Limit)
			synctest.Wait()
			require.Empty(t, r.out.of(x))
			require.Zero(t, r.out.closes(x))
			e := <-events
			require.Equal(t, serve.FrameRejected, e.Kind)
			require.Equal(t, problem, e.Problem)
			require.Equal(t, x, e.Exchange)
		}
		refused(call("1", "echo", `{"text":"`+strings.Repeat("x", 2000)+`"}`), serve.ErrFrameTooLarge, serve.ProblemTooLarge)
		refused(strings.Repeat("[", 65)+strings.Repeat("]", 65), serve.ErrFrameTooDeep, serve.ProblemTooDeep)
		r.send(call("1", "stuck", `{}`))
		r.send(call("2", "stuck", `{}`))
		refused(call("3", "echo", `{}`), serve.ErrTooManyLive, serve.ProblemTooMany)
		// A notification is no request: it always gets through.
		r.send(cancelled("1"))
		x := r.send(call("3", "echo", `{"text":"room"}`))
		require.Equal(t, "room", parse(t, r.only(x)).text(t))
		close(r.f.release)
		r.conn.Close()
		require.ErrorIs(t, r.conn.Send(mcp.NewExchangeID(), []byte(call("4", "echo", `{}`)), ""), serve.ErrStopped)
		_, err := r.s.Connect(context.Background(), mcp.Caller{}, r.out)
		require.NoError(t, err)
		r.s.Close()
		_, err = r.s.Connect(context.Background(), mcp.Caller{}, r.out)
		require.ErrorIs(t, err, serve.ErrStopped)
	})
}

// A frame that comes twice on an exchange takes no place.
func TestExchangeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{MaxLive: 2})
		defer r.conn.Close()
		x := r.send(call("1", "stuck", `{}`))
		require.NoError(t, r.conn.Send(x, []byte(call("2", "echo", `{}`)), ""))
		require.Equal(t, 1, r.conn.Live())
		close(r.f.release)
		require.Equal(t, "1", string(parse(t, r.only(x)).ID))
		require.NoError(t, r.conn.Send(x, []byte(call("3", "echo", `{}`)), ""))
		synctest.Wait()
		require.Len(t, r.out.of(x), 1)
		require.Zero(t, r.conn.Live())
	})
}

// Closing cancels everything and writes nothing more; it can be done again.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		a := r.send(call("1", "wait", `{}`))
		b := r.send(request("2", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		<-r.f.entered
		synctest.Wait()
		var all sync.WaitGroup
		for range 8 {
			all.Go(r.conn.Close)
		}
		all.Wait()
		require.ErrorIs(t, <-r.f.left, context.Canceled)
		require.NoError(t, r.conn.Stop(context.Background()))
		synctest.Wait()
		require.Empty(t, r.out.of(a))
		require.Len(t, r.out.of(b), 1, "the acknowledgement, and no end")
		require.Zero(t, r.conn.Live())
	})
}

// Stop waits for handlers that were cancelled, for their grace and five seconds.
func TestStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{Grace: 2 * time.Second})
		r.send(call("1", "stuck", `{}`))
		<-r.f.entered
		began := time.Now()
		require.ErrorIs(t, r.conn.Stop(context.Background()), context.DeadlineExceeded)
		require.Equal(t, 7*time.Second, time.Since(began))
		close(r.f.release)
		require.NoError(t, r.conn.Stop(context.Background()))
	})
}

// A handler that does not heed its context keeps its place for its grace, and then
// gives it up, as long as not too many did.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{MaxHandlers: 1, MaxAbandoned: 1, Grace: 3 * time.Second})
		defer r.conn.Close()
		began := time.Now()
		r.send(call("1", "stuck", `{}`))
		<-r.f.entered
		x := r.send(call("2", "echo", `{"text":"waits"}`))
		r.send(cancelled("1"))
		synctest.Wait()
		require.Empty(t, r.out.of(x))
		pass(3 * time.Second)
		require.Equal(t, "waits", parse(t, r.only(x)).text(t))
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, 1, r.s.Stats().Abandoned)
		// The next one that does not end keeps its place.
		r.send(call("3", "stuck", `{}`))
		<-r.f.entered
		r.send(cancelled("3"))
		x = r.send(call("4", "echo", `{"text":"never"}`))
		pass(time.Minute)
		synctest.Wait()
		require.Equal(t, -32603, parse(t, r.only(x)).Error.Code, "its time was up")
		close(r.f.release)
		synctest.Wait()
		require.Zero(t, r.s.Stats().Abandoned)
		x = r.send(call("5", "echo", `{"text":"free"}`))
		require.Equal(t, "free", parse(t, r.only(x)).text(t))
	})
}

func TestNoGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{MaxHandlers: 1, Grace: -1})
		defer r.conn.Close()
		r.send(call("1", "stuck", `{}`))
		<-r.f.entered
		r.send(cancelled("1"))
		x := r.send(call("2", "echo", `{"text":"at once"}`))
		require.Equal(t, "at once", parse(t, r.only(x)).text(t))
		close(r.f.release)
	})
}

// X05: a cancel races the handler's end: one answer, or none, and the connection
// goes on.
func TestX05CancelRacesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{})
		defer r.conn.Close()
		for i := range 500 {
			id := fmt.Sprint(i)
			x := mcp.NewExchangeID()
			var all sync.WaitGroup
			all.Go(func() { _ = r.conn.Send(x, []byte(call(id, "echo", `{"text":"a"}`)), "") })
			for range 2 {
				all.Go(func() { _ = r.conn.Send(mcp.NewExchangeID(), []byte(cancelled(id)), "") })
			}
			all.Wait()
			synctest.Wait()
			require.LessOrEqual(t, len(r.out.of(x)), 1)
			require.Equal(t, 1, r.out.closes(x))
		}
		require.Zero(t, r.conn.Live())
	})
}

func TestOptions(t *testing.T) {
	d, err := mcp.NewServer(newTools().description())
	require.NoError(t, err)
	for field, o := range map[string]serve.Options{
		"MaxLive": {MaxLive: -1}, "MaxFrame": {MaxFrame: -1}, "MaxDepth": {MaxDepth: -1}, "MaxHandlers": {MaxHandlers: -1},
		"MaxAbandoned": {MaxAbandoned: -1}, "MaxTombstones": {MaxTombstones: -1}, "TombstoneAge": {TombstoneAge: -1},
		"MaxEvents": {MaxEvents: -1}, "WriteBuffer": {WriteBuffer: -1}, "MaxConnections": {MaxConnections: -1},
	} {
		_, err := serve.New(d, o)
		bad, ok := errors.AsType[*serve.OptionError](err)
		require.True(t, ok, field)
		require.Equal(t, field, bad.Field)
		require.Contains(t, err.Error(), field)
	}
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	_, err = s.HTTP(serve.HTTPOptions{Retry: -1})
	require.Error(t, err)
}

// Handlers are queued in order and each answer comes once, whatever the load.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, serve.Options{MaxHandlers: 3})
		defer r.conn.Close()
		ids := map[mcp.ExchangeID]string{}
		for i := range 500 {
			id := fmt.Sprint(i)
			ids[r.send(call(id, "echo", `{"text":"`+id+`"}`))] = id
		}
		synctest.Wait()
		for x, id := range ids {
			require.Equal(t, id, parse(t, r.only(x)).text(t))
		}
		require.LessOrEqual(t, r.s.Stats().Handlers, 3)
	})
}
