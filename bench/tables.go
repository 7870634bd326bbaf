package bench

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

var background = context.Background()

// must stops a measurement that cannot go on.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// options are the engine's as a connection sets them, for so many calls pending.
// The bound leaves some room, so that it never bites.
func options(pending int) engine.Options[[]byte] {
	return engine.Options[[]byte]{MaxPending: pending + 1<<12, OnAbandon: func(engine.Abandonment) {}}
}

// full has all that a call of a connection carries.
func full() engine.CallOptions[[]byte] {
	return engine.CallOptions[[]byte]{Method: method, Timeout: timeout, IdleTimeout: timeout}
}

// undated has neither deadline.
func undated() engine.CallOptions[[]byte] {
	return engine.CallOptions[[]byte]{Method: method, Timeout: engine.NoTimeout, IdleTimeout: engine.NoTimeout}
}

type call = engine.Call[[]byte]

// waited is the engine with minted ids and Wait.
type waited struct {
	engine *engine.Engine[[]byte]
	call   engine.CallOptions[[]byte]
}

func newWaited(pending int, o engine.CallOptions[[]byte]) *waited {
	return &waited{must(engine.New(options(pending))), o}
}

func (t *waited) begin() call {
	c, err := t.engine.Begin(background, t.call)
	if err != nil { // not must, which the compiler does not inline
		panic(err)
	}
	return c
}

func (t *waited) resolve(c call) { t.engine.Resolve(c.ID(), payload) }
func (t *waited) wait(c call)    { _, _ = c.Wait(background) }

// Close fails what is pending.
func (t *waited) Close() { _ = t.engine.Close() }

// settle lets the driver take in the deadlines that were staged for it: one of
// them passes.
func (t *waited) settle() {
	o := full()
	o.Timeout = 2 * time.Millisecond
	_, _ = must(t.engine.Begin(background, o)).Wait(background)
}

// notified is the engine with minted ids and callbacks.
type notified struct{ waited }

// outcomes counts what the callbacks got.
var outcomes atomic.Int64

func newNotified(pending int) *notified {
	o := full()
	o.Notify = func(o engine.Outcome[[]byte]) {
		if o.Err != nil {
			outcomes.Add(1)
		}
	}
	return &notified{*newWaited(pending, o)}
}

func (*notified) wait(call) {}

// keyed is the engine with the caller's ids, strings.
type keyed struct {
	waited
	last atomic.Int64
	ring *[1 << 14]codec.ID // ready keys, in turn; nil: keys are made
	turn uint32
}

func newKeyed(pending int, built bool) *keyed {
	o := options(pending)
	o.CallerIDs = true
	k := &keyed{waited: waited{must(engine.New(o)), full()}}
	if built {
		k.ring = new([1 << 14]codec.ID)
		for i := range k.ring {
			k.ring[i] = key(int64(i))
		}
	}
	return k
}

func key(n int64) codec.ID { return codec.StringID("request-" + strconv.FormatInt(n, 10)) }

func (t *keyed) settle() {
	o := full()
	o.Timeout = 2 * time.Millisecond
	_, _ = must(t.engine.Register(background, key(-1), o)).Wait(background)
}

// keyedCall is a call and what its answer carries.
type keyedCall struct {
	call call
	id   codec.ID
}

func (t *keyed) begin() keyedCall {
	var id codec.ID
	if t.ring != nil {
		t.turn++
		id = t.ring[t.turn%uint32(len(t.ring))]
	} else {
		id = key(t.last.Add(1))
	}
	c, err := t.engine.Register(background, id, t.call)
	if err != nil {
		panic(err)
	}
	return keyedCall{c, id}
}

func (t *keyed) resolve(c keyedCall) { t.engine.Resolve(c.id, payload) }
func (t *keyed) wait(c keyedCall)    { t.waited.wait(c.call) }

// sometimes is the engine with one timeout of 1 s among 63 of 30 s.
type sometimes struct {
	waited
	short engine.CallOptions[[]byte]
}

func newSometimes(pending int) *sometimes {
	short := full()
	short.Timeout, short.IdleTimeout = time.Second, time.Second
	return &sometimes{*newWaited(pending, full()), short}
}

func (t *sometimes) begin() call {
	if rand.Uint32()%64 == 0 {
		return must(t.engine.Begin(background, t.short))
	}
	return must(t.engine.Begin(background, t.call))
}

// alternating is the engine with timeouts of 50 ms and 30 s in turn.
type alternating struct {
	waited
	short engine.CallOptions[[]byte]
	turn  atomic.Uint32
}

func newAlternating(pending int) *alternating {
	short := full()
	short.Timeout, short.IdleTimeout = 50*time.Millisecond, 50*time.Millisecond
	return &alternating{waited: *newWaited(pending, full()), short: short}
}

func (t *alternating) begin() call {
	if t.turn.Add(1)%2 == 0 {
		return must(t.engine.Begin(background, t.short))
	}
	return must(t.engine.Begin(background, t.call))
}

type naive struct{ *rival.Naive }

func (t *naive) begin() *rival.NaiveCall    { return t.Begin(method, timeout) }
func (t *naive) resolve(c *rival.NaiveCall) { t.Resolve(c.ID, payload) }
func (t *naive) wait(c *rival.NaiveCall)    { _, _ = c.Wait(background) }

type goSDK struct{ *rival.GoSDK }

func (t *goSDK) begin() *rival.SDKCall    { return t.Begin(background, method, timeout) }
func (t *goSDK) resolve(c *rival.SDKCall) { t.Resolve(c.ID, payload) }
func (t *goSDK) wait(c *rival.SDKCall)    { _, _ = t.Wait(c) }

type card struct{ *rival.Card }

func (t *card) begin() *rival.CardCall    { return t.Begin(method, timeout) }
func (t *card) resolve(c *rival.CardCall) { t.Resolve(c.ID, payload) }
func (t *card) wait(c *rival.CardCall)    { _, _ = t.Wait(background, c) }

// The names of the tables.
const (
	engineName      = "engine"
	callbacksName   = "engine, callbacks"
	stringsName     = "engine, string keys"
	readyKeysName   = "engine, ready string keys"
	noDeadlineName  = "engine, no deadline"
	alternatingName = "engine, 50 ms and 30 s"
	bareName        = "engine, bare"
	naiveName       = "naive"
	goSDKName       = "go-sdk's shapes"
	cardName        = "card"
	cardPooledName  = "card, pooled"
	mutexMapName    = "map and mutex"
	afterFuncName   = "AfterFunc"
)

// tables makes each table, for so many calls in flight.
var tables = map[string]func(pending int) workloads{
	engineName:    func(pending int) workloads { return newBed[call](newWaited(pending, full())) },
	callbacksName: func(pending int) workloads { return newBed[call](newNotified(pending)) },
	stringsName:   func(pending int) workloads { return newBed[keyedCall](newKeyed(pending, false)) },
	readyKeysName: func(pending int) workloads { return newBed[keyedCall](newKeyed(pending, true)) },
	noDeadlineName: func(pending int) workloads {
		return newBed[call](newWaited(pending, undated()))
	},
	alternatingName: func(pending int) workloads { return newBed[call](newAlternating(pending)) },
	bareName: func(pending int) workloads {
		return newBed[call](newWaited(pending, engine.CallOptions[[]byte]{Timeout: engine.NoTimeout}))
	},
	naiveName: func(int) workloads { return newBed[*rival.NaiveCall](&naive{rival.NewNaive()}) },
	goSDKName: func(int) workloads { return newBed[*rival.SDKCall](&goSDK{rival.NewGoSDK()}) },
	cardName: func(pending int) workloads {
		return newBed[*rival.CardCall](&card{rival.NewCard(false, pending/8)})
	},
	cardPooledName: func(pending int) workloads {
		return newBed[*rival.CardCall](&card{rival.NewCard(true, pending/8)})
	},
}
