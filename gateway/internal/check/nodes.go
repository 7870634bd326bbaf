package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/cluster"
	"github.com/correlator-go/correlator/gateway/cluster/embedded"
	"github.com/correlator-go/correlator/gateway/upstream"
)

const (
	// nodeCalls are in flight at the other node's server when that node goes.
	nodeCalls = 1_000
	// longLease is one that has no part in how fast a killed process is noticed.
	longLease = time.Minute
	// lostLease is that of the host that is lost.
	lostLease = cluster.DefaultLease
	// killedWithin is what is demanded of the calls of a process that was killed.
	killedWithin = 2 * time.Second
)

// errWrong: a call at a node that has gone did not fail as it should.
var errWrong = errors.New("check: a call did not fail for the loss of its server")

// joins is a node of a cluster, whose server is the one at a socket: role node.
func joins(args []string) error {
	lease, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	n, err := cluster.Join(context.Background(), cluster.Options{URL: args[2], Prefix: args[3], Node: args[3], Lease: lease})
	if err != nil {
		return err
	}
	return passesTo(args[0], n.Opener("silent", upstream.Dial("unix", args[1], conn.Options{}), cluster.WayOptions{}))
}

// nodes measures when the calls of a node's clients end whose server was on another node,
// which is killed or can be reached no more.
func (b *bed) nodes() ([]row, error) {
	server, err := embedded.Start(embedded.Options{Port: -1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	killed, err := b.loseNode("killed", server.URL(), server.URL(), longLease, func(owner *child) error {
		return owner.cmd.Process.Kill()
	})
	if err != nil {
		return nil, fmt.Errorf("a process that is killed: %w", err)
	}
	rows := []row{{claim.Claim{
		Name: fmt.Sprintf("a node's process is killed: the last of %d calls at its server fails", nodeCalls), Bound: claim.AtMost, Demand: float64(killedWithin), Unit: "ns",
	}, float64(killed)}}
	line, err := newCable(strings.TrimPrefix(server.URL(), "nats://"))
	if err != nil {
		return rows, err
	}
	defer line.end()
	lost, err := b.loseNode("lost", server.URL(), "nats://"+line.listener.Addr().String(), lostLease, func(*child) error {
		line.cut.Store(true)
		return nil
	})
	if err != nil {
		return rows, fmt.Errorf("a host that is lost: %w", err)
	}
	return append(rows, row{claim.Claim{
		Name: fmt.Sprintf("a node's host is lost, its lease is %v: the last of %d calls fails", lostLease, nodeCalls), Bound: claim.AtMost, Demand: float64(lostLease), Unit: "ns",
	}, float64(lost)}), nil
}

// loseNode starts two nodes, has one of them own the server and clients of the other one
// call it, and gives how long after lose, which takes the owner away, the last call failed.
func (b *bed) loseNode(name, url, ownersURL string, lease time.Duration, lose func(owner *child) error) (time.Duration, error) {
	owner, err := beginRole("node", b.socket(name+"1"), b.socket("silent"), ownersURL, name, lease.String())
	if err != nil {
		return 0, err
	}
	defer owner.kill()
	ctx, stop := context.WithTimeout(context.Background(), callTimeout)
	defer stop()
	near, err := join(b.socket(name+"1"), 1)
	defer near.leave()
	if err != nil {
		return 0, err
	}
	if _, err := near.conns[0].Call(ctx, answered, nil, conn.CallOptions{}); err != nil {
		return 0, err // now it owns the server
	}
	other, err := beginRole("node", b.socket(name+"2"), b.socket("silent"), url, name, lease.String())
	if err != nil {
		return 0, err
	}
	defer other.kill()
	far, err := join(b.socket(name+"2"), b.clients)
	defer far.leave()
	if err != nil {
		return 0, err
	}
	var calls sync.WaitGroup
	for i := range nodeCalls {
		calls.Add(1)
		_, err := far.conns[i%len(far.conns)].Start(ctx, "tools/call", params, conn.CallOptions{}, func(o conn.Outcome) {
			defer calls.Done()
			if e, ok := errors.AsType[*codec.Error](o.Err); !ok || e.Code != gateway.CodeUpstreamLost {
				far.fail(fmt.Errorf("%w: %w", errWrong, o.Err))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	for _, one := range far.conns { // what is answered was sent behind the calls
		if _, err := one.Call(ctx, answered, nil, conn.CallOptions{}); err != nil {
			return 0, err
		}
	}
	begun := time.Now()
	if err := lose(owner); err != nil {
		return 0, err
	}
	calls.Wait()
	return time.Since(begun), far.verdict()
}

// kill ends a process that need not end by itself.
func (c *child) kill() {
	_ = c.cmd.Process.Signal(os.Kill)
	c.end()
}

// cable is a way to a server that can be cut without either end being told, which is what
// the loss of a host looks like.
type cable struct {
	listener net.Listener
	cut      atomic.Bool
	mu       sync.Mutex // guards ends
	ends     []net.Conn
}

func newCable(to string) (*cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &cable{listener: l}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			c.mu.Lock()
			c.ends = append(c.ends, in, out)
			c.mu.Unlock()
			go c.carry(out, in)
			go c.carry(in, out)
		}
	}()
	return c, nil
}

// carry copies until an end closes; what comes when the cable is cut goes nowhere.
func (c *cable) carry(to, from net.Conn) {
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if c.cut.Load() {
			if err != nil {
				return
			}
			continue
		}
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

func (c *cable) end() {
	_ = c.listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.ends {
		_ = one.Close()
	}
}
