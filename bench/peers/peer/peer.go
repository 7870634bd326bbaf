package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/correlator-go/correlator/bench/peers/load"
)

// Work is what the callers of a client do.
type Work struct {
	// Name is the method or the tool: server.Method, or server.Stuck for calls
	// that are never answered.
	Name string
	// Text is what is sent and has to come back: letters and digits only.
	Text string
	// Timeout of each call.
	Timeout time.Duration
	// Exact compares the whole answer. Without it only its length is looked at,
	// which costs the same for every client: nothing.
	Exact bool
}

// ErrEcho says that an answer was not what was sent.
var ErrEcho = errors.New("the answer is not what was sent")

// check compares an answer with want.
func (w *Work) check(answer, want []byte) error {
	if len(answer) == len(want) && (!w.Exact || bytes.Equal(answer, want)) {
		return nil
	}
	return fmt.Errorf("%w: %d bytes instead of %d", ErrEcho, len(answer), len(want))
}

// quoted is Text as JSON.
func (w *Work) quoted() []byte { return []byte(`"` + w.Text + `"`) }

// context is what users of clients without a timeout of their own make for each
// call.
func (w *Work) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), w.Timeout)
}

// Link is how a client reaches its server.
type Link struct {
	// Dial makes a connection.
	Dial func() (io.ReadWriteCloser, error)
	// Callers is how many will call at once, for clients that size something by
	// that.
	Callers int
	// Bytes is the size of a payload, for clients that bound what waits to be
	// written.
	Bytes int
}

// Client is a connected client. Its fields are the ways it can be used; those it
// has not are nil.
type Client struct {
	// Caller returns a call for one goroutine, which waits for the answer.
	Caller func(Work) (func() error, error)
	// Pump keeps inFlight calls going until the loop is stopped.
	Pump func(w Work, inFlight int, l *load.Loop) error
	// Begin starts a call and returns; done is called once. It is for calls that
	// come from one goroutine.
	Begin func(Work) func(done func(error))
	// Close ends the connection.
	Close func() error
}

// Class says what a peer is compared for.
type Class string

// The classes.
const (
	Ours    Class = "ours"
	JSON    Class = "json-rpc" // carries JSON-RPC, so has to do what we do
	Adapted Class = "adapted"  // a rival's client over a transport of ours, so neither
	Other   Class = "other"    // another protocol
	Floor   Class = "floor"    // what no client can beat
)

// The names of rivals that demands are about, and of those whose transport is ours.
const (
	GoSDKAdapted = GoSDK + "+correlator"
	MCPGoAdapted = MCPGo + "+correlator"
	GoSDK        = "go-sdk"
	MCPGo        = "mcp-go"
	GRPC         = "grpc"
	Rueidis      = "rueidis"
	NetRPC       = "net-rpc-json"
)

// Near are the rivals that come first among those that carry JSON-RPC, for any number
// of callers and any size.
var Near = []string{LSPConn, LSPClient, LSPConnBuffered, LSPClientBuffered, NetRPC}

// Peer is one contender.
type Peer struct {
	Name   string
	Class  Class
	Server string // of package server
	// Timeouts says how a call gets its timeout: "argument", "context", "timer" of
	// the caller, or "none".
	Timeouts string
	// Open connects.
	Open func(Link) (Client, error)
}

var peers = slices.Concat(ours, floors, []Peer{
	lspDevConn, lspDevConnBuffered, lspDevPipeline, lspDevPipelineBuffered,
	netRPCJSON, xExp, goEthereum, jrpc2Peer, sourcegraph, mcpGo, goSDK,
	goSDKAdapted, mcpGoAdapted,
	rueidisPeer, rueidisBare, fasthttpPeer, natsPeer, netRPCGob, grpcPeer,
})

// All lists the peers: ours first, then the floors, then the rivals.
func All() []Peer { return slices.Clone(peers) }

// Get returns the peer of that name.
func Get(name string) (Peer, error) {
	for _, p := range peers {
		if p.Name == name {
			return p, nil
		}
	}
	return Peer{}, fmt.Errorf("no peer %q", name)
}
