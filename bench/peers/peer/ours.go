package peer

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/conn"
)

// The names of ours: the API that waits, the same with memory for the results, and
// with typed params and results as an MCP client has them, callbacks, and batches.
const (
	Blocking  = "correlator"
	Into      = "correlator-into"
	Typed     = "correlator-typed"
	Callbacks = "correlator-callbacks"
	Batches   = "correlator-batches"
)

// batches is how many batches share the calls in flight.
const batches = 4

var ours = []Peer{
	{Name: Blocking, Class: Ours, Server: server.Lines, Timeouts: "argument", Open: blocking(false)},
	{Name: Into, Class: Ours, Server: server.Lines, Timeouts: "argument", Open: blocking(true)},
	{Name: Callbacks, Class: Ours, Server: server.Lines, Timeouts: "argument", Open: pumped(callbacks)},
	{Name: Batches, Class: Ours, Server: server.Lines, Timeouts: "argument", Open: pumped(inBatches)},
	{Name: Submitted, Class: Ours, Server: server.Lines, Timeouts: "argument", Open: pumped(submitted)},
	{Name: Typed, Class: Ours, Server: server.MCP, Timeouts: "argument", Open: openTyped},
}

// maxPending is above what the largest row has in flight.
const maxPending = 1 << 15

// newConn makes a connection as our users do.
func newConn(link Link, o conn.Options) (*conn.Conn, error) {
	stream, err := link.Dial()
	if err != nil {
		return nil, err
	}
	o.MaxPending = maxPending
	return conn.New(stream, o)
}

// roomy are the options of who begins calls without waiting: who does not wait finds
// room to write or is refused, so there is room for all that is in flight.
func (l *Link) roomy() conn.Options {
	const around = 256 // what a request has beside its payload, and what its frame counts for
	return conn.Options{WriteBuffer: max(conn.DefaultWriteBuffer, l.Callers*(l.Bytes+around))}
}

// blocking opens a connection whose callers wait. With into they are done with a
// result before their next call, and give its memory for the next.
func blocking(into bool) func(Link) (Client, error) {
	return func(link Link) (Client, error) {
		c, err := newConn(link, conn.Options{})
		if err != nil {
			return Client{}, err
		}
		ctx := context.Background()
		return Client{
			Caller: func(w Work) (func() error, error) {
				params, o := w.quoted(), conn.CallOptions{Timeout: w.Timeout}
				return func() error {
					answer, err := c.Call(ctx, w.Name, params, o)
					if err != nil {
						return err
					}
					if into {
						o.Into = answer
					}
					return w.check(answer, params)
				}, nil
			},
			Close: c.Close,
		}, nil
	}
}

// pumped opens a connection that is used without a goroutine per call.
func pumped(pump func(*conn.Conn, Work, int, *load.Loop) error) func(Link) (Client, error) {
	return func(link Link) (Client, error) {
		c, err := newConn(link, link.roomy())
		if err != nil {
			return Client{}, err
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				begin := beginOn(c)(w)
				return func() error {
					ended := make(chan error, 1)
					begin(func(err error) { ended <- err })
					return <-ended
				}, nil
			},
			Pump:  func(w Work, inFlight int, l *load.Loop) error { return pump(c, w, inFlight, l) },
			Begin: beginOn(c),
			Close: c.Close,
		}, nil
	}
}

// begun is a call that was begun, with the callback that ends it: made once and
// used again, as a program that makes many calls has it.
type begun struct {
	done   func(error)
	notify func(conn.Outcome)
}

func beginOn(c *conn.Conn) func(Work) func(func(error)) {
	return func(w Work) func(func(error)) {
		ctx, params, o := context.Background(), w.quoted(), conn.CallOptions{Timeout: w.Timeout, NoWait: true}
		idle := sync.Pool{}
		idle.New = func() any {
			b := new(begun)
			b.notify = func(out conn.Outcome) {
				err, done := out.Err, b.done
				if err == nil {
					err = w.check(out.Value, params)
				}
				idle.Put(b)
				done(err)
			}
			return b
		}
		return func(done func(error)) {
			b := idle.Get().(*begun)
			b.done = done
			if _, err := c.Start(ctx, w.Name, params, o, b.notify); err != nil {
				idle.Put(b)
				done(err)
			}
		}
	}
}

// callbacks starts each call from the callback of the one before.
func callbacks(c *conn.Conn, w Work, inFlight int, l *load.Loop) error {
	var wg sync.WaitGroup
	ctx, params, o := context.Background(), w.quoted(), conn.CallOptions{Timeout: w.Timeout, NoWait: true}
	wg.Add(inFlight)
	for lane := range inFlight {
		var (
			began time.Time
			next  func(conn.Outcome)
		)
		start := func() {
			if _, err := c.Start(ctx, w.Name, params, o, next); err != nil {
				l.Failed(lane, err)
				wg.Done()
			}
		}
		next = func(out conn.Outcome) {
			err := out.Err
			if err == nil {
				err = w.check(out.Value, params)
			}
			if err != nil {
				l.Failed(lane, err)
				wg.Done()
				return
			}
			now := time.Now()
			l.Took(lane, now.Sub(began))
			if l.Stopped() {
				wg.Done()
				return
			}
			began = now
			start()
		}
		began = time.Now()
		start()
	}
	wg.Wait()
	return nil
}

// inBatches keeps a few batches in flight: the callback of the last answer to one
// submits it again.
func inBatches(c *conn.Conn, w Work, inFlight int, l *load.Loop) error {
	params := w.quoted()
	return batched(c, conn.Request{Method: w.Name, Params: params, Options: conn.CallOptions{Timeout: w.Timeout, NoWait: true}},
		func(answer []byte) error { return w.check(answer, params) }, inFlight, l)
}

// batched is inBatches for any request whose answers check accepts.
func batched(c *conn.Conn, request conn.Request, check func(answer []byte) error, inFlight int, l *load.Loop) error {
	var wg sync.WaitGroup
	ctx := context.Background()
	for lane := range min(batches, inFlight) {
		requests := make([]conn.Request, inFlight/min(batches, inFlight))
		open := 0 // touched by whoever submits, then by the callbacks, which are one goroutine's
		var began time.Time
		submit := func() {
			open, began = len(requests), time.Now()
			if _, err := c.Submit(ctx, requests); err != nil {
				l.Failed(lane, err)
				wg.Done()
			}
		}
		notify := func(out conn.Outcome) {
			err := out.Err
			if err == nil {
				err = check(out.Value)
			}
			if err != nil {
				l.Failed(lane, err)
			} else {
				l.Took(lane, time.Since(began))
			}
			if open--; open > 0 {
				return
			}
			if l.Stopped() || err != nil {
				wg.Done()
				return
			}
			submit()
		}
		for i := range requests {
			requests[i] = request
			requests[i].Notify = notify
		}
		wg.Add(1)
		submit()
	}
	wg.Wait()
	return nil
}

// toolCall and toolResult are what an MCP client sends and reads of a tools/call.
type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type toolResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	IsError bool `json:"isError"`
}

// arguments are those of the echo tool.
func (w *Work) arguments() json.RawMessage {
	return json.RawMessage(`{"message":"` + w.Text + `"}`)
}

func openTyped(link Link) (Client, error) {
	c, err := newConn(link, conn.Options{})
	if err != nil {
		return Client{}, err
	}
	ctx := context.Background()
	return Client{
		Caller: func(w Work) (func() error, error) {
			call, want, o := toolCall{Name: w.Name, Arguments: w.arguments()}, []byte(w.Text), conn.CallOptions{Timeout: w.Timeout}
			return func() error {
				result, err := conn.Call[toolResult](ctx, c, "tools/call", &call, o)
				if err != nil {
					return err
				}
				if len(result.Content) != 1 {
					return ErrEcho
				}
				return w.check([]byte(result.Content[0].Text), want)
			}, nil
		},
		Close: c.Close,
	}, nil
}
