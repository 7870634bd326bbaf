package lsp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// Client is the client's end of one session with a language server.
//
//	made ──Initialize──▶ initializing ──answered──▶ ready ──Shutdown──▶ shut
//	  ▲                       │
//	  └───────refused─────────┘
//
// Calls and notifications are for a ready session: before they fail with
// ErrNotInitialized, afterwards with ErrShutdown, without being sent. What the server
// says and asks is served at any time. The connection may end at any time as well; a
// Client does not start a server again.
type Client struct {
	o     Options
	conn  *conn.Conn
	local bool // the server is a child of ours, so it may watch our process id
	state atomic.Uint32

	ctx     context.Context // of notification handlers; ends with the connection
	end     context.CancelFunc
	notes   *notes
	streams streams
	counts  counts

	mu      sync.Mutex
	folders json.RawMessage // of the initialize params, for workspace/workspaceFolders
}

// The states of a session.
const (
	stateMade uint32 = iota
	stateInitializing
	stateReady
	stateShut
)

// counts of what the connection does not count.
type counts struct {
	notesDropped, progressLate, panics atomic.Uint64
}

// Stats counts what came in and was not used. What else a session counts is in
// Client.Conn().Stats().
type Stats struct {
	// NotificationsDropped found the queue full: their handlers are too slow.
	NotificationsDropped uint64
	// ProgressLate came for a call that had ended.
	ProgressLate uint64
	// Panics is how many handlers panicked.
	Panics uint64
}

// Spawn starts a language server as a child process, to which it speaks over standard
// input and output. ctx bounds the start only. The errors are those of conn.Spawn.
// What comes next is Initialize.
func Spawn(ctx context.Context, command conn.Command, o Options) (*Client, error) {
	c, options := prepare(o)
	c.local = true
	return c.over(conn.Spawn(ctx, command, options))
}

// Dial connects to a language server that listens on "tcp" or "unix". ctx bounds the
// dialling only. The errors are those of conn.Dial.
func Dial(ctx context.Context, network, address string, o Options) (*Client, error) {
	c, options := prepare(o)
	return c.over(conn.Dial(ctx, network, address, options))
}

// New speaks with a language server over stream, which it owns from then on. The error
// is a *conn.OptionError; the stream is then still the caller's.
func New(stream io.ReadWriteCloser, o Options) (*Client, error) {
	c, options := prepare(o)
	return c.over(conn.New(stream, options))
}

// prepare makes a client without a connection, and the options for that.
func prepare(o Options) (*Client, conn.Options) {
	c := &Client{o: o.withDefaults()}
	c.ctx, c.end = context.WithCancel(context.Background())
	c.notes = newNotes(c)
	c.streams.calls = map[string]*stream{}
	options := o.Conn
	options.Profile, options.Framer = codec.LSP, codec.HeaderFramer{}
	// Inline, so that progress is taken to its call before the answer is, and nobody's
	// handler stands between the two.
	options.Handler, options.Inline = conn.HandlerFunc(c.handle), true
	options.Batches, options.Overflow = conn.RefuseBatches, engine.OverflowWait
	options.OnClose = func(err error) {
		c.end()
		if o.Conn.OnClose != nil {
			o.Conn.OnClose(err)
		}
	}
	return c, options
}

// over makes c a client over k, which may read already.
func (c *Client) over(k *conn.Conn, err error) (*Client, error) {
	if err != nil {
		c.end()
		return nil, err
	}
	c.conn = k
	return c, nil
}

// Conn is the connection, for its counters and for what this package does not do.
// Calls made there are not held to the order of a session.
func (c *Client) Conn() *conn.Conn { return c.conn }

// Stats reads the counters.
func (c *Client) Stats() Stats {
	return Stats{
		NotificationsDropped: c.counts.notesDropped.Load(), ProgressLate: c.counts.progressLate.Load(), Panics: c.counts.panics.Load(),
	}
}

// Done is closed when the connection has ended and a child is reaped. Handlers may
// still run; their contexts have ended.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Err is nil while the connection is up, then why it ended: *conn.PeerGone if the server
// ended, conn.ErrClosed after Close.
func (c *Client) Err() error { return c.conn.Err() }

// Close ends the connection without a word: a child gets the end of its input, then the
// graces of its Command. Shutdown is the polite way. It always returns nil.
func (c *Client) Close() error { return c.conn.Close() }
