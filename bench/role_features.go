package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/cputime"
	"github.com/correlator-go/correlator/serve"
)

func errFeature(args []string) error { return fmt.Errorf("bad arguments: %q", args) }

// engineFeature is a window of 1,000 calls with one thing turned on.
type engineFeature struct {
	name  string
	table func() workloads
}

// engineFeatures begin with the one that has nothing on: minted ids, the default
// total deadline, a method, Wait.
var engineFeatures = []engineFeature{
	{"nothing on", plainly(func(*featureOptions) {})},
	{"no deadline", plainly(func(o *featureOptions) { o.call.Timeout = engine.NoTimeout })},
	{"idle deadline", plainly(func(o *featureOptions) { o.call.IdleTimeout = timeout })},
	{"idle deadline, touched once a call", func() workloads { return newBed[call](&touched{newWaited(1000, full())}) }},
	{"Observer", plainly(func(o *featureOptions) { o.engine.Observer = func(s engine.Settlement) { seen.Store(int64(s.Status)) } })},
	{"OnAbandon", plainly(func(o *featureOptions) { o.engine.OnAbandon = func(engine.Abandonment) {} })},
	{"Detach that copies nothing", plainly(func(o *featureOptions) { o.engine.Detach = func(b, _ []byte) []byte { return b } })},
	{"OverflowWait", plainly(func(o *featureOptions) { o.engine.Overflow = engine.OverflowWait })},
	{"Notify instead of Wait", plainly(func(o *featureOptions) {
		o.notify = true
		o.call.Notify = func(engine.Outcome[[]byte]) {}
	})},
	{"caller's ids, integers", numbered(false)},
	{"caller's ids, integers, MatchText", numbered(true)},
	{"caller's ids, strings made per call", func() workloads { return newBed[keyedCall](newKeyed(1000, false)) }},
}

// seen keeps an observer from being compiled away.
var seen atomic.Int64

type featureOptions struct {
	engine engine.Options[[]byte]
	call   engine.CallOptions[[]byte]
	notify bool
}

func plainly(set func(*featureOptions)) func() workloads {
	return func() workloads {
		o := featureOptions{call: engine.CallOptions[[]byte]{Method: method}}
		set(&o)
		w := waited{must(engine.New(o.engine)), o.call}
		if o.notify {
			return newBed[call](&notified{w})
		}
		return newBed[call](&w)
	}
}

// touched moves each call's idle deadline once before it is answered.
type touched struct{ *waited }

func (t *touched) resolve(c call) {
	t.engine.Touch(c.ID())
	t.waited.resolve(c)
}

// integers is the engine with the caller's ids, integers.
type integers struct {
	waited
	last int64
}

func numbered(matchText bool) func() workloads {
	return func() workloads {
		o := engine.Options[[]byte]{CallerIDs: true, MatchText: matchText}
		return newBed[keyedCall](&integers{waited: waited{must(engine.New(o)), engine.CallOptions[[]byte]{Method: method}}})
	}
}

func (t *integers) begin() keyedCall {
	t.last++
	id := codec.IntID(t.last)
	c, err := t.engine.Register(background, id, t.call)
	if err != nil {
		panic(err)
	}
	return keyedCall{c, id}
}

func (t *integers) resolve(c keyedCall) { t.engine.Resolve(c.id, payload) }
func (t *integers) wait(c keyedCall)    { t.waited.wait(c.call) }

// engineFeatureCost is what an operation costs this process: the least of several
// turns within d, since what else the machine does can only add to it. Where the
// system tells no CPU time it is the time that passed.
func engineFeatureCost(f engineFeature, d time.Duration) float64 {
	const turns, ops = 20, 2000
	t := f.table()
	defer t.close()
	t.fill(1000, true)
	began := time.Now()
	spent := func() time.Duration {
		if cpu, known := cputime.Used(); known {
			return cpu
		}
		return time.Since(began)
	}
	t.count(1, 10*ops)
	least := math.Inf(1)
	for turn, end := 0, time.Now().Add(time.Duration(float64(d)*pace)); turn < turns || time.Now().Before(end); turn++ {
		before := spent()
		t.count(1, ops)
		after := spent()
		least = min(least, float64(after-before)/ops)
	}
	return least
}

// connFeature is 1,024 blocking callers over a unix socket with one thing turned on.
type connFeature struct {
	name string
	set  func(*conn.Options, *conn.CallOptions)
}

// connFeatures begin with the one that has nothing on.
var connFeatures = []connFeature{
	{"nothing on", func(*conn.Options, *conn.CallOptions) {}},
	{"Observer", func(o *conn.Options, _ *conn.CallOptions) {
		o.Observer = func(s engine.Settlement) { seen.Store(int64(s.Status)) }
	}},
	{"OnStray", func(o *conn.Options, _ *conn.CallOptions) { o.OnStray = func(conn.Stray) {} }},
	{"MatchText", func(o *conn.Options, _ *conn.CallOptions) { o.MatchText = true }},
	{"KeepAlive of 1 s", func(o *conn.Options, _ *conn.CallOptions) { o.KeepAlive = time.Second }},
	{"OverflowWait", func(o *conn.Options, _ *conn.CallOptions) { o.Overflow = engine.OverflowWait }},
	{"idle deadline (asks for progress)", func(_ *conn.Options, c *conn.CallOptions) { c.IdleTimeout = timeout }},
	{"Progress", func(_ *conn.Options, c *conn.CallOptions) { c.Progress = func(conn.Progress) {} }},
	{"NoCancel", func(_ *conn.Options, c *conn.CallOptions) { c.NoCancel = true }},
	{"RefuseLoneSurrogates", func(o *conn.Options, _ *conn.CallOptions) { o.RefuseLoneSurrogates = true }},
	{"TrustBody (does less)", func(o *conn.Options, _ *conn.CallOptions) { o.TrustBody = true }},
}

// connFeatureCost is what a call costs this process.
func connFeatureCost(f connFeature, address string, d time.Duration) (claim.Values, error) {
	stream, err := net.Dial("unix", address)
	if err != nil {
		return nil, err
	}
	o, co := conn.Options{}, conn.CallOptions{Timeout: timeout}
	f.set(&o, &co)
	c, err := conn.New(stream, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	params := []byte(`{"text":"` + strings.Repeat("x", 89) + `"}`) // 100 bytes; a progress token wants an object
	return callingCost(c, 1024, echoMethod, params, co, d)
}

// callingCost is what calls by so many callers cost this process.
func callingCost(c *conn.Conn, callers int, method string, params []byte, o conn.CallOptions, d time.Duration) (claim.Values, error) {
	d = time.Duration(float64(d) * pace)
	run := func(callers int, stop *atomic.Bool) (int64, error) {
		return blocking(callers, stop, func() func() error {
			return func() error {
				_, err := c.Call(background, method, params, o)
				return err
			}
		})
	}
	if _, _, err := rate(run, callers, d/5); err != nil {
		return nil, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, _ := cputime.Used()
	perSecond, calls, err := rate(run, callers, d)
	ended, known := cputime.Used()
	runtime.ReadMemStats(&after)
	v := claim.Values{"calls/s": perSecond, "allocs": float64(after.Mallocs-before.Mallocs) / calls}
	if known {
		v["cpu"] = float64(ended-began) / calls
	}
	return v, err
}

// serveFeature is an MCP server and 64 callers in one process with one thing turned
// on.
type serveFeature struct {
	name string
	set  func(*serve.Options)
}

// serveFeatures begin with the one that has nothing on.
var serveFeatures = []serveFeature{
	{"nothing on", func(*serve.Options) {}},
	{"Observer", func(o *serve.Options) { o.Observer = func(e serve.Event) { seen.Store(int64(e.Kind)) } }},
	{"Logger", func(o *serve.Options) { o.Logger = slog.New(slog.DiscardHandler) }},
	{"OnStray", func(o *serve.Options) { o.OnStray = func(serve.Stray) {} }},
}

// serveFeatureCost is what a tools/call costs a process that is its client and its
// server.
func serveFeatureCost(f serveFeature, d time.Duration) (claim.Values, error) {
	var o serve.Options
	f.set(&o)
	s, err := toolsServer(o, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	c, err := conn.New(s.InProcess(ctx), conn.Options{})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return callingCost(c, 64, method, []byte(toolParams("echo", `{"text":"hello"}`, "")), conn.CallOptions{Timeout: timeout}, d)
}
