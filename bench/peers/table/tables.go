package table

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	xsync3 "github.com/puzpuzpuz/xsync/v3"
	xsync4 "github.com/puzpuzpuz/xsync/v4"

	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/engine"
)

// engineTable is the engine as a connection uses it. The bound leaves some room,
// so that it never bites.
func engineTable(pending int) kept[engine.Call[[]byte]] {
	ctx := context.Background()
	e, err := engine.New(engine.Options[[]byte]{MaxPending: pending + 1<<12, OnAbandon: func(engine.Abandonment) {}})
	if err != nil {
		panic(err) // these options are good
	}
	o := engine.CallOptions[[]byte]{Method: method, Timeout: timeout, IdleTimeout: timeout}
	return kept[engine.Call[[]byte]]{
		begin: func() engine.Call[[]byte] {
			c, err := e.Begin(ctx, o)
			if err != nil {
				panic(err) // the bound leaves room
			}
			return c
		},
		resolve: func(c engine.Call[[]byte]) { e.Resolve(c.ID(), payload) },
		wait:    func(c engine.Call[[]byte]) { _, _ = c.Wait(ctx) },
	}
}

// mapped is a call in a map.
type mapped struct {
	id    int64
	ended chan []byte
	timer *time.Timer
}

// concurrent is a map that many goroutines may use.
type concurrent struct {
	store func(id int64, c *mapped)
	take  func(id int64) (*mapped, bool)
}

func newSyncMap() concurrent {
	var m sync.Map
	return concurrent{
		store: func(id int64, c *mapped) { m.Store(id, c) },
		take: func(id int64) (*mapped, bool) {
			c, ok := m.LoadAndDelete(id)
			if !ok {
				return nil, false
			}
			return c.(*mapped), true
		},
	}
}

func newXsync3() concurrent {
	m := xsync3.NewMapOf[int64, *mapped]()
	return concurrent{store: m.Store, take: m.LoadAndDelete}
}

func newXsync4() concurrent {
	m := xsync4.NewMap[int64, *mapped]()
	return concurrent{store: m.Store, take: m.LoadAndDelete}
}

// mapTable is a table on a concurrent map.
func mapTable(m concurrent) kept[*mapped] {
	var last atomic.Int64
	return kept[*mapped]{
		begin: func() *mapped {
			c := &mapped{id: last.Add(1), ended: make(chan []byte, 1)}
			m.store(c.id, c)
			c.timer = time.AfterFunc(timeout, func() {
				if c, ok := m.take(c.id); ok {
					c.ended <- nil
				}
			})
			return c
		},
		resolve: func(c *mapped) {
			if c, ok := m.take(c.id); ok {
				c.timer.Stop()
				c.ended <- payload
			}
		},
		wait: func(c *mapped) { <-c.ended },
	}
}

func naiveTable() kept[*rival.NaiveCall] {
	n, ctx := rival.NewNaive(), context.Background()
	return kept[*rival.NaiveCall]{
		begin:   func() *rival.NaiveCall { return n.Begin(method, timeout) },
		resolve: func(c *rival.NaiveCall) { n.Resolve(c.ID, payload) },
		wait:    func(c *rival.NaiveCall) { _, _ = c.Wait(ctx) },
	}
}

func goSDKTable() kept[*rival.SDKCall] {
	g, ctx := rival.NewGoSDK(), context.Background()
	return kept[*rival.SDKCall]{
		begin:   func() *rival.SDKCall { return g.Begin(ctx, method, timeout) },
		resolve: func(c *rival.SDKCall) { g.Resolve(c.ID, payload) },
		wait:    func(c *rival.SDKCall) { _, _ = g.Wait(c) },
	}
}

// contextual is a call under a context with a timeout.
type contextual[K comparable] struct {
	key    K
	ended  chan []byte
	ctx    context.Context
	cancel context.CancelFunc
}

func newContextual[K comparable](key K) *contextual[K] {
	c := &contextual[K]{key: key, ended: make(chan []byte, 1)}
	c.ctx, c.cancel = context.WithTimeout(context.Background(), timeout)
	return c
}

// wait takes the answer or the end of the context.
func (c *contextual[K]) wait() bool {
	defer c.cancel()
	select {
	case <-c.ctx.Done():
		return false
	case <-c.ended:
		return true
	}
}

// mcpGoTable has the shapes of mcp-go's stdio transport: a map by a built string
// under a lock for readers and writers; the reader looks up, sends, deletes.
func mcpGoTable() kept[*contextual[string]] {
	var (
		mu   sync.RWMutex
		m    = map[string]chan []byte{}
		last atomic.Int64
	)
	remove := func(key string) {
		mu.Lock()
		delete(m, key)
		mu.Unlock()
	}
	return kept[*contextual[string]]{
		begin: func() *contextual[string] {
			c := newContextual("int64:" + strconv.FormatInt(last.Add(1), 10))
			mu.Lock()
			m[c.key] = c.ended
			mu.Unlock()
			return c
		},
		resolve: func(c *contextual[string]) {
			mu.RLock()
			ended, ok := m[c.key]
			mu.RUnlock()
			if ok {
				ended <- payload
				remove(c.key)
			}
		},
		wait: func(c *contextual[string]) {
			if !c.wait() {
				remove(c.key)
			}
		},
	}
}

// sourcegraphID is a key of sourcegraph/jsonrpc2.
type sourcegraphID struct {
	Num      uint64
	Str      string
	IsString bool
}

// sourcegraphTable has the shapes of sourcegraph/jsonrpc2: one lock, a map by its
// id, and an entry that stays when the context ends.
func sourcegraphTable() kept[*contextual[sourcegraphID]] {
	var (
		mu   sync.Mutex
		m    = map[sourcegraphID]*contextual[sourcegraphID]{}
		last uint64
	)
	return kept[*contextual[sourcegraphID]]{
		begin: func() *contextual[sourcegraphID] {
			c := newContextual(sourcegraphID{})
			mu.Lock()
			c.key.Num = last
			last++
			m[c.key] = c
			mu.Unlock()
			return c
		},
		resolve: func(c *contextual[sourcegraphID]) {
			mu.Lock()
			c, ok := m[c.key]
			if ok {
				delete(m, c.key)
			}
			mu.Unlock()
			if ok {
				c.ended <- payload
			}
		},
		wait: func(c *contextual[sourcegraphID]) { c.wait() },
	}
}

// natsCall is a request of nats.go.
type natsCall struct {
	token string
	ended chan []byte
}

// natsTable has the shapes of nats.go's requests: one lock, a map by a random
// token, and a timer from a pool that only the wait arms.
func natsTable() kept[natsCall] {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var (
		mu     sync.Mutex
		m      = map[string]chan []byte{}
		timers = sync.Pool{New: func() any { return time.NewTimer(timeout) }}
	)
	return kept[natsCall]{
		begin: func() natsCall {
			var b [8]byte
			for i, n := 0, rand.Uint64(); i < len(b); i, n = i+1, n/62 {
				b[i] = digits[n%62]
			}
			c := natsCall{string(b[:]), make(chan []byte, 1)}
			mu.Lock()
			m[c.token] = c.ended
			mu.Unlock()
			return c
		},
		resolve: func(c natsCall) {
			mu.Lock()
			ended, ok := m[c.token]
			if ok {
				delete(m, c.token)
			}
			mu.Unlock()
			if ok {
				ended <- payload
			}
		},
		wait: func(c natsCall) {
			timer := timers.Get().(*time.Timer)
			timer.Reset(timeout)
			select {
			case <-c.ended:
			case <-timer.C:
			}
			timer.Stop()
			timers.Put(timer)
		},
	}
}
