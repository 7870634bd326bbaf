package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
)

// doomed starts a process that owns the server, and gives what kills it.
func doomed(t *testing.T, url string, lease time.Duration) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), nodeURL+"="+url, nodeLease+"="+lease.String())
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "owner\n", line)
	return c
}

// A process that is killed fails the calls at its server at once, since NATS knows that
// it has gone: the lease, which is far from over, has no part in it. How fast that is,
// and how fast where a host is lost, are claims of internal/check.
func TestKilledNodeFailsItsCalls(t *testing.T) {
	s := natsServer(t, embedded.Options{Port: -1})
	const long = 10 * patience
	owner := doomed(t, s.URL(), long)
	a := join(t, "a", cluster.Options{URL: s.URL(), Lease: long}, gateway.Upstream{OpenTimeout: 2 * time.Second})
	const calls = 1000
	base := residue.Measure()
	c := a.client("c")
	for i := range calls {
		require.NoError(t, c.Say(tool(i, "x")))
	}
	require.Eventually(t, func() bool { return a.gateway.Stats().Pending >= calls }, patience, tick)
	require.Eventually(t, func() bool { return a.gateway.Stats().Opened == 1 }, patience, tick)
	require.NoError(t, owner.Process.Kill())
	ended := map[string]int{}
	for range calls {
		answer := next(t, c)
		require.Contains(t, answer, `"code":-32003`)
		require.Contains(t, answer, `node \"doomed\": its process has ended`)
		id, _, _ := strings.Cut(strings.TrimPrefix(answer, `{"jsonrpc":"2.0","id":`), ",")
		ended[id]++
	}
	require.Len(t, ended, calls, "each once")
	stats := residue.Calls(t, a.gateway)
	require.EqualValues(t, calls, stats.Lost)
	require.Empty(t, stats.Dropped)
	require.Empty(t, c.Unread())
	c.Forget()
	// It looks for the server's next owner, which is some goroutines, until the lease ends.
	require.NoError(t, a.gateway.Close())
	base.Returns(t, 2<<20)
}

// When the lease of a killed node is over, another one takes the server over, and the
// calls that came meanwhile are served.
func TestKilledNodeIsReplaced(t *testing.T) {
	s := natsServer(t, embedded.Options{Port: -1})
	owner := doomed(t, s.URL(), lease)
	a := join(t, "a", cluster.Options{URL: s.URL()}, gateway.Upstream{})
	c := a.client("c")
	require.NoError(t, c.Say(tool(1, "lost")))
	require.Eventually(t, func() bool { return a.gateway.Stats().Opened == 1 }, patience, tick)
	require.NoError(t, owner.Process.Kill())
	require.Contains(t, next(t, c), `"code":-32003`)
	require.NoError(t, c.Say(tool(2, "waits")))
	id, _ := nextRequest(t, a.server.Way(0))
	a.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, next(t, c))
}

// cable is a proxy in front of NATS that can be cut without anybody being told.
type cable struct {
	net.Listener
	cut chan struct{}
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{l, make(chan struct{})}
	var work sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { c.carry(ctx, in, to) })
		}
	})
	t.Cleanup(func() { stop(); _ = l.Close(); work.Wait() })
	return c
}

func (c *cable) carry(ctx context.Context, in net.Conn, to string) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	over := make(chan struct{}, 2)
	pass := func(dst, src net.Conn) {
		defer func() { over <- struct{}{} }()
		buffer := make([]byte, 32<<10)
		for {
			n, err := src.Read(buffer)
			if err != nil {
				return
			}
			select {
			case <-c.cut:
				<-ctx.Done() // it is swallowed, and nobody hears of it
				return
			default:
			}
			if _, err := dst.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go pass(out, in)
	go pass(in, out)
	select {
	case <-over:
	case <-ctx.Done():
	}
	_, _ = in.Close(), out.Close()
	<-over
}

// A host that is cut off fails the calls at its server before its lease is over, and
// has ended the server itself before another node starts one: there are never two.
func TestLostHostIsReplacedByOne(t *testing.T) {
	s := natsServer(t, embedded.Options{Port: -1})
	cut := newCable(t, strings.TrimPrefix(s.URL(), "nats://"))
	b := join(t, "b", cluster.Options{URL: "nats://" + cut.Addr().String()}, gateway.Upstream{})
	near := b.client("near")
	require.NoError(t, near.Say(tool(1, "near")))
	way := b.server.Way(0)
	_, _ = nextRequest(t, way)
	a := join(t, "a", cluster.Options{URL: s.URL()}, gateway.Upstream{})
	a.server.Fail = func(int) error {
		if !way.Ended() {
			return errors.New("there are two")
		}
		return nil
	}
	far := a.client("far")
	require.NoError(t, far.Say(tool(1, "far")))
	_, _ = nextRequest(t, way)
	close(cut.cut)
	lost := next(t, far)
	require.Contains(t, lost, `node \"b\": nothing was heard of it for`)
	require.NoError(t, far.Say(tool(2, "again")))
	ended := next(t, near)
	require.Contains(t, ended, "the lease was lost")
	id, _ := nextRequest(t, a.server.Way(0))
	a.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, next(t, far))
}

// NATS restarts with 200 calls in flight from both nodes: those of the server's own
// node never notice, and every call ends. What was lost fails, what was not lives on.
func TestNATSRestarts(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	start := func() *embedded.Server {
		s, err := embedded.Start(embedded.Options{Dir: dir, Port: port})
		require.NoError(t, err)
		return s
	}
	s := start()
	o := cluster.Options{URL: s.URL(), Lease: 20 * time.Second}
	a, b := join(t, "a", o, gateway.Upstream{}), join(t, "b", o, gateway.Upstream{})
	near, far := a.client("near"), b.client("far")
	for _, c := range []*fake.Client{near, far} { // what stays once and for all
		require.NoError(t, c.Say(tool(1, "first")))
		id, _ := nextRequest(t, a.server.Way(0))
		answer(a.server.Way(0), id, "first")
		require.Contains(t, next(t, c), "first")
	}
	base := residue.Measure()
	const calls = 200
	var ids []string
	way := (*fakeWay)(nil)
	for i := range calls {
		require.NoError(t, near.Say(tool(i, "near")))
		if way == nil {
			way = a.server.Way(0)
		}
		id, _ := nextRequest(t, way)
		ids = append(ids, id)
		require.NoError(t, far.Say(tool(i, "far")))
		id, _ = nextRequest(t, way)
		ids = append(ids, id)
	}
	require.NoError(t, s.Close())
	for i := 0; i < len(ids); i += 4 { // a pair of four is answered meanwhile
		answer(way, ids[i], "near")
		answer(way, ids[i+1], "far")
	}
	s = start()
	defer func() { require.NoError(t, s.Close()) }()
	for i := 2; i < len(ids); i += 4 {
		answer(way, ids[i], "near")
		answer(way, ids[i+1], "far")
	}
	answered := requireEnds(t, calls, near, far)
	require.Zero(t, a.gateway.Stats().InFlight+b.gateway.Stats().InFlight)
	require.Equal(t, 1, a.server.Opened()+b.server.Opened(), "the lease outlived it")

	require.NoError(t, far.Say(tool(1000, "far")))
	id, _ := nextRequest(t, way)
	answer(way, id, "far")
	require.Contains(t, next(t, far), `"id":1000,"result"`)
	stats := residue.Calls(t, a.gateway)
	require.EqualValues(t, calls+1, stats.Answered)
	stats = residue.Calls(t, b.gateway)
	require.EqualValues(t, answered+2, stats.Answered)
	require.EqualValues(t, calls-answered, stats.Lost)
	way.Forget()
	near.Forget()
	far.Forget()
	base.Returns(t, 4<<20) // and the server has just been started
}

// The server goes: all nodes hear why, as if it were their own.
func TestServersEndReachesEveryNode(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	near, far := a.client("near"), b.client("far")
	require.NoError(t, near.Say(tool(1, "near")))
	way := a.server.Way(0)
	_, _ = nextRequest(t, way)
	require.NoError(t, far.Say(tool(1, "far")))
	_, _ = nextRequest(t, way)
	way.Die(errors.New("exit status 3: out of paper"))
	require.Contains(t, next(t, near), "out of paper")
	require.Contains(t, next(t, far), "out of paper")
}

// L01: a way that is closed while an answer comes in ends once, and nothing follows.
func TestL01CloseRacesDelivery(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	first := newRecorder()
	_, err := a.opener().Open(t.Context(), first, link.Key{})
	require.NoError(t, err)
	way := a.server.Way(0)
	for round := range 300 {
		opener := b.opener()
		if round%2 == 0 {
			opener = a.opener()
		}
		r := newRecorder()
		up, err := opener.Open(t.Context(), r, link.Key{})
		require.NoError(t, err)
		require.NoError(t, up.Send(frame(tool(round+1, "x")), nil))
		id, _ := nextRequest(t, way)
		var both sync.WaitGroup
		both.Go(func() { answer(way, id, "x") })
		both.Go(func() { up.End(errors.New("enough")) })
		both.Wait()
		within(t, func() any { <-r.ended; return nil })
		require.Equal(t, "gone 1, late 0", r.sum())
	}
	require.Equal(t, 1, a.server.Opened())
	select {
	case <-first.ended:
		require.Fail(t, "another's end was its end")
	default:
	}
}

// L03: who is told something asks back on the same way before it returns; the answer
// does not queue behind it.
func TestL03AskingBackWhileTold(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	keep := newRecorder()
	_, err := a.opener().Open(t.Context(), keep, link.Key{})
	require.NoError(t, err)
	for i, n := range []*node{a, b} {
		r := newRecorder()
		frames := make(chan string, 10)
		var up link.Upstream
		ready := make(chan struct{})
		r.heard = func(text string) {
			<-ready
			if strings.Contains(text, "list_changed") {
				_ = up.Send(frame(tool(100+i, "asked back")), nil)
			}
			frames <- text
		}
		up, err = n.opener().Open(t.Context(), r, link.Key{})
		close(ready)
		require.NoError(t, err)
		way := a.server.Way(0)
		way.Say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		id, _ := nextRequest(t, way)
		answer(way, id, "back")
		require.Contains(t, within(t, func() string { return <-frames }), "list_changed")
		require.Contains(t, within(t, func() string { return <-frames }), `"mark":"back"`)
		up.End(io.EOF)
	}
}

// G16: one node's client connects again while its old connection is open. Another
// node's call goes on, and so does the server.
func TestG16ReconnectLeavesTheServerAlone(t *testing.T) {
	s := natsServer(t, embedded.Options{})
	a, b := join(t, "a", cluster.Options{Server: s}, gateway.Upstream{}), join(t, "b", cluster.Options{Server: s}, gateway.Upstream{})
	other := b.client("B")
	require.NoError(t, other.Say(tool(1, "B")))
	way := b.server.Way(0)
	pending, _ := nextRequest(t, way)
	old := a.client("A")
	require.NoError(t, old.Say(tool(1, "A")))
	_, _ = nextRequest(t, way)
	again := a.client("A")
	require.NoError(t, again.Say(tool(1, "A again")))
	id, _ := nextRequest(t, way)
	old.End(io.EOF)
	answer(way, id, "A again")
	require.Contains(t, next(t, again), "A again")
	a.leave() // and even its whole node goes
	answer(way, pending, "B")
	require.Contains(t, next(t, other), `"mark":"B"`)
	require.False(t, way.Ended())
	require.Equal(t, 1, b.server.Opened()+a.server.Opened())
}
