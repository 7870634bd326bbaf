package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/conn"
)

// crowd is some clients of one socket.
type crowd struct {
	conns  []*conn.Conn
	failed atomic.Int64
	first  atomic.Pointer[error] // why the first one did
}

func (c *crowd) fail(err error) {
	c.failed.Add(1)
	c.first.CompareAndSwap(nil, &err)
}

// hello begins the handshake of the older era, which every contender speaks.
var hello = []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}`)

// params are 100 bytes.
var params = func() []byte {
	const around = `{"name":"echo","arguments":{"message":""}}`
	return []byte(strings.Replace(around, `""`, `"`+strings.Repeat("x", 100-len(around))+`"`, 1))
}()

const callTimeout = 30 * time.Second

// errLost: calls got no answer.
var errLost = errors.New("check: calls failed")

// join opens n clients, which have shaken hands.
func join(socket string, n int) (*crowd, error) {
	c := new(crowd)
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	for range n {
		one, err := conn.Dial(ctx, "unix", socket, conn.Options{MaxPending: 1 << 18, WriteBuffer: 64 << 20})
		if err != nil {
			return c, err
		}
		c.conns = append(c.conns, one)
		if _, err := one.Call(ctx, "initialize", hello, conn.CallOptions{}); err != nil {
			return c, fmt.Errorf("initialize: %w", err)
		}
		if err := one.Notify(ctx, "notifications/initialized", nil); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *crowd) leave() {
	for _, one := range c.conns {
		_ = one.Close()
	}
}

// peak is how many calls a second go through when depth are always in flight.
func (c *crowd) peak(depth int, warm, window time.Duration) (float64, error) {
	var done atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	for n := range depth {
		one := c.conns[n%len(c.conns)]
		all.Add(1)
		var next func(conn.Outcome)
		next = func(o conn.Outcome) {
			if o.Err != nil {
				c.fail(o.Err)
			}
			done.Add(1)
			if stop.Load() || o.Err != nil {
				all.Done()
				return
			}
			if _, err := one.Start(context.Background(), "tools/call", params, conn.CallOptions{Timeout: callTimeout}, next); err != nil {
				c.fail(err)
				all.Done()
			}
		}
		if _, err := one.Start(context.Background(), "tools/call", params, conn.CallOptions{Timeout: callTimeout}, next); err != nil {
			return 0, err
		}
	}
	time.Sleep(warm)
	before, begun := done.Load(), time.Now()
	time.Sleep(window)
	rate := float64(done.Load()-before) / time.Since(begun).Seconds()
	stop.Store(true)
	all.Wait()
	return rate, c.verdict()
}

func (c *crowd) verdict() error {
	if n := c.failed.Load(); n > 0 {
		return fmt.Errorf("%w: %d, the first with %w", errLost, n, *c.first.Load())
	}
	return nil
}

// pace is how long the open loop sleeps between two looks at what is due.
const pace = 100 * time.Microsecond

// steady makes calls on a schedule: what is due at once is made by one client, the next
// by the next one, so that each way has bursts to batch. It gives the median of their latency, from the
// planned time of each, and how many there were.
func (c *crowd) steady(rate float64, window time.Duration) (p50 time.Duration, calls int, err error) {
	total := int(rate * window.Seconds())
	took := make([]time.Duration, total)
	var out sync.WaitGroup
	start := time.Now()
	var batch []conn.Request
	for n, turn := 0, 0; n < total; turn++ {
		batch = batch[:0]
		for due := min(total, int(time.Since(start).Seconds()*rate)+1); n < due; n++ {
			slot, planned := n, time.Duration(float64(n)/rate*1e9)
			out.Add(1)
			batch = append(batch, conn.Request{Method: "tools/call", Params: params, Options: conn.CallOptions{Timeout: callTimeout}, Notify: func(o conn.Outcome) {
				if o.Err != nil {
					c.fail(o.Err)
				}
				took[slot] = time.Since(start) - planned
				out.Done()
			}})
		}
		if taken, err := c.conns[turn%len(c.conns)].Submit(context.Background(), batch); err != nil {
			return 0, 0, fmt.Errorf("%d of %d taken: %w", taken, len(batch), err)
		}
		sleep(pace)
	}
	out.Wait()
	slices.Sort(took)
	return took[total/2], total, c.verdict()
}

// hang makes n calls that ask for progress and are never answered.
func (c *crowd) hang(n int) error {
	text := strings.Replace(string(params), `{"name"`, `{"_meta":{"progressToken":TOKEN},"name"`, 1)
	for i := range n {
		own := strings.Replace(text, "TOKEN", fmt.Sprint(i), 1)
		_, err := c.conns[i%len(c.conns)].Start(context.Background(), "tools/call", []byte(own), conn.CallOptions{Timeout: -1}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
