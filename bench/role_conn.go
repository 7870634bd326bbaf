package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

const echoMethod = "echo"

// echoRole serves connections on a unix socket, whose path it prints, until its
// standard input ends.
func echoRole([]string) (claim.Values, error) {
	return nil, serveUntil(os.Stdin, os.Stdout)
}

// serveUntil writes its address as a line to out, and serves until in ends.
func serveUntil(in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "echo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = echo.Serve(c, echo.Options{}) }()
		}
	}()
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, l.Close())
}

// traffic is how a contender keeps calls in flight: it runs callers until stop and
// returns how many calls ended well.
type traffic func(callers int, stop *atomic.Bool) (calls int64, err error)

// connRole keeps calls in flight over a connection to the echo server and measures
// the rate. Its arguments: floor, blocking, into, callbacks or batches; the server's address; the
// number in flight; the bytes of a payload; the time.
func connRole(args []string) (claim.Values, error) {
	if len(args) != 5 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	callers, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(args[3])
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[4])
	if err != nil {
		return nil, err
	}
	stream, err := net.Dial("unix", args[1])
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	params := []byte(`"` + strings.Repeat("x", size-2) + `"`)
	d = time.Duration(float64(d) * pace)
	var run traffic
	var written func() int64 // write calls so far
	if args[0] == floorName {
		f := rival.NewFloor(stream, callers)
		run, written = floorTraffic(f, params), f.Writes
	} else {
		c, err := conn.New(stream, conn.Options{MaxPending: 1 << 15})
		if err != nil {
			return nil, err
		}
		written = func() int64 { return int64(c.Stats().Writes) }
		switch args[0] {
		case blockingName:
			run = blockingTraffic(c, params)
		case intoName:
			run = intoTraffic(c, params)
		case callbacksConnName:
			run = callbackTraffic(c, params)
		case batchesName:
			run = batchTraffic(c, params)
		default:
			return nil, fmt.Errorf("no traffic %q", args[0])
		}
	}
	if _, _, err := rate(run, callers, d/5); err != nil {
		return nil, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	writes := written()
	perSecond, calls, err := rate(run, callers, d)
	writes = written() - writes
	runtime.ReadMemStats(&after)
	return claim.Values{
		"calls/s": perSecond,
		"allocs":  float64(after.Mallocs-before.Mallocs) / calls,
		"writes":  float64(writes) / calls,
	}, err
}

func rate(run traffic, callers int, d time.Duration) (perSecond, calls float64, err error) {
	var stop atomic.Bool
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	began := time.Now()
	n, err := run(callers, &stop)
	return float64(n) / time.Since(began).Seconds(), float64(n), err
}

// blocking runs callers that call one after the other, each at least once.
func blocking(callers int, stop *atomic.Bool, caller func() (call func() error)) (int64, error) {
	var (
		calls  atomic.Int64
		failed atomic.Pointer[error]
		wg     sync.WaitGroup
	)
	for range callers {
		wg.Go(func() {
			call := caller()
			n := int64(0)
			for ; n == 0 || !stop.Load(); n++ {
				if err := call(); err != nil {
					why := err // escapes only here
					failed.Store(&why)
					break
				}
			}
			calls.Add(n)
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return calls.Load(), nil
}

func floorTraffic(f *rival.Floor, params []byte) traffic {
	frame := append(codec.AppendRequest(nil, codec.IntID(1<<40), echoMethod, params), '\n')
	return func(callers int, stop *atomic.Bool) (int64, error) {
		return blocking(callers, stop, func() func() error {
			c := rival.NewFloorCaller()
			return func() error { return f.Call(c, frame) }
		})
	}
}

// blockingTraffic has callers that wait and may keep every result.
func blockingTraffic(c *conn.Conn, params []byte) traffic { return waitingTraffic(c, params, false) }

// intoTraffic has callers that wait, are done with a result when they call again and
// give its memory for the next one, as the floor's callers do.
func intoTraffic(c *conn.Conn, params []byte) traffic { return waitingTraffic(c, params, true) }

func waitingTraffic(c *conn.Conn, params []byte, into bool) traffic {
	ctx := context.Background()
	return func(callers int, stop *atomic.Bool) (int64, error) {
		return blocking(callers, stop, func() func() error {
			o := conn.CallOptions{Timeout: timeout}
			return func() error {
				result, err := c.Call(ctx, echoMethod, params, o)
				if into {
					o.Into = result
				}
				return err
			}
		})
	}
}

// callbackTraffic starts the next call from the callback of the one before.
func callbackTraffic(c *conn.Conn, params []byte) traffic {
	ctx := context.Background()
	o := conn.CallOptions{Timeout: timeout, NoWait: true}
	return func(inFlight int, stop *atomic.Bool) (int64, error) {
		var (
			calls  atomic.Int64
			failed atomic.Pointer[error]
			wg     sync.WaitGroup
			next   func(conn.Outcome)
		)
		start := func() {
			if _, err := c.Start(ctx, echoMethod, params, o, next); err != nil {
				why := err
				failed.Store(&why)
				wg.Done()
			}
		}
		next = func(out conn.Outcome) {
			switch {
			case out.Err != nil:
				why := out.Err
				failed.Store(&why)
				wg.Done()
			case stop.Load():
				calls.Add(1)
				wg.Done()
			default:
				calls.Add(1)
				start()
			}
		}
		wg.Add(inFlight)
		for range inFlight {
			start()
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			return 0, *err
		}
		return calls.Load(), nil
	}
}

// batchTraffic keeps a few batches in flight: the callback of the last answer to
// a batch submits it again.
func batchTraffic(c *conn.Conn, params []byte) traffic {
	const batches = 4
	ctx := context.Background()
	return func(inFlight int, stop *atomic.Bool) (int64, error) {
		var (
			calls  atomic.Int64
			failed atomic.Pointer[error]
			wg     sync.WaitGroup
		)
		fail := func(err error) {
			why := err // escapes only here
			failed.Store(&why)
		}
		for range batches {
			requests := make([]conn.Request, max(1, inFlight/batches))
			open := len(requests) // touched by Submit's caller, then by callbacks, which are one goroutine's
			notify := func(out conn.Outcome) {
				if out.Err != nil {
					fail(out.Err)
				}
				if open--; open > 0 {
					return
				}
				calls.Add(int64(len(requests)))
				open = len(requests)
				if stop.Load() || failed.Load() != nil {
					wg.Done()
					return
				}
				if _, err := c.Submit(ctx, requests); err != nil {
					fail(err)
					wg.Done()
				}
			}
			for i := range requests {
				requests[i] = conn.Request{
					Method: echoMethod, Params: params, Notify: notify,
					Options: conn.CallOptions{Timeout: timeout, NoWait: true},
				}
			}
			wg.Add(1)
			if _, err := c.Submit(ctx, requests); err != nil {
				return 0, err
			}
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			return 0, *err
		}
		return calls.Load(), nil
	}
}
