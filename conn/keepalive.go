package conn

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/engine"
)

// DefaultKeepAliveMethod is the ping of MCP up to 2025-11-25. A peer that does
// not know it answers with an error, which is as good a sign of life.
const DefaultKeepAliveMethod = "ping"

// PeerSilent says that a peer sent no byte for Options.KeepAliveTimeout after a
// ping, so the connection was closed. Pending calls fail with an error that
// unwraps to it.
type PeerSilent struct {
	// Method is the ping that got no answer.
	Method string
	// Silence is the time since the last byte came, or since the connection
	// began; Limit is Options.KeepAliveTimeout.
	Silence, Limit time.Duration
}

// Error names the ping and both durations.
func (e *PeerSilent) Error() string {
	return fmt.Sprintf("conn: peer silent for %v: no byte within %v of %q", e.Silence, e.Limit, e.Method)
}

// Timeout is true, as net.Error has it: time ran out.
func (e *PeerSilent) Timeout() bool { return true }

// keepAlive watches one link. It pings when nothing came for a while and calls
// the link dead when nothing comes after that either. Only silence retires a
// link: a call may time out, or be refused, as often as it likes.
//
//	listening ──nothing for every──▶ pinged ──nothing for limit──▶ dead
//	    ▲───────────any byte────────────┘
type keepAlive struct {
	method       string
	every, limit time.Duration
	clock        engine.Clock
	ping         func()      // sends one ping; must not block
	dead         func(error) // closes the link

	reads atomic.Uint64 // Reads that brought something
	last  atomic.Int64  // when the latest of them did, on clock

	mu      sync.Mutex // protects the fields below
	timer   engine.Timer
	stopped bool
	pinged  bool
	asked   time.Duration // when the ping went out
	heard   uint64        // what reads was then
}

// newKeepAlive is nil when every is not positive: no watch is kept. A limit of
// zero is the same as every.
func newKeepAlive(method string, every, limit time.Duration, clock engine.Clock) *keepAlive {
	if every <= 0 {
		return nil
	}
	if method == "" {
		method = DefaultKeepAliveMethod
	}
	if limit <= 0 {
		limit = every
	}
	return &keepAlive{method: method, every: every, limit: limit, clock: clock}
}

// listen wraps what the connection reads from.
func (k *keepAlive) listen(r io.Reader) io.Reader {
	if k == nil {
		return r
	}
	return &listener{from: r, watch: k}
}

type listener struct {
	from  io.Reader
	watch *keepAlive
}

func (l *listener) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if n > 0 {
		l.watch.last.Store(int64(l.watch.clock.Now()))
		l.watch.reads.Add(1)
	}
	return n, err
}

// start begins the watch; ping and dead run on the clock's timer.
func (k *keepAlive) start(ping func(), dead func(error)) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ping, k.dead = ping, dead
	k.last.Store(int64(k.clock.Now()))
	if !k.stopped {
		k.timer = k.clock.AfterFunc(k.every, k.check)
	}
}

// stop ends the watch. A check that runs at this moment may still ping once.
func (k *keepAlive) stop() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	if k.timer != nil {
		k.timer.Stop()
	}
}

// check is the timer's work: decide under the lock, act outside it.
func (k *keepAlive) check() {
	if act := k.decide(); act != nil {
		act()
	}
}

func (k *keepAlive) decide() (act func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return nil
	}
	reads, now := k.reads.Load(), k.clock.Now()
	silence := now - time.Duration(k.last.Load())
	if k.pinged && reads != k.heard {
		k.pinged = false
	}
	switch {
	case k.pinged && now-k.asked >= k.limit:
		k.stopped = true
		return func() { k.dead(&PeerSilent{Method: k.method, Silence: silence, Limit: k.limit}) }
	case k.pinged:
		k.again(k.limit - (now - k.asked))
		return nil
	case silence >= k.every:
		k.pinged, k.asked, k.heard = true, now, reads
		k.again(k.limit)
		return k.ping
	default:
		k.again(k.every - silence)
		return nil
	}
}

func (k *keepAlive) again(d time.Duration) { k.timer = k.clock.AfterFunc(d, k.check) }
