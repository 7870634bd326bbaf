package peer

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/conn"
)

// Submitted is the load of the load generator by hand: the same calls, made in the
// same way, and nothing about them is planned, timed or accounted for.
const Submitted = "correlator-submitted"

// submitted has one goroutine that submits, in one go, as many calls as have come
// free meanwhile.
func submitted(c *conn.Conn, w Work, inFlight int, l *load.Loop) error {
	var (
		ctx         = context.Background()
		params      = w.object()
		free, wrong atomic.Int64 // calls that have ended and were not made again; those of them that failed
		wake        = make(chan struct{}, 1)
	)
	notify := func(out conn.Outcome) {
		err := out.Err
		if err == nil {
			err = w.check(out.Value, params)
		}
		if err != nil {
			l.Failed(0, err)
			wrong.Add(1)
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
		requests[i] = conn.Request{Method: w.Name, Params: params, Notify: notify, Options: conn.CallOptions{Timeout: w.Timeout, NoWait: true}}
	}
	for out := 0; ; {
		ended := int(free.Swap(0))
		out -= ended
		l.Done(0, int64(ended)-wrong.Swap(0))
		switch {
		case !l.Stopped() && out < inFlight:
			n, err := c.Submit(ctx, requests[out:])
			if out += n; err != nil {
				return err
			}
		case out == 0:
			return nil
		default:
			<-wake
			runtime.Gosched() // the reader may be in the middle of a burst
		}
	}
}

// object is params of the shape and length that the load generator makes up.
func (w *Work) object() []byte {
	const empty = `{"data":""}`
	return []byte(`{"data":"` + w.Text[min(len(w.Text), len(empty)):] + `"}`)
}
