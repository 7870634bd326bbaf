package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/cputime"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
)

// loadRole keeps calls in flight over a connection to the echo server and measures
// what this process spends on a call. Its arguments: hand, which is the load
// written directly against conn, or loadgen, which plans, times and counts every
// call; the way of calling; the server's address; the number in flight; the bytes
// of a payload; the time.
func loadRole(args []string) (claim.Values, error) {
	if len(args) != 6 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	callers, err := strconv.Atoi(args[3])
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(args[4])
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[5])
	if err != nil {
		return nil, err
	}
	d = time.Duration(float64(d) * pace)
	stream, err := net.Dial("unix", args[2])
	if err != nil {
		return nil, err
	}
	c, err := conn.New(stream, conn.Options{MaxPending: 1 << 15, Overflow: engine.OverflowWait})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	params := []byte(`"` + strings.Repeat("x", size-2) + `"`)
	if args[0] == loadgenName {
		return loadgenLoad(c, args[1], callers, params, d)
	}
	run, ok := map[string]func(*conn.Conn, []byte) traffic{
		blockingName: blockingTraffic, callbacksConnName: callbackTraffic, batchesName: batchTraffic, submittedName: submitTraffic,
	}[args[1]]
	if !ok {
		return nil, fmt.Errorf("no traffic %q", args[1])
	}
	return handLoad(run(c, params), callers, d)
}

var errNoCPUTime = errors.New("this system does not tell the CPU time of a process")

func handLoad(run traffic, callers int, d time.Duration) (claim.Values, error) {
	if _, _, err := rate(run, callers, d/5); err != nil {
		return nil, err
	}
	before, known := cputime.Used()
	perSecond, calls, err := rate(run, callers, d)
	after, _ := cputime.Used()
	if err == nil && !known {
		err = errNoCPUTime
	}
	return claim.Values{"calls/s": perSecond, "cpu": float64(after-before) / calls}, err
}

func loadgenLoad(c *conn.Conn, kind string, callers int, params []byte, d time.Duration) (claim.Values, error) {
	mode, ok := map[string]drive.Mode{blockingName: drive.Blocking, callbacksConnName: drive.Callback, submittedName: drive.Batch}[kind]
	if !ok {
		return nil, fmt.Errorf("no traffic %q", kind)
	}
	r, err := drive.Run(context.Background(), []*conn.Conn{c}, drive.Config{
		Mode: mode, InFlight: callers, Warmup: d / 5, Duration: d, Timeout: timeout,
		Method: echoMethod, Payload: plan.FixedPayload(params), Sleep: drive.PreciseSleep,
	})
	if err != nil {
		return nil, err
	}
	if problems := drive.Audit(r, nil, false); len(problems) > 0 {
		return nil, fmt.Errorf("does not add up: %s", strings.Join(problems, "; "))
	}
	if !r.Cost.CPUKnown {
		return nil, errNoCPUTime
	}
	return claim.Values{"calls/s": r.Rate, "cpu": r.Cost.PerCall(float64(r.Cost.CPU))}, nil
}

// submitTraffic has one goroutine that submits, in one go, as many calls as have
// come free meanwhile.
func submitTraffic(c *conn.Conn, params []byte) traffic {
	ctx := context.Background()
	return func(inFlight int, stop *atomic.Bool) (int64, error) {
		var (
			free   atomic.Int64 // calls that have ended and were not made again
			failed atomic.Pointer[error]
			wake   = make(chan struct{}, 1)
		)
		notify := func(out conn.Outcome) {
			if out.Err != nil {
				why := out.Err // escapes only here
				failed.Store(&why)
			}
			if free.Add(1) == 1 {
				select {
				case wake <- struct{}{}:
				default:
				}
			}
		}
		requests := make([]conn.Request, inFlight)
		for i := range requests {
			requests[i] = conn.Request{Method: echoMethod, Params: params, Notify: notify, Options: conn.CallOptions{Timeout: timeout, NoWait: true}}
		}
		var calls int64
		for out := int64(0); ; {
			ended := free.Swap(0)
			if out > 0 {
				out -= ended
				calls += ended
			}
			if err := failed.Load(); err != nil {
				return 0, *err
			}
			switch {
			case !stop.Load() && out < int64(inFlight):
				n, err := c.Submit(ctx, requests[out:])
				if err != nil {
					return 0, err
				}
				out += int64(n)
			case out == 0:
				return calls, nil
			default:
				<-wake
				runtime.Gosched() // the reader may be in the middle of a burst
			}
		}
	}
}
