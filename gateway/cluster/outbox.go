package cluster

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// outbox hands messages to NATS in order, on a goroutine of its own: to publish may wait
// for the network, and who sends must not.
//
// After NATS was away it waits until the other nodes must be back as well: what is
// published before then would be lost, and with it the ways that could have lived on.
type outbox struct {
	nc      *nats.Conn
	settle  time.Duration
	wake    chan struct{} // holds one while there is something to do
	closing chan struct{}
	done    chan struct{}

	reconnects uint64    // as last seen; the goroutine's
	since      time.Time // when that was; the goroutine's

	mu     sync.Mutex // guards the fields below
	queue  []letter
	closed bool
}

// letter is one message for NATS. data belongs to the outbox.
type letter struct {
	pipe           *pipe // whose bytes are counted; nil is nobody's
	subject, reply string
	data           []byte
}

func newOutbox(nc *nats.Conn, settle time.Duration) *outbox {
	o := &outbox{nc: nc, settle: settle, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go o.run()
	return o
}

func (o *outbox) put(l ...letter) {
	o.mu.Lock()
	if !o.closed {
		o.queue = append(o.queue, l...)
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run() {
	defer close(o.done)
	var batch []letter
	for range o.wake {
		o.mu.Lock()
		batch, o.queue = o.queue, batch[:0]
		closed := o.closed
		o.mu.Unlock()
		for i := range batch {
			l := &batch[i]
			o.hold()
			err := o.publish(l)
			if l.pipe != nil {
				l.pipe.queued.Add(-int64(len(l.data)))
				if err != nil {
					l.pipe.end(lost(l.pipe.peer, "NATS does not take messages for it: "+err.Error()), false)
				}
			}
			*l = letter{}
		}
		if closed {
			return
		}
	}
}

// hold waits while NATS is away, and until the others are back.
func (o *outbox) hold() {
	for {
		if n := o.nc.Stats().Reconnects; n != o.reconnects {
			o.reconnects, o.since = n, time.Now()
		}
		wait := o.settle - time.Since(o.since)
		switch {
		case !o.nc.IsConnected():
			wait = reconnectWait
		case o.since.IsZero() || wait <= 0:
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-o.closing:
			timer.Stop()
			return
		}
	}
}

func (o *outbox) publish(l *letter) error {
	if l.reply == "" {
		return o.nc.Publish(l.subject, l.data)
	}
	return o.nc.PublishRequest(l.subject, l.reply, l.data)
}

// close sends what is left and ends the goroutine.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	close(o.closing)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	<-o.done
	_ = o.nc.FlushTimeout(reconnectWait)
}
